"""``init``: write a first policy file for an existing LiteLLM config, and say what comes next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console

from gateway_compaction.adapters.secrets import hide_password
from gateway_compaction.cli.findings import PREFIX, deployments_in, providers_in
from gateway_compaction.cli.launch import (
    CALLBACK,
    POLICIES,
    LaunchError,
    apply_defaults,
    program_name,
    read_config,
)
from gateway_compaction.cli.redis_probe import find_redis_problem

POLICY_FILE = "policies.yaml"
REDIS_VARIABLE = f"{PREFIX}REDIS_URL"
# Models of a config that are listed in the file; a comment should not fill it.
MOST_MODELS = 40
EXAMPLE_REDIS = "redis://host:6379/0"
HEAD = """\
# Which conversations are compacted, when and how; written by `gateway-compaction init` for {config}.
# Absent keys inherit: key and user > team > model and tag > environment > defaults > built-in. Every key:
# docs/policies.md. A change is in force within five seconds; before you save one:
# gateway-compaction policy check FILE
version: 1

defaults:
  # Shadow mode: every request goes out as it came. Headers, log, metrics and the page at /compaction/ui tell
  # what would have been done. Then write mode: enforce for one team (below), and in the end here.
  mode: observe
  summary:
    # extractive: telling sentences, without a model. null: the request's own model. Or a model group of the
    # config, best a cheap one: it is asked in shadow mode too.
    model: extractive
  storage:
    ttl: 7d                # how long an unused conversation is remembered
    content: summaries     # full: the messages too, so that the page shows them. none: no text at all
"""
PILOT = """\
# The first team to be compacted. Take the # away from its lines.
#  - name: pilot
#    match: {team: pilot}
#    mode: enforce
"""


@dataclass(frozen=True, slots=True)
class GroupWindow:
    """A model group of a config, and the tokens of its window, None where nobody knows them."""

    name: str
    window: int | None

    @property
    def is_pattern(self) -> bool:
        """Whether it stands for many models, each with a window of its own."""
        return "*" in self.name


@dataclass(frozen=True, slots=True)
class RedisState:
    """The Redis that summaries may be kept in.

    Attributes:
        url: where it is, without its password; None where none was named.
        problem: why it cannot be used, empty where it can.
        other: a Redis that LiteLLM's own config names.
    """

    url: str | None = None
    problem: str = ""
    other: str | None = None


def init(
    config: Annotated[Path, typer.Option(help="LiteLLM's config file.")] = Path("config/litellm.yaml"),
    out: Annotated[
        Path | None, typer.Option(help="The file to write. Default: policies.yaml beside the config.")
    ] = None,
    redis_url: Annotated[
        str | None,
        typer.Option(help="Redis for summaries, asked whether it answers.", envvar=REDIS_VARIABLE),
    ] = None,
) -> None:
    """Write a first policy file for a LiteLLM config: shadow mode, with its models and their windows.

    A file that is there is never overwritten. Nothing else is changed, and no model is asked.
    """
    target = out or config.parent / POLICY_FILE
    try:
        loaded = read_config(config)
        raw = yaml.safe_load(config.read_text("utf-8"))
        if target.exists():
            raise LaunchError(f"{target} is there already and stays as it is; --out names another file.")
        apply_defaults(os.environ)
        with Console(stderr=True).status("Looking up the windows of the models"):
            groups, redis = find_windows(raw), _find_redis(redis_url or None, raw)
        _write_new(target, build_policy_file(config, groups, redis))
    except LaunchError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    missing = [one.name for one in groups if one.window is None and not one.is_pattern]
    models = f"{len(groups)} model{'' if len(groups) == 1 else 's'}"
    unknown = f"no window is known of {len(missing)}" if missing else "the window of each is known"
    typer.echo(f"Wrote {target}: shadow mode, {models}, {unknown if groups else 'none is listed'}.")
    typer.echo(_describe_store(redis))
    for line in describe_next_steps(config, target, raw, loaded.has_plugin):
        typer.echo(line)


def find_windows(raw: Mapping[str, Any]) -> list[GroupWindow]:
    """Return the model groups of a config with their windows, as the running proxy would find them."""
    from gateway_compaction.adapters.litellm.probes import load_config_models

    models = load_config_models(deployments_in(raw), providers_in(raw)).models
    return [GroupWindow(name, models.facts(name).window) for name in models.list_groups()]


def _find_redis(url: str | None, raw: Mapping[str, Any]) -> RedisState:
    """Return whether the Redis that is named answers; where none is, that of LiteLLM's own config."""
    if url is None:
        return RedisState(other=find_other_redis(raw, os.environ))
    return RedisState(hide_password(url), find_redis_problem(url))


def find_other_redis(raw: Mapping[str, Any], environ: Mapping[str, str]) -> str | None:
    """Return the Redis that LiteLLM itself is told of, without a password, or None."""
    settings, router = raw.get("litellm_settings"), raw.get("router_settings")
    cache = settings.get("cache_params") if isinstance(settings, Mapping) else None
    for section, prefix in ((cache, ""), (router, "redis_"), (environ, "REDIS_")):
        if isinstance(section, Mapping):
            url, host, port = (
                section.get(f"{prefix}{name.upper() if prefix == 'REDIS_' else name}")
                for name in ("url", "host", "port")
            )
            if isinstance(url, str) and url.startswith(("redis://", "rediss://")):
                return hide_password(url)
            if isinstance(host, str) and host:
                return f"redis://{host}:{port or 6379}/0"
    return None


def build_policy_file(config: Path, groups: Sequence[GroupWindow], redis: RedisState) -> str:
    """Return the text of a policy file that changes nothing yet, with what was found as comments."""
    parts = [HEAD.format(config=config), "\n".join(_describe_groups(groups))]
    parts += ["\n".join(_describe_redis(redis)), "policies:\n" + PILOT]
    return "\n".join([*parts, *_suggest_windows(groups)])


def describe_next_steps(
    config: Path, target: Path, raw: Mapping[str, Any], has_plugin: bool | None
) -> Iterator[str]:
    """Say which line the config lacks, and which command comes next."""
    if not has_plugin:
        settings = raw.get("litellm_settings")
        named = settings.get("callbacks") if isinstance(settings, Mapping) else None
        others = named if isinstance(named, list) else [named] if named else []
        where = config if has_plugin is False else f"{config}, or in a file that it includes"
        yield f"{config} does not load the plugin yet. Under litellm_settings in {where}:"
        yield f"  callbacks: {json.dumps([*map(str, others), CALLBACK])}"
    # What doctor and serve find by themselves need not be named.
    found = Path(os.environ.get(POLICIES) or config.parent / POLICY_FILE)
    policies = "" if target.absolute() == found.absolute() else f" --policies {target}"
    yield f"Next: {program_name()} doctor --config {config}{policies}"


def _describe_groups(groups: Sequence[GroupWindow]) -> Iterator[str]:
    yield "# The models of the config, and the windows that their requests are kept in:"
    for one in groups[:MOST_MODELS]:
        if one.window is not None:
            told = f"{one.window:,} tokens"
        elif one.is_pattern:
            told = "a pattern: each model has the window of LiteLLM's own table, if it is in it"
        else:
            told = "unknown, see below"
        yield f"#   {_to_comment(one.name)}: {told}"
    if len(groups) > MOST_MODELS:
        yield f"#   and {len(groups) - MOST_MODELS} more: gateway-compaction doctor lists them all"
    if not groups:
        yield "#   none: LiteLLM's database may hold them"


def _describe_redis(redis: RedisState) -> Iterator[str]:
    yield ""
    if redis.url is None:
        yield "# Redis: none is named, so each process keeps its own summaries until it ends. To share them"
        yield f"# between workers and replicas: {REDIS_VARIABLE}={_to_comment(redis.other or EXAMPLE_REDIS)}"
        if redis.other:
            yield "# (the one that LiteLLM itself is told of; its password goes into the variable, not here)"
    elif redis.problem:
        yield f"# Redis: {_to_comment(redis.url)} ({REDIS_VARIABLE}) cannot be used:"
        yield f"# {_to_comment(redis.problem)}"
    else:
        yield f"# Redis: {_to_comment(redis.url)} ({REDIS_VARIABLE}) answers."
    yield ""


def _describe_store(redis: RedisState) -> str:
    """Return where summaries will be kept, for the terminal."""
    if redis.url is None:
        found = f" (LiteLLM itself is told of {redis.other})" if redis.other else ""
        own = "Each process keeps its own summaries"
        return f"Redis: none is named{found}. {own}; {REDIS_VARIABLE} shares them."
    if redis.problem:
        return f"Redis: {redis.url} cannot be used now: {redis.problem}."
    return f"Redis: {redis.url} answers."


def _suggest_windows(groups: Sequence[GroupWindow]) -> Iterator[str]:
    """Return a policy to be filled in for each model whose window nobody knows."""
    for one in groups[:MOST_MODELS]:
        if one.window is None and not one.is_pattern:
            yield "# The window of this model is unknown: write it here, or in the config (model_info:"
            yield "# {max_input_tokens: 32768}), as it was given to the server."
            yield f"#  - name: {json.dumps(f'window of {one.name}')}"
            yield f"#    match: {{model: {json.dumps(one.name)}}}"
            yield "#    context_window: 32768\n"


def _to_comment(text: str) -> str:
    """Return a text that stays in its comment, whatever it holds."""
    return json.dumps(text)[1:-1]


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet.

    Raises:
        LaunchError: it is, or it cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise LaunchError(f"{path} cannot be written ({error.strerror}).") from error
