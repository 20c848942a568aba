"""Show the policy of a session as values, and what another one would have sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway_compaction.admin.schemas import Explanation, Preview, PreviewBody
from gateway_compaction.admin.ui.charts import Strip, make_strip
from gateway_compaction.admin.ui.text import format_percent, format_thousands, shorten_line
from gateway_compaction.archive import CallSnapshot
from gateway_compaction.core.policy.model import Policy

FIRST = (
    "mode",
    "preset",
    "context_window",
    "levels.light.at",
    "levels.medium.at",
    "levels.aggressive.at",
    "levels.medium.target",
    "levels.medium.keep_last",
    "summary.rate",
    "summary.max_tokens",
    "summary.model",
    "summary.strategy",
    "storage.content",
)
NOTHING = {
    "context_window": "of the smallest deployment",
    "summary.model": "the request's own",
    "summary.rate": "not set: max_tokens holds",
}
VALUE_CHARS = 200
DEFAULT_RATE = 0.3


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of the policy, and where it was written."""

    path: str
    value: str
    source: str
    own: bool


@dataclass(frozen=True, slots=True)
class Slider:
    """One value to try."""

    name: str
    label: str
    least: str
    most: str
    step: str
    value: str
    path: str


@dataclass(frozen=True, slots=True)
class PolicyView:
    """The policy of a session; ``problem`` where it cannot be told."""

    first: tuple[Setting, ...] = ()
    others: tuple[Setting, ...] = ()
    matched: tuple[tuple[str, str], ...] = ()
    sliders: tuple[Slider, ...] = ()
    rated: bool = False
    rate: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PreviewView:
    """The call as it would have been sent, in words and as a band."""

    headline: str
    lines: tuple[tuple[str, str], ...]
    now: int
    then: int
    tone: str
    strip: Strip
    change: str


def make_policy_view(explanation: Explanation, policy: Policy) -> PolicyView:
    """Show the policy: rate and thresholds first."""
    settings = {
        value.path: _make_setting(value.path, value.value, value.source) for value in explanation.values
    }
    first = tuple(settings[path] for path in FIRST if path in settings)
    others = tuple(s for path, s in settings.items() if path not in FIRST)
    medium = policy.levels.medium
    sliders = (
        Slider("target", "Target", "0.05", "0.9", "0.05", f"{medium.target:g}", "levels.medium.target"),
        Slider(
            "keep_last",
            "Last messages kept",
            "1",
            str(max(50, medium.keep_last)),
            "1",
            str(medium.keep_last),
            "levels.medium.keep_last",
        ),
    )
    return PolicyView(
        first,
        others,
        tuple((policy.name, policy.path) for policy in explanation.policies if policy.matched),
        sliders,
        policy.summary.rate is not None,
        f"{policy.summary.rate or DEFAULT_RATE:g}",
    )


def _make_setting(path: str, value: Any, source: str) -> Setting:
    # Without ASCII escapes: names are read by people.
    shown = NOTHING.get(path, "none") if value is None else value if isinstance(value, str) else None
    text = json.dumps(value, ensure_ascii=False, default=str) if shown is None else shown
    return Setting(
        path, shorten_line(text, VALUE_CHARS), source, not source.startswith(("built-in", "preset"))
    )


def read_preview_form(form: Mapping[str, str], policy: Policy) -> PreviewBody:
    """Return what the sliders ask for; where they stand as the policy does, nothing.

    Raises:
        ValueError: what was sent is no value of the sliders (pydantic's, too).
    """
    medium = policy.levels.medium
    target, keep = float(form.get("target", medium.target)), int(form.get("keep_last", medium.keep_last))
    rate = float(form.get("rate", DEFAULT_RATE)) if form.get("use_rate") else None
    return PreviewBody(
        target=None if target == medium.target else target,
        keep_last=None if keep == medium.keep_last else keep,
        rate=None if rate == policy.summary.rate else rate,
    )


def make_preview_view(found: Preview, call: CallSnapshot) -> PreviewView:
    """Show the answer to the sliders."""
    roles: Sequence[tuple[str, int, str]] = call.sent
    fates = found.fates if len(found.fates) == len(roles) else tuple(fate for *_, fate in roles)
    total, guess = found.total_expected, _describe_estimate(found)
    saved = found.total_now - total
    headline, tone = _preview_headline(found)
    lines = (
        ("Sent at the last call", f"{format_thousands(found.total_now)} tokens"),
        ("Would have been sent", f"{guess}{format_thousands(total)} tokens"),
        ("Difference", f"{guess}{format_thousands(abs(saved))} tokens {'fewer' if saved >= 0 else 'more'}"),
        ("Covered", f"{found.covers or 0} messages (now {found.covers_now})"),
        ("Kept verbatim", f"{found.kept} messages"),
        ("Summary", _describe_length(found)),
    )
    if not found.compacts:
        headline += " That call was short enough to be sent whole; this is what a compaction would come to."
    return PreviewView(
        headline,
        lines,
        _usage_bar(found.total_now, found.window),
        _usage_bar(total, found.window),
        tone,
        make_strip(
            [(role, tokens, fate) for (role, tokens, _), fate in zip(roles, fates, strict=True)],
            (),
            call.cuts,
        ),
        found.change,
    )


def _preview_headline(found: Preview) -> tuple[str, str]:
    """Say whether the target is reached, and the tone in which it is said."""
    share = found.total_expected / found.window if found.window else 0.0
    used = f"{_describe_estimate(found)}{format_percent(share)}"
    reached = f"The target is reached at {used} of the window"
    if found.covers is None:
        return "Nothing could be covered: too few messages stand before those that are kept.", "warn"
    if found.fits:
        return f"{reached}.", "good"
    if found.total_expected <= found.values["levels.medium.target"] * found.window:
        return f"{reached}, unless the summary turns out longer.", "good"
    return f"The target is missed: {used} of the window would be used.", "warn"


def _describe_estimate(found: Preview) -> str:
    return "" if found.summary_expected == found.summary else "about "


def _describe_length(found: Preview) -> str:
    most = f"at most {format_thousands(found.summary)} tokens"
    if found.summary_expected == found.summary:
        return most
    return f"an estimated {format_thousands(found.summary_expected)} tokens, {most}"


def _usage_bar(tokens: int, window: int) -> int:
    return max(1, min(100, round(tokens / window * 100))) if window else 1
