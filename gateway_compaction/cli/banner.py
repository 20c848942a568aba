"""Print what ``serve`` starts and what to look out for, before the proxy takes its place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import yaml
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from gateway_compaction.adapters.secrets import hide_password
from gateway_compaction.cli.findings import deployments_in, providers_in
from gateway_compaction.cli.launch import CALLBACK, ProxyConfig, apply_defaults, program_name
from gateway_compaction.core.policy.book import Identity, PolicyBook

LOOPBACK = ("127.0.0.1", "localhost", "::1")
USUAL_PORT = 4000
DEMO_MODEL = "demo"
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of ``serve``, from the command line and the environment."""

    config: Path
    policies: Path | None
    redis_url: str | None
    host: str
    port: int
    workers: int

    @property
    def url(self) -> str:
        """The address at which the proxy is found from this machine."""
        host = EVERYWHERE.get(self.host) or (f"[{self.host}]" if ":" in self.host else self.host)
        return f"http://{host}:{self.port}"


def announce(
    wanted: ServeOptions,
    loaded: ProxyConfig,
    book: PolicyBook,
    key: tuple[str, str] | None,
    open_to_all: bool,
    redis_problem: str = "",
) -> None:
    """Print what is started, and what is likely not to be meant.

    ``key`` is the variable and value of a master key made for this run, ``redis_problem`` why Redis cannot be
    used now.
    """
    from gateway_compaction import __version__

    windows = _find_windows(loaded)
    table = Table.grid(padding=(0, 2))
    for name, value in _banner_lines(
        wanted, loaded, book, windows, _describe_access(loaded, key, open_to_all)
    ):
        table.add_row(f"[bold]{name}[/bold]", escape(value))
    console = Console(highlight=False)
    console.print(Panel(table, title=f"gateway-compaction {__version__}", title_align="left", expand=False))
    if key is not None:
        # Outside the panel and unwrapped, so that it can be copied.
        console.print(f"Key for this run: {key[1]}", soft_wrap=True, markup=False)
    warnings = [*_find_warnings(wanted, loaded, open_to_all, os.environ)]
    if redis_problem:
        warnings.append(
            f"Redis does not serve now: {redis_problem}. Until it does, each process keeps its own summaries."
        )
    for warning in (*warnings, *_models_without_window(loaded, book, windows)):
        console.print(f"[yellow]Warning: {escape(warning)}[/yellow]", soft_wrap=True)


def _banner_lines(
    wanted: ServeOptions,
    loaded: ProxyConfig,
    book: PolicyBook,
    windows: Mapping[str, int | None],
    access: str,
) -> Iterator[tuple[str, str]]:
    on = loaded.has_plugin is not False
    yield "address", f"{wanted.url}/v1"
    if on:
        yield "page", f"{wanted.url}/compaction/ui"
    # Without the address a command asks at the usual port.
    usual = wanted.port == USUAL_PORT
    local = f"http://127.0.0.1:{wanted.port}" == wanted.url
    where = "" if local and usual else f" --port {wanted.port}" if local else f" --url {wanted.url}"
    if on and any(one.name == DEMO_MODEL for one in loaded.deployments):
        yield "demo", f"{program_name()} demo{where}"
    if on and not usual:
        yield "sessions", f"{program_name()} buffers ls{where}"
    yield "config", str(wanted.config)
    yield "models", _describe_models(windows, book if on else None)
    # Without the plugin there is nothing that would read them or write there.
    if on:
        yield "policies", _describe_policies(wanted.policies, book)
        in_process = "in this process, gone when it ends"
        yield "store", hide_password(wanted.redis_url) if wanted.redis_url else in_process
    yield "access", access


def _describe_policies(path: Path | None, book: PolicyBook) -> str:
    source, mode = str(path) if path else "no file", book.resolve(Identity()).mode
    if not book.names:
        return f"{source} ({mode})"
    return f"{source} (by default: {mode}; {len(book.names)} special rule{'s' * (len(book.names) > 1)})"


def _describe_access(loaded: ProxyConfig, key: tuple[str, str] | None, open_to_all: bool) -> str:
    if loaded.custom_auth is not None:
        return f"by custom_auth ({loaded.custom_auth})"
    return "everybody" if open_to_all else "with the key below" if key else "with the master key"


def _find_windows(loaded: ProxyConfig) -> dict[str, int | None]:
    """Return the window of each model group of the config; LiteLLM is asked where the config does not state
    it.
    """
    stated: dict[str, list[int | None]] = {}
    for deployment in loaded.deployments:
        stated.setdefault(deployment.name, []).append(deployment.window)
    windows = {n: min((w for w in found if w), default=None) for n, found in stated.items()}
    if all(None not in found or "*" in n for n, found in stated.items()):
        return windows
    apply_defaults(os.environ)
    # What LiteLLM makes of a config is its own affair: it must not keep the proxy from starting.
    with suppress(Exception), Console(stderr=True).status("Looking up the windows of the models"):
        from gateway_compaction.adapters.litellm.probes import load_config_models

        raw = yaml.safe_load(loaded.path.read_text("utf-8"))
        offered = load_config_models(deployments_in(raw), providers_in(raw))
        windows |= {name: offered.models.facts(name).window for name in windows}
    return windows


def _describe_models(windows: Mapping[str, int | None], book: PolicyBook | None) -> str:
    """Describe each model with its window: the one that its policy states, if it does, else the config's."""

    def told(name: str, window: int | None) -> str:
        stated = book.resolve(Identity(model=name)).context_window if book is not None else None
        if "*" in name:
            # Each model that a pattern stands for has a window of its own.
            return name
        if stated is not None:
            return f"{name} ({stated:,} tokens by the policy)"
        return f"{name} ({f'{window:,} tokens' if window else 'window unknown'})"

    return ", ".join(told(*one) for one in windows.items()) or "none in the config"


def _models_without_window(
    loaded: ProxyConfig, book: PolicyBook, windows: Mapping[str, int | None]
) -> Iterator[str]:
    """Return the models that are never compacted, for nobody knows their window."""
    for name, window in windows.items() if loaded.has_plugin is not False else ():
        stated = book.resolve(Identity(model=name)).context_window
        if window is None and stated is None and "*" not in name:
            yield (
                f"the window of {name} is unknown, so its requests stay untouched until one is refused:"
                f" write model_info.max_input_tokens in {loaded.path}."
            )


def _find_warnings(
    wanted: ServeOptions, loaded: ProxyConfig, open_to_all: bool, environ: Mapping[str, str]
) -> Iterator[str]:
    from gateway_compaction.settings import PREFIX, Settings

    if loaded.has_plugin is False:
        yield f'compaction is off: add callbacks: ["{CALLBACK}"] under litellm_settings in {loaded.path}.'
    if not Settings().enabled:
        yield f"compaction is off for everybody, whatever the policies say: {PREFIX}ENABLED is false."
    if open_to_all and loaded.custom_auth is None and wanted.host not in LOOPBACK:
        yield f"whoever reaches {wanted.host}:{wanted.port} may use every model, without a key."
    if wanted.workers > 1 and not wanted.redis_url:
        yield "each worker keeps its own summaries; give them one Redis with --redis-url."
    if environ.get("REDIS_URL"):
        yield (
            "REDIS_URL is set: LiteLLM coordinates through that Redis, and waits for it when it hangs;"
            " compaction does not read it (GATEWAY_COMPACTION_REDIS_URL is its own)."
        )
