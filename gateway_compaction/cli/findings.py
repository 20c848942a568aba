"""Conclude what ``doctor`` says from what was read; nothing here asks anybody."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from gateway_compaction.cli.launch import (
    CALLBACK,
    FROM_ENVIRONMENT,
    SHORT_KEY,
    ProxyConfig,
    program_name,
)
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.layers import BUILT_IN
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.errors import PolicyError

Result = Literal["ok", "warn", "fail"]
PREFIX = "GATEWAY_COMPACTION_"
OVERRIDES = f"{PREFIX}DEFAULTS__"
# Read by ``buffers``, and by the tests.
ELSEWHERE = ("KEY", "SHARED", "URL")
WATCH = (
    'Look at the log lines "outcome=observed", the header x-compaction-reason and the metrics with'
    ' mode="observe", then write mode: enforce for one team (docs/operating.md)'
)
WIDEN = 'Compare the metrics of the teams that enforce with mode="observe" before you write it under defaults'
MOST_PROBLEMS_TOLD = 10
EVICTING = ("lru", "lfu", "random", "ttl")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; ``remedy`` is empty where there is nothing to do."""

    check: str
    result: Result
    found: str
    remedy: str = ""


def check_callback(config: ProxyConfig) -> Finding:
    """Tell whether the proxy loads the plugin."""
    line = f'litellm_settings.callbacks: ["{CALLBACK}"]'
    if config.has_plugin:
        return Finding("callback", "ok", f"{config.path} loads the plugin")
    if config.has_plugin is None:
        found = f"not in {config.path}; the files that it includes are not read here"
        return Finding("callback", "warn", found, f"See that one of them has {line}")
    return Finding("callback", "fail", f"{config.path} does not load the plugin", f"Add {line}")


def check_doors() -> Finding:
    """Tell which of the proxy's doors are covered: clients of the others get no error and no compaction."""
    from gateway_compaction.adapters.litellm.doors import COVERED, UNCOVERED

    others = ", ".join(dict.fromkeys(UNCOVERED.values()))
    covered = ", ".join(COVERED)
    found = f"compacted are calls of {covered}; untouched pass those of {others}, and threads of assistants"
    remedy = "The metric gateway_compaction_uncovered_requests_total counts the others by door"
    return Finding("doors", "ok", found, remedy)


def check_internals(version: str, missing: Mapping[str, str]) -> Iterator[Finding]:
    """Tell what this LiteLLM does not have that the plugin builds upon, and what is given up for it."""
    for name, without in missing.items():
        remedy = "Use a LiteLLM that README names, or see whether a newer gateway-compaction knows this one"
        yield Finding("litellm", "warn", f"LiteLLM {version} has no {name}. {without}", remedy)
    if not missing:
        yield Finding("litellm", "ok", f"LiteLLM {version} has all that the plugin builds upon")


def find_next_step(
    found: Iterable[Finding], config: Path, policies: Path | None, modes: Collection[str]
) -> str:
    """Say what to do once the findings are read.

    Args:
        modes: the mode by default, and those of all policies.
    """
    serve = f"{program_name()} serve --config {config}"
    if any(one.result == "fail" for one in found):
        return f"mend what fails, then {program_name()} doctor again"
    if policies is None:
        return f"{program_name()} init --config {config} writes a first policy file, in shadow mode"
    if not {"observe", "enforce"} & set(modes):
        return f"{policies} switches everybody off: write mode: observe under defaults to begin"
    if "enforce" not in modes:
        return (
            f"{serve}, then look for some days at what would be done, at /compaction/ui (docs/operating.md)"
        )
    return f"{serve}, and look at what is done at /compaction/ui (docs/operating.md)"


def check_router(config: ProxyConfig) -> Iterator[Finding]:
    """Tell whether LiteLLM's router looks at a request before it was shortened, and so refuses it."""
    if config.checks_windows:
        found = (
            "enable_pre_call_checks refuses requests over the window before they are shortened, where a"
            " guardrail or moderation hook is configured, and in the first two minutes after a start"
        )
        yield Finding("router", "warn", found, "Take it out of router_settings: the plugin fits the request")


def check_master_key(key: str | None, place: str, refused: str | None) -> Finding:
    """Tell whether LiteLLM starts with the key; ``refused`` is its own reason not to."""
    remedy = f"Set {place} to a long random value"
    if refused == "not set":
        found = (
            f"{place} is not set: serve makes one for each run, and needs none with --no-auth (so does make"
            " run); LiteLLM started in another way does not start without it"
        )
        return Finding("master key", "warn", found, remedy)
    if refused is not None:
        return Finding("master key", "fail", f"{place} is {refused}: LiteLLM refuses it", remedy)
    if not key:
        return Finding("master key", "warn", "none, and that is permitted: everybody is served", remedy)
    if len(key) < SHORT_KEY:
        return Finding("master key", "warn", f"{place} is short enough to be guessed", remedy)
    return Finding("master key", "ok", f"set by {place}")


def check_coordination(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Tell whether LiteLLM's own use of Redis is switched on."""
    if environ.get("REDIS_URL"):
        found = "set: LiteLLM coordinates through that Redis, and waits for it when it hangs"
        remedy = f"Unset it unless that is meant; compaction reads {PREFIX}REDIS_URL alone"
        yield Finding("REDIS_URL", "warn", found, remedy)


def check_variables(environ: Mapping[str, str], fields: Iterable[str]) -> Iterator[Finding]:
    """Name the variables that begin like ours and mean nothing: typing errors would pass unseen."""
    known = [name.upper() for name in fields]
    for name in sorted(environ):
        own = name.removeprefix(PREFIX)
        if name.startswith(PREFIX) and not name.startswith(OVERRIDES) and own not in (*known, *ELSEWHERE):
            close = get_close_matches(own, known, 1)
            listed = ", ".join(f"{PREFIX}{one}" for one in known)
            remedy = f"Did you mean {PREFIX}{close[0]}?" if close else f"Known are {listed}"
            yield Finding("environment", "warn", f"{name} means nothing", remedy)


def deployments_in(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of a config's ``model_list``."""
    listed = raw.get("model_list")
    return [d for d in (listed if isinstance(listed, list) else ()) if isinstance(d, Mapping)]


def providers_in(raw: Mapping[str, Any]) -> list[str]:
    """Return the names of the providers that a config adds to LiteLLM's own."""
    settings = raw.get("litellm_settings")
    listed = settings.get("custom_provider_map") if isinstance(settings, Mapping) else None
    return [str(p.get("provider")) for p in listed or () if isinstance(p, Mapping)]


def find_unset_variables(raw: Mapping[str, Any], environ: Mapping[str, str]) -> Iterator[Finding]:
    """Return the variables that the model list reads and that are not set."""
    found: dict[tuple[str, str], None] = {}
    for deployment in deployments_in(raw):
        params = deployment.get("litellm_params")
        for value in params.values() if isinstance(params, Mapping) else ():
            named = isinstance(value, str) and value.startswith(FROM_ENVIRONMENT)
            if named and not environ.get(value.removeprefix(FROM_ENVIRONMENT)):
                found[str(deployment.get("model_name")), value.removeprefix(FROM_ENVIRONMENT)] = None
    for model, variable in found:
        yield Finding(f"model {model}", "warn", f"reads {variable}, which is not set", f"Set {variable}")


def check_window(group: str, known: int | None, policy: Policy | None) -> Finding:
    """Tell in which window the requests of a model group are kept, if in any."""
    stated = policy.context_window if policy else None
    name = f"model {group}"
    if stated is not None and known is not None and stated > known:
        found = f"the policy states {stated:,} tokens, the smallest deployment has {known:,}"
        return Finding(name, "warn", found, "Lower context_window, or correct model_info.max_input_tokens")
    if stated is not None and policy is not None:
        return Finding(name, "ok", f"{stated:,} tokens, by the policy {policy.name}")
    if known is not None:
        return Finding(name, "ok", f"{known:,} tokens")
    if "*" in group:
        return Finding(
            name, "ok", "a pattern: each model has the window of LiteLLM's own table, if it is in it"
        )
    remedy = "Set model_info.max_input_tokens, or context_window in a policy"
    return Finding(
        name,
        "warn",
        "its window is unknown: its requests stay untouched until one is refused as too long",
        remedy,
    )


def check_auto_router(group: str, compacts_itself: bool) -> Iterator[Finding]:
    """Tell whether a router of LiteLLM's refuses what would have fitted after compaction."""
    if compacts_itself:
        found = (
            "LiteLLM's complexity router compacts what nears the window of the tier it chose, and refuses"
            " what it cannot compact (context_compaction, on by default): before it is shortened here where"
            " a guardrail is configured, and in the first two minutes after a start"
        )
        remedy = "Write context_compaction: false in its complexity_router_config"
        yield Finding(f"model {group}", "warn", found, remedy)


def check_summariser_tags(
    model: str, deployments: Iterable[Mapping[str, Any]], filtered: bool
) -> Iterator[Finding]:
    """Tell whether LiteLLM's routing by tags may refuse the summaries of some requests.

    Args:
        model: the summariser's model group.
        deployments: those of the group.
        filtered: the router filters all groups by tags.
    """
    listed = list(deployments)
    own = [(one.get("model_info") or {}).get("enable_tag_filtering") for one in listed]
    on = next((value for value in own if value is not None), filtered)
    tags = [(one.get("litellm_params") or {}).get("tags") or () for one in listed]
    if on and not any("default" in one for one in tags):
        found = (
            "enable_tag_filtering is on, and none of its deployments has the tag default: a summary is routed"
            " by its request's tags, and refused where they have none of them"
        )
        remedy = "Add tags: [default] to the litellm_params of one of them, or the tags of the requests"
        yield Finding(f"summariser {model}", "warn", found, remedy)


def check_learned_windows(windows: Mapping[str, LearnedWindow], now: float) -> Iterator[Finding]:
    """Name the deployments whose refusals have taught a window that is declared larger, or not at all."""
    for deployment, learned in sorted(windows.items()):
        window = learned.window(now)
        if window is None or (learned.declared is not None and learned.declared <= window):
            continue
        declared = "none is declared" if learned.declared is None else f"{learned.declared:,} are declared"
        taught = "its provider told" if learned.told is not None else "its refusals bound"
        found = f"{taught} a window of {window:,} tokens; {declared} (deployment {deployment})"
        remedy = f"Set model_info.max_input_tokens: {window}"
        yield Finding(f"window of {learned.model or deployment}", "warn", found, remedy)


def check_policy_problems(problems: Mapping[str, int]) -> Iterator[Finding]:
    """Name the policies in metadata for which requests were left alone, the most frequent first."""
    for problem, requests in sorted(problems.items(), key=lambda item: -item[1])[:MOST_PROBLEMS_TOLD]:
        found = f"{requests:,} requests were left alone, their policy cannot be used: {problem}"
        remedy = "Correct that block (try it: gateway-compaction policy explain --team-block or --key-block)"
        yield Finding("policies in metadata", "warn", found, remedy)


def check_policy_file(path: Path | None, book: PolicyBook) -> Iterator[Finding]:
    """Tell what policies that can be read come to: who is rewritten, who is watched, who is left alone."""
    mode = book.resolve(Identity()).mode
    if path is None:
        remedy = "" if mode == "enforce" else f"{WATCH}, in a file named by {PREFIX}POLICIES"
        yield Finding("policies", "ok" if mode == "enforce" else "warn", f"no file: {mode}", remedy)
        return
    enforced = any(one.mode == "enforce" for one in book.list_modes())
    remedy = "" if mode == "enforce" else WIDEN if enforced else WATCH
    yield Finding("policies", "ok", ". ".join([f"{path}: by default {mode}", *describe_modes(book)]), remedy)


def describe_modes(book: PolicyBook) -> list[str]:
    """Name the policies of each mode, with those for whom they hold."""
    groups = {
        mode: [e for e in book.list_modes() if e.mode == mode] for mode in ("enforce", "observe", "off")
    }
    return [
        f"{mode}: {'; '.join(f'{one.name} ({one.whom})' for one in entries)}"
        for mode, entries in groups.items()
        if entries
    ]


def describe_default_mode(book: PolicyBook) -> str:
    """Say which mode holds for those whom no policy matches, where nobody wrote it; else nothing."""
    mode = next(one for one in book.explain(Identity()) if one.path == "mode")
    if mode.source != BUILT_IN.label:
        return ""
    return f"no mode under defaults: everybody who matches no other policy is rewritten ({mode.value})"


def check_switch(enabled: bool) -> Iterator[Finding]:
    """Tell whether everything is switched off by the environment."""
    if not enabled:
        found = "compaction is off for everybody, whatever the policies say"
        yield Finding(f"{PREFIX}ENABLED", "warn", found, "Unset it to have the policies in force again")


def describe_policy_errors(error: PolicyError) -> Iterator[Finding]:
    """Return every problem of policies that cannot be used."""
    for one in (error, *error.others):
        yield Finding("policies", "fail", f"{one.source}: {one.path}: {one.problem}", one.remedy)


def find_summarisers(document: Any, overrides: Mapping[str, Any]) -> dict[str, str]:
    """Return the model groups that a policy file and the environment name as summarisers, with the first such
    place.
    """
    raw = document if isinstance(document, Mapping) else {}
    places = [("environment", overrides), ("defaults", raw.get("defaults"))]
    places += [(f"policies[{i}]", entry) for i, entry in enumerate(raw.get("policies") or ())]
    named: dict[str, str] = {}
    for place, section in places:
        summary = section.get("summary") if isinstance(section, Mapping) else None
        if isinstance(summary, Mapping):
            for model in (summary.get("model"), *(summary.get("fallbacks") or ())):
                if isinstance(model, str) and model != "extractive":
                    named.setdefault(model, place)
    return named


def check_server(shown: str, seconds: float, allowed: float, facts: Mapping[str, str]) -> Iterator[Finding]:
    """Tell what is to be known of a Redis server that answered; ``facts`` are those of ``INFO``."""
    version = f", version {facts['redis_version']}" if "redis_version" in facts else ""
    found = f"{shown}{version}: written and read by every script; {seconds * 1000:.1f} ms a read"
    yield Finding("redis", "ok", found)
    if seconds > allowed / 2:
        found = f"a read takes {seconds * 1000:.0f} ms; a request waits at most {allowed * 1000:.0f} ms"
        yield Finding("redis speed", "warn", found, f"Move it closer, or raise {PREFIX}REDIS_TIMEOUT_SECONDS")
    if facts.get("cluster_enabled") == "1":
        remedy = "Put a proxy in front that knows where the slots are, or name a single server"
        yield Finding("redis cluster", "warn", "a cluster: keys on its other nodes are not reached", remedy)
    yield _describe_memory(facts)


def _describe_memory(facts: Mapping[str, str]) -> Finding:
    limit, rule = facts.get("maxmemory"), facts.get("maxmemory_policy", "")
    if limit is None:
        remedy = "Allow INFO for this user, or look at maxmemory and maxmemory-policy on the server"
        return Finding("redis memory", "warn", "the server does not say what it does when it is full", remedy)
    if limit == "0":
        return Finding("redis memory", "ok", "no limit", "Set maxmemory where the machine is shared")
    if rule.startswith("allkeys"):
        found = f"{int(limit):,} bytes, then {rule}: it may evict one key of a session and keep the others"
        remedy = "Set maxmemory-policy to volatile-lru: everything of ours expires, so it has enough to evict"
        return Finding("redis memory", "warn", found, remedy)
    if rule.endswith(EVICTING):
        return Finding("redis memory", "ok", f"{int(limit):,} bytes, then {rule}")
    found = f"{int(limit):,} bytes, then {rule}: no summary is stored once it is full"
    return Finding("redis memory", "warn", found, "Set maxmemory-policy to volatile-lru")


def check_address(url: str) -> Iterator[Finding]:
    """Tell what everybody on the way to a Redis server, or beside it, can read."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return
    if not parts.password:
        remedy = "Give it a user of its own (docs/redis.md), and write redis://user:password@…"
        yield Finding("redis password", "warn", "it lets everybody in who reaches it", remedy)
    if parts.scheme != "rediss" and not _is_this_host(parts.hostname or "localhost"):
        found = "summaries travel to another host in clear"
        yield Finding("redis tls", "warn", found, "Write rediss://, and switch TLS on at the server")


def _is_this_host(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_encryption(keys: Sequence[str], records: Mapping[str, int]) -> Finding:
    """Tell whether stored texts are sealed, and whether those that are can be opened.

    Args:
        keys: names of the keys that are given, the one that seals first.
        records: number of the records looked at by the key that sealed them, empty for those in clear.
    """
    lost = {name: count for name, count in records.items() if name and name not in keys}
    if lost:
        shown = ", ".join(f"{count:,} with key {name}" for name, count in sorted(lost.items()))
        found = f"of the records looked at these cannot be opened and count as absent: {shown}"
        remedy = f"Add the key behind the first one of {PREFIX}ENCRYPTION_KEYS; without it they expire"
        return Finding("encryption", "warn", found, remedy)
    if not keys:
        found = "off: summaries stand in Redis in clear"
        return Finding("encryption", "ok", found, f"{PREFIX}ENCRYPTION_KEYS seals them (docs/security.md)")
    older = f"; also opened with {', '.join(keys[1:])}" if keys[1:] else ""
    plain = records.get("", 0)
    rest = f"; {plain:,} of the records looked at are from before, in clear" if plain else ""
    return Finding("encryption", "ok", f"on: texts are sealed with key {keys[0]}{older}{rest}")
