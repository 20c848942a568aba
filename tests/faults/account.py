"""The accountant: compares what clients sent, what every upstream call held, and what Redis has.

It knows none of the product's own words. A summary is recognised by what the laboratory's summariser writes,
which names the messages that it was shown.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.faults.talks import TAG, find_tags, marks_in, read_runs
from tests.lab import Answer, Seen, violations

__all__ = ["REFUSALS", "Account", "Asked", "Call", "check_sent", "check_stored", "p95"]

SUMMARY = re.compile(r"SUMMARY \d+: covered ([^.]*)\.")
SESSION = re.compile(r"gwc:\{([0-9a-f]+\.[0-9a-f]+)\}")
MOST_SHOWN = 8
# Another call of the same kept conversation is being answered: the client sends this one again.
REFUSALS = frozenset({409})


@dataclass(slots=True)
class Call:
    """One call of a client.

    Attributes:
        tag: of its last message.
        messages: the whole conversation, as the client has it.
        excuse: why it may fail, where it may: the client left, its proxy was killed, a guardrail blocked it.
        late: seconds that the same call took without the plugin, where it was made too.
    """

    tag: str
    messages: Sequence[Mapping[str, Any]]
    door: str
    proxy: str
    answer: Answer | None = None
    error: str = ""
    excuse: str = ""
    plain_seconds: float | None = None
    plain_failed: bool = False

    @property
    def is_answered(self) -> bool:
        """Whether the client got its answer."""
        return self.answer is not None and self.answer.status == 200


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to the summariser: ``good`` where its answer was a usable summary, ``at`` in seconds."""

    text: str
    good: bool
    by: str
    at: float = 0.0


@dataclass(slots=True)
class Account:
    """What came of one fault; ``problems`` is empty where nothing was lost, doubled, foreign or failed."""

    calls: int = 0
    failed: int = 0
    refused: int = 0
    plain_failed: int = 0
    summaries: int = 0
    lost: int = 0
    wrong: int = 0
    used: int = 0
    crashed: int = 0
    added_p95: float | None = None
    back_after: float | None = None
    problems: list[str] = field(default_factory=list)
    repeated: list[list[Asked]] = field(default_factory=list)

    def note(self, problem: str) -> None:
        """Add a problem."""
        self.problems.append(problem)

    def tell_repeated(self) -> list[str]:
        """Who asked for a summary that was made twice, and when after the first time."""
        return [
            ", ".join(
                f"{one.by} {'' if one.good else 'in vain '}{one.at - times[0].at:.1f} s" for one in times
            )
            for times in self.repeated[:MOST_SHOWN]
        ]

    @classmethod
    def draw_up(
        cls,
        calls: Sequence[Call],
        seen: Iterable[Seen],
        failing: Mapping[str, bool],
        asked: Sequence[Asked],
        stored: Mapping[str, Any],
        windows: Mapping[str, int],
        refusals: frozenset[int] = REFUSALS,
    ) -> Account:
        """Compare everything.

        Args:
            calls: of all clients.
            seen: what the upstream received, but for what the summariser and the plain proxy asked.
            failing: by the tag of a call, whether its last answer by the upstream was a failure.
            asked: the questions to the summariser.
            stored: what Redis has.
            windows: of the upstream's models.
            refusals: statuses with which the gateway may refuse calls of conversations that it keeps.
        """
        account = cls(calls=len(calls))
        by_tag = defaultdict[str, list[Seen]](list)
        for one in seen:
            if tags := TAG.findall(_last_text(one)):
                by_tag["{}-{}{}".format(*tags[-1])].append(one)
        for call in calls:
            account._judge(call, failing, refusals)
            for one in by_tag.get(call.tag, ()):
                account._check(call, one, windows)
        account.summaries = sum(one.good for one in asked)
        account.repeated = find_repeated(asked)
        account.lost = sum(sum(one.good for one in times) - 1 for times in account.repeated)
        for problem in check_stored(stored):
            account.wrong += 1
            account.note(problem)
        pairs = [c for c in calls if c.is_answered and c.plain_seconds is not None and c.answer]
        if pairs:
            with_plugin = p95([c.answer.seconds for c in pairs if c.answer])
            account.added_p95 = with_plugin - p95([c.plain_seconds or 0.0 for c in pairs])
        return account

    def _judge(self, call: Call, failing: Mapping[str, bool], refusals: frozenset[int]) -> None:
        """Count a call that failed, unless it would have failed without the plugin."""
        self.plain_failed += call.plain_failed
        if call.is_answered:
            # A stream that broke off may end before the tag.
            tags = find_tags(call.answer.text if call.answer else "")
            if tags and tags[0] != f"{call.tag[:-1]}a":
                self.note(f"{call.tag}: the answer to another call: {tags[0]}")
            return
        if call.excuse:
            return
        status = call.answer.status if call.answer else 0
        if call.door == "kept" and status in refusals:
            self.refused += 1
        elif not failing.get(call.tag):
            self.failed += 1
            told = f"{status} {json.dumps(call.answer.body)[:300]}" if call.answer else call.error
            self.note(f"{call.tag} ({call.door}, {call.proxy}): failed: {told}")

    def _check(self, call: Call, seen: Seen, windows: Mapping[str, int]) -> None:
        problems, is_used = check_sent(call.messages, seen)
        self.used += is_used
        window = windows.get(seen.model)
        if window is not None and seen.tokens > window:
            problems = [*problems, f"{seen.tokens} tokens sent to {window}"]
        wrong = [problem for problem in problems if problem.startswith("summary")]
        self.wrong += bool(wrong)
        for problem in problems:
            self.note(f"{call.tag} ({call.door}, {call.proxy}): {problem}")


def check_sent(history: Sequence[Mapping[str, Any]], seen: Seen) -> tuple[list[str], bool]:
    """What is wrong with what an upstream call held of a conversation, and whether a summary stood in it.

    Behind the preamble stand summary messages, if any, and then the last messages of the history, each once
    and word for word but for a quote before a user's. What the summary says it covers must be the beginning
    of the history, and nothing of it may be missing between.
    """
    sent = [item for item in read_messages(seen) if item[0] not in ("system", "developer")]
    own = [(str(m["role"]), str(m["content"])) for m in history if m["role"] not in ("system", "developer")]
    kept = 0
    while kept < min(len(sent), len(own)) and _is_same(sent[-1 - kept], own[-1 - kept]):
        kept += 1
    before = sent[: len(sent) - kept]
    head = "\n".join(text for _, text in before)
    covered = len(own) - kept
    tags = [find_tags(text)[0] for _, text in own]
    problems = [f"rule: {problem}" for problem in _broken_rules(seen, history)]
    if kept == 0:
        problems.append("the last message is not the client's")
    if not head and covered:
        problems.append(f"{covered} messages are gone, and nothing stands for them")
    if head and not covered:
        problems.append("summary of nothing: all messages are there as well")
    if doubled := [text for _, text in before if ("user", text) in own or ("assistant", text) in own]:
        problems.append(f"{len(doubled)} messages stand out of their place")
    known = set(tags)
    if strange := [tag for tag in find_tags(head) if tag not in known]:
        problems.append(f"summary of other messages: {strange[:MOST_SHOWN]}")
    told = [tag for match in SUMMARY.finditer(head) for tag in read_runs(match.group(1))]
    if told and told != tags[: len(told)]:
        problems.append(f"summary that does not fit: {told[:MOST_SHOWN]} for {tags[:MOST_SHOWN]}")
    if len(told) > covered:
        problems.append(f"summary of messages that are there too: {told[covered:][:MOST_SHOWN]}")
    # An extract may stand between a summary and the messages; it quotes some of what it stands for.
    if told and len(told) < covered and not set(tags[len(told) : covered]) & set(find_tags(head)):
        problems.append(f"summary that ends early: nothing stands for {tags[len(told) : covered]}")
    return problems, bool(told)


def find_repeated(asked: Sequence[Asked]) -> list[list[Asked]]:
    """The questions that were answered well more than once, each with all times it was asked."""
    by_text = defaultdict[str, list[Asked]](list)
    for one in asked:
        by_text[one.text].append(one)
    return [times for times in by_text.values() if sum(one.good for one in times) > 1]


def check_stored(stored: Mapping[str, Any]) -> list[str]:
    """Sessions in Redis that hold texts of more than one conversation."""
    texts = defaultdict[str, list[str]](list)
    for key, value in stored.items():
        if match := SESSION.search(key):
            texts[match.group(1)].append(repr(value))
    found = {session: marks_in(held) for session, held in texts.items()}
    return [f"session {name} holds {sorted(marks)}" for name, marks in found.items() if len(marks) > 1]


def read_messages(seen: Seen) -> list[tuple[str, str]]:
    """Role and text of each message that an upstream call held, in the form of its endpoint."""
    items = seen.messages or seen.body.get("input") or []
    if isinstance(items, str):
        return [("user", items)]
    return [(str(item.get("role")), _text_of(item.get("content"))) for item in items]


def p95(values: Sequence[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def _is_same(sent: tuple[str, str], own: tuple[str, str]) -> bool:
    role, text = own
    return sent[0] == role and (sent[1] == text or (role == "user" and sent[1].endswith(text)))


def _broken_rules(seen: Seen, history: Sequence[Mapping[str, Any]]) -> list[str]:
    return violations(seen.messages, history) if seen.path.endswith("/chat/completions") else []


def _last_text(seen: Seen) -> str:
    messages = read_messages(seen)
    return messages[-1][1] if messages else ""


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text") or "") for part in content or () if isinstance(part, Mapping))
