"""``serve``: start the LiteLLM proxy with the plugin, and say what was started."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from gateway_compaction.cli.launch import (
    CALLBACK,
    MASTER_KEY,
    METRICS_FOLDER,
    PERMIT_NO_KEY,
    SHORT_KEY,
    LaunchError,
    ProxyConfig,
    check_port,
    environment,
    is_true,
    policies_beside,
    read_config,
    without_password,
)
from gateway_compaction.errors import PolicyError

__all__ = ["serve"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}

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


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the command line and the environment ask for."""

    config: Path
    policies: Path | None
    redis_url: str | None
    host: str
    port: int
    workers: int

    @property
    def url(self) -> str:
        """Where a client on this machine finds it."""
        host = EVERYWHERE.get(self.host) or (f"[{self.host}]" if ":" in self.host else self.host)
        return f"http://{host}:{self.port}/v1"


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
    wanted = _Wanted(config, policies or policies_beside(config), redis_url or None, host, port, workers)
    try:
        loaded = read_config(config)
        rules = _rules(wanted.policies)
        _check_settings(wanted.redis_url)
        key, open_to_all = _authentication(loaded, no_auth)
        _refuse_weak_key(loaded)
        check_port(host, port)
    except LaunchError as error:
        Console(stderr=True).print(f"[red]{escape(str(error))}[/red]", soft_wrap=True, highlight=False)
        raise typer.Exit(1) from error
    _announce(wanted, loaded, rules, key, open_to_all)
    env = environment(
        os.environ,
        policies=wanted.policies,
        redis_url=wanted.redis_url,
        key=key,
        no_auth=open_to_all,
        plugin=loaded.has_plugin is not False,
        metrics=_metrics_folder(workers),
    )
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

    from gateway_compaction.adapters.redis_store import connect
    from gateway_compaction.errors import StoreError
    from gateway_compaction.settings import PREFIX, Settings

    try:
        settings = Settings()
        connect(redis_url or settings.redis_url)
    except ValidationError as error:
        fault = error.errors()[0]
        name = f"{PREFIX}{'_'.join(map(str, fault['loc']))}".upper()
        raise LaunchError(f"{name} is {fault['input']!r}: {fault['msg']}") from error
    except StoreError as error:
        raise LaunchError(str(error)) from error


def _rules(path: Path | None) -> str:
    """One line on the policy file.

    Raises:
        LaunchError: it cannot be used.
    """
    from gateway_compaction.core.policy_book import Identity
    from gateway_compaction.policy_files import env_overrides, load_policy_file

    try:
        book = load_policy_file(path, env_overrides(os.environ))
        mode = book.resolve(Identity()).mode
    except PolicyError as error:
        raise LaunchError(f"The policies cannot be used: {error}") from error
    source = str(path) if path else "no file"
    return (
        f"{source} (by default: {mode}; {len(book.names)} special rule{'s' * (len(book.names) > 1)})"
        if book.names
        else f"{source} ({mode})"
    )


def _authentication(loaded: ProxyConfig, no_auth: bool) -> tuple[tuple[str, str] | None, bool]:
    """A master key to set (variable, value) where none is, and whether the proxy is to do without one.

    Raises:
        LaunchError: what is asked for contradicts itself.
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
    """See that LiteLLM starts with the key that is set.

    Raises:
        LaunchError: it does not.
    """
    variable = loaded.key_variable
    key = os.environ.get(variable, "") if variable else loaded.master_key or ""
    # Only a short key can be one that everybody knows; asking imports LiteLLM, which takes seconds.
    if not key.strip() or len(key) >= SHORT_KEY:
        return
    from gateway_compaction.adapters.probes import refused_key

    permitted = loaded.permits_no_key or is_true(os.environ.get(PERMIT_NO_KEY))
    reason = refused_key(key, {}, permitted)
    if reason is not None:
        raise LaunchError(
            f"LiteLLM does not start with this master key: {variable or loaded.path} is {reason}."
            f" Set a long random value, or unset it: a key is then made for this run."
        )


def _metrics_folder(workers: int) -> Path | None:
    if workers < 2 or os.environ.get(METRICS_FOLDER):
        return None
    return Path(tempfile.mkdtemp(prefix="gateway-compaction-metrics-"))


def _announce(
    wanted: _Wanted, loaded: ProxyConfig, rules: str, key: tuple[str, str] | None, open_to_all: bool
) -> None:
    from gateway_compaction import __version__

    table = Table.grid(padding=(0, 2))
    for name, value in (
        ("address", wanted.url),
        ("config", str(wanted.config)),
        ("models", _models(loaded)),
        ("policies", rules),
        (
            "store",
            without_password(wanted.redis_url) if wanted.redis_url else "in this process, gone when it ends",
        ),
        ("access", "everybody" if open_to_all else "with the key below" if key else "with the master key"),
    ):
        table.add_row(f"[bold]{name}[/bold]", escape(value))
    console = Console(highlight=False)
    console.print(Panel(table, title=f"gateway-compaction {__version__}", title_align="left", expand=False))
    if key is not None:
        # Outside the panel and unwrapped, so that it can be copied.
        console.print(f"Key for this run: {key[1]}", soft_wrap=True, markup=False)
    for warning in _warnings(wanted, loaded, open_to_all, os.environ):
        console.print(f"[yellow]Warning: {escape(warning)}[/yellow]", soft_wrap=True)


def _models(loaded: ProxyConfig) -> str:
    names = dict.fromkeys(d.name for d in loaded.deployments)
    return ", ".join(f"{name} ({_window(loaded, name)})" for name in names) or "none in the config"


def _window(loaded: ProxyConfig, name: str) -> str:
    windows = [d.window for d in loaded.deployments if d.name == name]
    known = [window for window in windows if window is not None]
    return (
        f"{min(known):,} tokens"
        if known and len(known) == len(windows)
        else "window as LiteLLM knows it; doctor tells"
    )


def _warnings(
    wanted: _Wanted, loaded: ProxyConfig, open_to_all: bool, environ: Mapping[str, str]
) -> Iterator[str]:
    if loaded.has_plugin is False:
        yield f'compaction is off: add callbacks: ["{CALLBACK}"] under litellm_settings in {loaded.path}.'
    if open_to_all and wanted.host not in LOOPBACK:
        yield f"whoever reaches {wanted.host}:{wanted.port} may use every model, without a key."
    if wanted.workers > 1 and not wanted.redis_url:
        yield "each worker keeps its own summaries; give them one Redis with --redis-url."
    if environ.get("REDIS_URL"):
        yield (
            "REDIS_URL is set: LiteLLM coordinates through that Redis, and waits for it when it hangs;"
            " compaction does not read it (GATEWAY_COMPACTION_REDIS_URL is its own)."
        )
