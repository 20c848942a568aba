"""Work out what the proxy needs to start, before it does: its config, its environment, its port."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gateway_compaction.adapters.secrets import describe_yaml_problem

CALLBACK = "gateway_compaction.hook.handler"
STARTUP_HOOK = "gateway_compaction.hook:startup"
STARTUP_HOOKS = "LITELLM_WORKER_STARTUP_HOOKS"
POLICIES = "GATEWAY_COMPACTION_POLICIES"
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
PROGRAM = "gateway-compaction"
MASTER_KEY = "LITELLM_MASTER_KEY"
PERMIT_NO_KEY = "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"
FROM_ENVIRONMENT = "os.environ/"
SHORT_KEY = 20
DEFAULTS = {
    # LiteLLM would fetch these tables at every start; the copies it ships serve as well and need no network.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    # LiteLLM asks for feedback at every start, and pushes what was said before off the screen.
    "LITELLM_DONT_SHOW_FEEDBACK_BOX": "true",
    # A worker imports LiteLLM for longer than uvicorn's five seconds, and would be killed for it.
    "TIMEOUT_WORKER_HEALTHCHECK": "180",
}


class LaunchError(Exception):
    """The proxy cannot be started; the text says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A model that the config offers; ``window`` is None where LiteLLM's own table decides."""

    name: str
    window: int | None


@dataclass(frozen=True, slots=True)
class ProxyConfig:
    """The parts of LiteLLM's config that decide how it is started.

    Attributes:
        master_key: as written; ``os.environ/NAME`` names a variable.
        has_plugin: whether the callback is in it; None where it includes other files, which are not read.
        permits_no_key: whether the config itself says that no master key is meant.
        checks_windows: whether the router itself refuses what is over a window.
        filters_tags: whether the router chooses deployments by the tags of a request.
        custom_auth: the function of the config that lets callers in, where it names one.
    """

    path: Path
    deployments: tuple[Deployment, ...] = ()
    master_key: str | None = None
    has_plugin: bool | None = False
    permits_no_key: bool = False
    has_database: bool = False
    checks_windows: bool = False
    filters_tags: bool = False
    custom_auth: str | None = None

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the master key, or None where the config holds it itself."""
        if self.master_key is None:
            return MASTER_KEY
        named = self.master_key.startswith(FROM_ENVIRONMENT)
        return self.master_key.removeprefix(FROM_ENVIRONMENT) if named else None


def read_config(path: Path) -> ProxyConfig:
    """Read LiteLLM's config file.

    Raises:
        LaunchError: there is none, or it is not a YAML mapping.
    """
    try:
        raw = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise LaunchError(
            f"The config {path} cannot be read ({error.strerror}); --config names LiteLLM's config file."
        ) from error
    except UnicodeDecodeError as error:
        raise LaunchError(f"The config {path} is not UTF-8 at byte {error.start}.") from error
    except yaml.YAMLError as error:
        # Its own text shows the lines around the fault, and they may hold keys.
        raise LaunchError(f"The config {path} is not YAML: {_describe_yaml_error(error)}.") from None
    if not isinstance(raw, dict):
        raise LaunchError(f"The config {path} is empty or not a mapping; LiteLLM expects model_list in it.")
    general = _section(raw, "general_settings")
    named = _section(raw, "litellm_settings").get("callbacks") or ()
    callbacks = named if isinstance(named, list) else [named]
    key, custom_auth = general.get("master_key"), general.get("custom_auth")
    return ProxyConfig(
        path=path,
        deployments=tuple(_read_deployments(raw.get("model_list"))),
        master_key=str(key) if key else None,
        has_plugin=True if CALLBACK in callbacks else None if raw.get("include") else False,
        permits_no_key=general.get("dangerously_permit_weak_or_unset_master_key") is True,
        has_database=bool(general.get("database_url")),
        checks_windows=_section(raw, "router_settings").get("enable_pre_call_checks") is True,
        filters_tags=_section(raw, "router_settings").get("enable_tag_filtering") is True,
        custom_auth=str(custom_auth) if custom_auth else None,
    )


def _describe_yaml_error(error: yaml.YAMLError) -> str:
    if not isinstance(error, yaml.MarkedYAMLError):
        return "it holds a character that YAML does not allow"
    mark = error.problem_mark or error.context_mark
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    return where + describe_yaml_problem(" ".join(filter(None, (error.context, error.problem))))


def apply_defaults(env: MutableMapping[str, str]) -> None:
    """Set the defaults for LiteLLM where ``env`` says nothing; in this process before it imports LiteLLM."""
    for name, value in DEFAULTS.items():
        env.setdefault(name, value)


@dataclass(frozen=True, slots=True)
class Launch:
    """Choices for the start of a proxy that its environment carries.

    Attributes:
        key: the variable and value of a master key made for this run.
        no_auth: whether nobody is to be asked for a key.
        plugin: False leaves our own start-up hook out, for a config that does not load the callback.
        metrics: the folder through which several workers add up their metrics; the environment comes first.
    """

    policies: Path | None = None
    redis_url: str | None = None
    key: tuple[str, str] | None = None
    no_auth: bool = False
    plugin: bool = True
    metrics: Path | None = None


def proxy_environment(base: Mapping[str, str], launch: Launch) -> dict[str, str]:
    """Return the proxy's environment: ``base``, defaults where it says nothing, and what was chosen."""
    env = {**DEFAULTS, **base}
    if launch.plugin:
        hooks = [hook for hook in map(str.strip, env.get(STARTUP_HOOKS, "").split(",")) if hook]
        env[STARTUP_HOOKS] = ",".join(dict.fromkeys([*hooks, STARTUP_HOOK]))
    if launch.policies is not None:
        # Not resolved: a symbolic link may point elsewhere tomorrow.
        env[POLICIES] = str(launch.policies.absolute())
    if launch.redis_url is not None:
        env["GATEWAY_COMPACTION_REDIS_URL"] = launch.redis_url
    if launch.key is not None:
        env[launch.key[0]] = launch.key[1]
    if launch.metrics is not None:
        env.setdefault(METRICS_FOLDER, str(launch.metrics))
    if launch.no_auth:
        env[PERMIT_NO_KEY] = "true"
    return env


def find_policies_beside(config: Path) -> Path | None:
    """Return the policy file that belongs to a config where none is named, if it is there."""
    found = config.parent / "policies.yaml"
    return found if found.is_file() else None


def check_port(host: str, port: int) -> None:
    """Check that the address can be listened on.

    LiteLLM itself silently takes a random port where 4000 is in use.

    Raises:
        LaunchError: it cannot.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found[:1]:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LaunchError(
            f"Cannot listen on {host}:{port} ({reason}); choose another address with --host and --port,"
            f" or with make run HOST=… PORT=…"
        ) from error


def program_name() -> str:
    """Return the words by which this program was started, and can be started again in the same folder.

    Where it is not on the PATH, as in a checkout whose environment is not active, its path is among them.
    """
    started = Path(sys.argv[0])
    if started.name != PROGRAM:
        return PROGRAM
    found = shutil.which(PROGRAM)
    if found is not None and os.path.realpath(found) == os.path.realpath(started):
        return PROGRAM
    whole = started.absolute()
    # Without a slash a shell would look for it on the PATH.
    inside = whole.is_relative_to(Path.cwd()) and whole.parent != Path.cwd()
    return str(whole.relative_to(Path.cwd())) if inside else str(whole)


def is_true(value: str | None) -> bool:
    """Tell whether LiteLLM takes an environment variable's value for yes."""
    return (value or "").strip().lower() == "true"


def _section(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = raw.get(name)
    return section if isinstance(section, Mapping) else {}


def _read_deployments(entries: Any) -> Iterator[Deployment]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and entry.get("model_name"):
            window = _section(entry, "model_info").get("max_input_tokens")
            yield Deployment(str(entry["model_name"]), window if isinstance(window, int) else None)
