"""``serve``: start the LiteLLM proxy with the plugin, and say what was started."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from gateway_compaction.cli.banner import ServeOptions, announce
from gateway_compaction.cli.launch import (
    MASTER_KEY,
    METRICS_FOLDER,
    PERMIT_NO_KEY,
    SHORT_KEY,
    Launch,
    LaunchError,
    ProxyConfig,
    apply_defaults,
    check_port,
    find_policies_beside,
    is_true,
    proxy_environment,
    read_config,
)
from gateway_compaction.cli.redis_probe import find_redis_problem
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.errors import PolicyError

ConfigOption = Annotated[Path, typer.Option(help="LiteLLM's config file.")]
PoliciesOption = Annotated[
    Path | None,
    typer.Option(
        help="The policy file. Default: policies.yaml beside the config; without one, requests are only"
        " observed.",
        envvar="GATEWAY_COMPACTION_POLICIES",
    ),
]
RedisOption = Annotated[
    str | None,
    typer.Option(
        help="Redis for summaries, shared by all replicas; without one, each process keeps its own.",
        envvar="GATEWAY_COMPACTION_REDIS_URL",
    ),
]
HostOption = Annotated[str, typer.Option(help="The address to listen on.")]
PortOption = Annotated[int, typer.Option(help="The port to listen on.", envvar="PORT")]
WorkersOption = Annotated[int, typer.Option(help="Worker processes.", min=1)]
NoAuthOption = Annotated[bool, typer.Option("--no-auth", help="Serve everybody, with any key or none.")]


def serve(
    config: ConfigOption = Path("config/litellm.yaml"),
    policies: PoliciesOption = None,
    redis_url: RedisOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 4000,
    workers: WorkersOption = 1,
    no_auth: NoAuthOption = False,
) -> None:
    """Start the gateway: the LiteLLM proxy with compaction.

    Where neither the config nor LITELLM_MASTER_KEY sets a master key, one is made for this run and printed.
    """
    wanted = ServeOptions(
        config, policies or find_policies_beside(config), redis_url or None, host, port, workers
    )
    try:
        loaded = read_config(config)
        book = _load_policies(wanted.policies)
        _check_settings(wanted.redis_url)
        key, open_to_all = _choose_authentication(loaded, no_auth)
        _refuse_weak_key(loaded)
        check_port(host, port)
    except LaunchError as error:
        Console(stderr=True).print(f"[red]{escape(str(error))}[/red]", soft_wrap=True, highlight=False)
        raise typer.Exit(1) from error
    announce(wanted, loaded, book, key, open_to_all, find_redis_problem(wanted.redis_url))
    launch = Launch(
        policies=wanted.policies,
        redis_url=wanted.redis_url,
        key=key,
        no_auth=open_to_all,
        plugin=loaded.has_plugin is not False,
        metrics=_make_metrics_folder(workers),
    )
    env = proxy_environment(os.environ, launch)
    command = [sys.executable, "-P", "-m", "litellm.proxy.proxy_cli", "--config", str(config)]
    command += ["--host", host, "--port", str(port), "--num_workers", str(workers)]
    sys.stdout.flush()
    # The proxy takes this process's place, so that signals and the exit status are its own.
    os.execve(sys.executable, command, env)


def _check_settings(redis_url: str | None) -> None:
    """Refuse variables and a Redis URL that would only fail once the proxy is loading.

    Raises:
        LaunchError: one of them cannot be used.
    """
    from pydantic import ValidationError

    from gateway_compaction.adapters.redis.connection import connect
    from gateway_compaction.errors import StoreError
    from gateway_compaction.runtime import open_vault
    from gateway_compaction.settings import PREFIX, Settings

    try:
        settings = Settings()
        if url := redis_url or settings.redis_url:
            connect(url)
        open_vault(settings)
    except ValidationError as error:
        fault = error.errors()[0]
        name = f"{PREFIX}{'_'.join(map(str, fault['loc']))}".upper()
        raise LaunchError(f"{name} cannot be used: {fault['msg']}") from None
    except StoreError as error:
        raise LaunchError(str(error)) from error


def _load_policies(path: Path | None) -> PolicyBook:
    """Load the policies that the proxy will go by.

    Raises:
        LaunchError: they cannot be used; every problem is told, so that one start shows all of them.
    """
    from gateway_compaction.adapters.policy_file import load_policy_file, read_env_overrides

    try:
        return load_policy_file(path, read_env_overrides(os.environ))
    except PolicyError as error:
        problems = "\n".join(map(str, (error, *error.others)))
        raise LaunchError(f"The policies cannot be used: {problems}") from error


def _choose_authentication(loaded: ProxyConfig, no_auth: bool) -> tuple[tuple[str, str] | None, bool]:
    """Return a master key to set (variable, value) where none is, and whether the proxy is to do without one.

    Raises:
        LaunchError: the options contradict each other.
    """
    variable = loaded.key_variable
    is_set = variable is None or bool(os.environ.get(variable, "").strip())
    if no_auth and is_set:
        raise LaunchError(f"--no-auth, but {variable or loaded.path} sets a master key; drop one of the two.")
    if no_auth or is_set:
        return None, no_auth
    if loaded.permits_no_key or is_true(os.environ.get(PERMIT_NO_KEY)):
        return None, True
    if loaded.has_database or os.environ.get("DATABASE_URL"):
        raise LaunchError(
            f"Set {MASTER_KEY}: LiteLLM encrypts what it keeps in the database with it, so it has to stay."
        )
    return (variable or MASTER_KEY, f"sk-{secrets.token_urlsafe(32)}"), False


def _refuse_weak_key(loaded: ProxyConfig) -> None:
    """Check that LiteLLM starts with the key that is set.

    Raises:
        LaunchError: it does not.
    """
    variable = loaded.key_variable
    key = os.environ.get(variable, "") if variable else loaded.master_key or ""
    # Only a short key can be one that everybody knows; asking imports LiteLLM, which takes seconds.
    if not key.strip() or len(key) >= SHORT_KEY:
        return
    apply_defaults(os.environ)
    from gateway_compaction.adapters.litellm.probes import find_master_key_fault

    permitted = loaded.permits_no_key or is_true(os.environ.get(PERMIT_NO_KEY))
    reason = find_master_key_fault(key, {}, permitted)
    if reason is not None:
        raise LaunchError(
            f"LiteLLM does not start with this master key: {variable or loaded.path} is {reason}."
            f" Set a long random value, or unset it: a key is then made for this run."
        )


def _make_metrics_folder(workers: int) -> Path | None:
    if workers < 2 or os.environ.get(METRICS_FOLDER):
        return None
    return Path(tempfile.mkdtemp(prefix="gateway-compaction-metrics-"))
