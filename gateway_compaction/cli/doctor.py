"""``doctor``: tell what will work and what will not, before the proxy is started."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gateway_compaction.adapters.policy_file import load_policy_file, read_env_overrides
from gateway_compaction.adapters.secrets import hide_password
from gateway_compaction.cli import findings
from gateway_compaction.cli.findings import Finding
from gateway_compaction.cli.launch import (
    PERMIT_NO_KEY,
    LaunchError,
    ProxyConfig,
    apply_defaults,
    find_policies_beside,
    is_true,
    read_config,
)
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.errors import PolicyError, StoreError

REDIS_REMEDY = "Write redis://host:6379/0, or rediss:// for TLS; percent-encode the password"
ENCRYPTION_REMEDY = "See GATEWAY_COMPACTION_ENCRYPTION_KEYS and _KEY_FILE in docs/security.md"
COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}
# For each encoding that is counted with, a model that it counts for.
ENCODINGS = {"o200k_base": "gpt-4o", "cl100k_base": "gpt-4"}


def doctor(
    config: Annotated[Path, typer.Option(help="LiteLLM's config file.")] = Path("config/litellm.yaml"),
    policies: Annotated[
        Path | None,
        typer.Option(
            help="The policy file. Default: policies.yaml beside the config.",
            envvar="GATEWAY_COMPACTION_POLICIES",
        ),
    ] = None,
    redis_url: Annotated[
        str | None,
        typer.Option(
            help="Redis for summaries; without one, each process keeps its own.",
            envvar="GATEWAY_COMPACTION_REDIS_URL",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Check Redis, the policies, the models and their windows; exit 1 if anything will not work.

    Nothing is started and no model is asked.
    """
    path = policies or find_policies_beside(config)
    # As `serve` does: the tables that LiteLLM ships, and no network.
    apply_defaults(os.environ)
    with _tell_progress() as tell:
        tell("Reading the config, which loads LiteLLM")
        found = [*_check_config(config), *_check_environment()]
        tell("Asking Redis")
        found += asyncio.run(_check_store(redis_url or None))
        tell("Looking up the policies, the models and their windows")
        found += _check_policies_and_models(path, config)
        tell("Loading the encodings")
        found += _check_encodings()
        following = findings.find_next_step(found, config, path, _list_modes(path))
    if as_json:
        sound = all(one.result != "fail" for one in found)
        told = {"ok": sound, "findings": [asdict(one) for one in found], "next": following}
        typer.echo(json.dumps(told, indent=1))
    else:
        _print_findings(found)
        typer.echo(f"Next: {following}.")
    raise typer.Exit(int(any(one.result == "fail" for one in found)))


@contextmanager
def _tell_progress() -> Iterator[Callable[[str], None]]:
    """Give a function that says on stderr what is done now: some steps take seconds, on any terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda step: typer.echo(f"{step} …", err=True)
        return
    with console.status("Looking") as status:
        yield lambda step: status.update(f"{step} …")


def _check_config(path: Path) -> Iterator[Finding]:
    try:
        config = read_config(path)
    except LaunchError as error:
        yield Finding("config", "fail", str(error), "Name LiteLLM's config file with --config")
        return
    yield Finding("config", "ok", str(path))
    yield findings.check_callback(config)
    yield findings.check_doors()
    yield from _check_litellm()
    yield from findings.check_router(config)
    yield _check_master_key(config)


def _check_litellm() -> Iterator[Finding]:
    from importlib.metadata import version

    # What takes the parts: each notes those that are missing when it is imported.
    from gateway_compaction.adapters.litellm import internals, models, probes  # noqa: F401

    yield from findings.check_internals(version("litellm"), internals.MISSING)


def _check_master_key(config: ProxyConfig) -> Finding:
    from gateway_compaction.adapters.litellm.probes import find_master_key_fault

    variable = config.key_variable
    key = os.environ.get(variable) if variable else config.master_key
    permitted = config.permits_no_key or is_true(os.environ.get(PERMIT_NO_KEY))
    return findings.check_master_key(
        key, variable or f"{config.path}", find_master_key_fault(key, {}, permitted)
    )


def _check_environment() -> Iterator[Finding]:
    from pydantic import ValidationError

    from gateway_compaction.settings import PREFIX, Settings

    yield from findings.check_coordination(os.environ)
    yield from findings.check_variables(os.environ, Settings.model_fields)
    try:
        yield from findings.check_switch(Settings().enabled)
    except ValidationError as error:
        for problem in error.errors():
            found = f"{PREFIX}{str(problem['loc'][0]).upper()}: {problem['msg']}"
            yield Finding("environment", "fail", found, "docs/configuration.md says what it takes")


async def _check_store(url: str | None) -> list[Finding]:
    from gateway_compaction.adapters.redis.connection import connect
    from gateway_compaction.adapters.redis.store import RedisStore
    from gateway_compaction.adapters.vault import Vault
    from gateway_compaction.runtime import open_vault
    from gateway_compaction.settings import Settings

    try:
        vault = open_vault(Settings())
    except StoreError as error:
        return [Finding("encryption", "fail", str(error), ENCRYPTION_REMEDY)]
    except ValueError:
        # Told with the environment's other variables.
        vault = Vault()
    try:
        store = RedisStore(connect(url, vault), timeout_seconds=1.0)
    except StoreError as error:
        return [Finding("redis", "fail", str(error), REDIS_REMEDY)]
    try:
        return [one async for one in _ask_store(store, url)]
    except StoreError as error:
        shown = hide_password(url) if url else "in the process"
        remedy = "See that it runs, can be reached from here, and lets this user write and run scripts"
        return [Finding("redis", "fail", f"{shown}: {error}", remedy)]
    finally:
        with suppress(StoreError):
            await store.aclose()


async def _ask_store(store: Any, url: str | None) -> AsyncIterator[Finding]:
    from gateway_compaction.adapters.redis.probe import (
        count_sealing_keys,
        fetch_server_facts,
        measure_round_trip,
    )
    from gateway_compaction.settings import Settings

    await store.ping()
    seconds = await measure_round_trip(store)
    if url is None:
        remedy = "Set GATEWAY_COMPACTION_REDIS_URL to share them between workers and to keep them"
        yield Finding("redis", "ok", "none: each process keeps its own summaries until it ends", remedy)
        return
    allowed = Settings.model_fields["redis_timeout_seconds"].default
    with suppress(ValueError):
        allowed = Settings().redis_timeout_seconds
    facts = await fetch_server_facts(store.connection)
    for one in findings.check_server(hide_password(url), seconds, allowed, facts):
        yield one
    for one in findings.check_address(url):
        yield one
    yield findings.check_encryption(
        store.connection.vault.key_names, await count_sealing_keys(store.connection)
    )
    for one in findings.check_learned_windows(await store.windows(), time.time()):
        yield one
    for one in findings.check_policy_problems(await store.policy_problems()):
        yield one


def _check_policies_and_models(path: Path | None, config: Path) -> Iterator[Finding]:
    book: PolicyBook | None = None
    overrides: dict[str, Any] = {}
    try:
        overrides = read_env_overrides(os.environ)
        book = load_policy_file(path, overrides)
    except PolicyError as error:
        yield from findings.describe_policy_errors(error)
    else:
        yield from findings.check_policy_file(path, book)
    with suppress(LaunchError):
        filtered = read_config(config).filters_tags
        document = yaml.safe_load(path.read_text("utf-8")) if path is not None and book else {}
        named = findings.find_summarisers(document, overrides)
        raw = yaml.safe_load(config.read_text("utf-8"))
        yield from _check_models(raw, book, named)
        for model in named:
            of_it = (one for one in findings.deployments_in(raw) if one.get("model_name") == model)
            yield from findings.check_summariser_tags(model, of_it, filtered)


def _list_modes(path: Path | None) -> set[str]:
    """Return the mode by default and those of all policies; none where they cannot be used."""
    try:
        book = load_policy_file(path, read_env_overrides(os.environ))
    except PolicyError:
        return set()
    return {book.resolve(Identity()).mode, *(one.mode for one in book.list_modes())}


def _check_models(
    raw: Mapping[str, Any], book: PolicyBook | None, named: Mapping[str, str]
) -> Iterator[Finding]:
    from gateway_compaction.adapters.litellm.auto_routers import compacts_itself
    from gateway_compaction.adapters.litellm.probes import load_config_models

    deployments = findings.deployments_in(raw)
    offered = load_config_models(deployments, findings.providers_in(raw))
    for position, reason in offered.broken.items():
        name = deployments[position].get("model_name") or f"model_list[{position}]"
        yield Finding(f"model {name}", "fail", reason, "Correct its entry in model_list")
    yield from findings.find_unset_variables(raw, os.environ)
    if not deployments:
        yield Finding("models", "warn", "none in the config", "Add model_list, unless a database holds them")
    for group in offered.models.list_groups():
        policy = book.resolve(Identity(model=group)) if book else None
        yield findings.check_window(group, offered.models.facts(group).window, policy)
    for deployment in deployments:
        yield from findings.check_auto_router(str(deployment.get("model_name")), compacts_itself(deployment))
    for model, place in named.items() if deployments else ():
        if not offered.offers(model):
            found = f"named by {place}, but not in the config: no summary would be made"
            yield Finding(f"summariser {model}", "fail", found, "Add it to model_list, or name another")
        elif offered.models.facts(model).window is None:
            found = "its window is unknown; a small one is assumed, and long histories are read in parts"
            yield Finding(f"summariser {model}", "warn", found, "Set model_info.max_input_tokens")


def _check_encodings() -> Iterator[Finding]:
    from gateway_compaction.core.tokens.counter import TokenCounter
    from gateway_compaction.runtime import use_bundled_encodings

    use_bundled_encodings()
    with _forbid_downloads():
        for encoding, model in ENCODINGS.items():
            try:
                TokenCounter().raw_tokens("doctor", model)
            except (OSError, ValueError) as error:
                found = f"cannot be loaded without a network ({type(error).__name__})"
                remedy = "Unset TIKTOKEN_CACHE_DIR, or point it at a folder that holds the file"
                yield Finding(f"encoding {encoding}", "fail", found, remedy)
            else:
                yield Finding(f"encoding {encoding}", "ok", "its file is on this machine")


@contextmanager
def _forbid_downloads() -> Iterator[None]:
    # The tokeniser would fetch what it misses; a proxy that nobody listens at keeps it from that.
    before = dict(os.environ)
    os.environ |= {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "NO_PROXY": ""}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before


def _print_findings(found: Sequence[Finding]) -> None:
    table = Table(title="gateway-compaction doctor", title_justify="left")
    table.add_column("check", overflow="fold")
    table.add_column("result", no_wrap=True)
    table.add_column("found → what to do", overflow="fold")
    for one in found:
        result = f"[{COLOURS[one.result]}]{one.result}[/]"
        remedy = f"\n→ {one.remedy}" if one.remedy else ""
        table.add_row(escape(one.check), result, escape(f"{one.found}{remedy}"))
    Console().print(table)
