"""Checks of what only the host shows: answers, headers, times, deployments, the store."""

from __future__ import annotations

import re
from collections.abc import Sequence

from redis.crc import key_slot

from gateway_compaction.core.conversation.digest import build_digest_chain, digest_message
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.records.compaction import Compaction
from tests.cases.evidence import Call, Evidence
from tests.cases.measure import Excess
from tests.cases.prepared import served
from tests.cases.texts import carriers, whole_text
from tests.cases.verdict import Verdict, check, every, failed, passed, unjudged

__all__: list[str] = []

HEADERS = (("x-gateway-compaction", "x-compaction"),)


@check("client_status", always=True)
def client_status(evidence: Evidence, argument: str) -> Verdict:
    """The client's answers have this status."""
    found = {call.answer.status for call in evidence.judged}
    return passed() if found == {int(argument)} else failed(f"{sorted(found)}")


@check("client_ms_le")
def client_ms_le(evidence: Evidence, argument: str) -> Verdict:
    """The slowest of the client's calls takes at most N milliseconds."""
    slowest = max(call.answer.seconds for call in evidence.judged) * 1000
    return passed(f"{slowest:.0f}") if slowest <= float(argument) else failed(f"{slowest:.0f} ms")


@check("hook_ms_le")
def hook_ms_le(evidence: Evidence, argument: str) -> Verdict:
    """A request takes at most N milliseconds longer than the same one that is bypassed."""
    return _measured(evidence, "hook ms", argument)


@check("loop_lag_ms_le")
def loop_lag_ms_le(evidence: Evidence, argument: str) -> Verdict:
    """Others wait at most N milliseconds longer while the request is under way than while it is bypassed."""
    return _measured(evidence, "loop lag ms", argument)


def _measured(evidence: Evidence, name: str, argument: str) -> Verdict:
    found: Excess = evidence.facts[name]
    told = f"{found.busy:.0f} ms, bypassed {found.quiet:.0f} ms"
    return passed(told) if found.more <= float(argument) else failed(told)


@check("header")
def header(evidence: Evidence, argument: str) -> Verdict:
    """Every answer has the header."""
    name = _header_name(argument)
    missing = [call for call in evidence.judged if name not in call.answer.headers]
    return failed(f"no {name}") if missing else passed()


@check("header_value")
def header_value(evidence: Evidence, argument: str) -> Verdict:
    """The header of the first answer has one of the values: ``name in (a,b)`` or ``name=a``."""
    parts = re.fullmatch(r"\s*([\w-]+)\s*(?:in\s*\(([^)]*)\)|=\s*(.*))", argument)
    if parts is None:
        return unjudged(f"{argument!r} cannot be read")
    wanted = {value.strip() for value in (parts[2] or parts[3]).split(",")}
    name = _header_name(parts[1])
    found = {call.answer.headers.get(name) for call in evidence.judged if call.first}
    return passed(", ".join(map(str, found))) if found and found <= wanted else failed(f"{name}: {found}")


def _header_name(name: str) -> str:
    for stated, ours in HEADERS:
        name = re.sub(f"^{stated}", ours, name.strip().lower())
    return name


@check("request_field_unchanged")
def request_field_unchanged(evidence: Evidence, argument: str) -> Verdict:
    """The upstream receives the field as the client sent it."""

    def problem(call: Call) -> str | None:
        now, before = call.served.body.get(argument), call.body.get(argument)
        return None if now == before else f"{now!r:.100} instead of {before!r:.100}"

    return every(evidence, problem)


@check("served_by")
def served_by(evidence: Evidence, argument: str) -> Verdict:
    """The request is answered by this model group."""
    wanted = served(f"{argument}-{evidence.prepared.slug}")
    return every(evidence, lambda call: None if call.served.model == wanted else call.served.model)


@check("input_not_mutated")
def input_not_mutated(evidence: Evidence, argument: str) -> Verdict:
    """The message objects that came in are what they were, after the call; a callback in the proxy looks."""
    plain = [call for call in evidence.calls if call.answer.headers.get("x-compaction") == "bypassed"]
    if any(call.answer.headers.get("x-case-input") != "unchanged" for call in plain):
        return unjudged("LiteLLM itself changes the objects, or the watching callback does not run")
    found = {call.answer.headers.get("x-case-input") for call in evidence.judged}
    return passed() if found == {"unchanged"} else failed(f"they are {found}")


@check("idempotent")
def idempotent(evidence: Evidence, argument: str) -> Verdict:
    """One rewriting, one summary, one event a call, however often the hooks run or the call is tried."""
    for number, found in evidence.asked.items():
        if len(found) > 1:
            return failed(f"{len(found)} summaries were asked for in pass {number + 1}")
    recorded, expected = evidence.facts.get("request events", (0, 0))
    if recorded != expected and not evidence.prepared.context.fails_once:
        return failed(f"{recorded} events of {expected} calls")

    def problem(call: Call) -> str | None:
        if any(seen.messages != call.messages for seen in call.upstream):
            return "two attempts differ"
        frames = len(carriers(call.messages))
        if frames > 1:
            return f"{frames} summaries"
        seeded = evidence.covered.get(call.number) is not None
        same = next(c for c in evidence.judged if c.sent == call.sent and c.number == call.number)
        return (
            "the same request is sent in another form" if seeded and same.messages != call.messages else None
        )

    return every(evidence, problem)


@check("updates_equal_calls")
def updates_equal_calls(evidence: Evidence, argument: str) -> Verdict:
    """Every conversation gets its summary, or is counted as dropped, or its answer says why it gets none."""
    found = evidence.facts.get("updates")
    if found is None:
        return unjudged("the policy names no number of conversations")
    without = found["dropped"] + found["declined"]
    told = found["told"] + without == found["calls"] == found["asked"] + without
    return passed(f"{found}") if told else failed(f"{found}")


@check("no_coverage_gap")
def no_coverage_gap(evidence: Evidence, argument: str) -> Verdict:
    """Each mark is among the messages, or in one of those that a stored record stands for, up to the tail."""
    marks = [mark.strip() for mark in argument.split(",") if mark.strip()]
    records = {id(call): evidence.records.get(index, ()) for index, call in enumerate(evidence.calls)}

    def problem(call: Call) -> str | None:
        text = whole_text(call.messages)
        gone = [mark for mark in marks if mark not in text and mark in whole_text(call.sent)]
        if not gone:
            return None
        if not carriers(call.messages):
            return f"{gone} are gone, and there is no summary"
        if not any(_stands_for(call, record, gone) for record in records[id(call)]):
            return f"{gone} are gone, and no stored record stands for them"
        return None

    return every(evidence, problem)


def _stands_for(call: Call, record: Compaction, marks: Sequence[str]) -> bool:
    """Whether a record covers the messages with these marks, and all the others are there behind it."""
    transcript = parse_transcript(call.sent)
    names = build_digest_chain(digest_message(m) for m in transcript.history)
    if record.covers >= len(names) or names[record.covers] != record.digest or not _is_whole(record):
        return False
    covered, rest = transcript.history[: record.covers], transcript.history[record.covers :]
    tail = call.messages[-len(rest) :] if rest else []
    told = whole_text(covered)
    return all(mark in told for mark in marks) and [m["role"] for m in tail] == [m["role"] for m in rest]


def _is_whole(record: Compaction) -> bool:
    ends = [0, *(segment.end for segment in record.segments)]
    starts = [segment.start for segment in record.segments]
    return starts == ends[:-1] and ends[-1] == record.covers and bool(record.text)


@check("state_valid_serial")
def state_valid_serial(evidence: Evidence, argument: str) -> Verdict:
    """What two simultaneous requests leave in the store could have been left by one after the other."""
    calls = [(index, call) for index, call in enumerate(evidence.calls) if call.judged]
    records = {r.digest: r for index, _ in calls for r in evidence.records.get(index, ())}
    if not records:
        return failed("nothing is stored")
    lineages = [
        build_digest_chain(digest_message(m) for m in parse_transcript(call.sent).history)
        for _, call in calls
    ]
    for record in records.values():
        if not any(
            len(names) > record.covers and names[record.covers] == record.digest for names in lineages
        ):
            return failed(f"a record of {record.covers} messages stands for no prefix of either request")
        if not _is_whole(record):
            return failed(
                f"the segments of a record have a gap: {[(s.start, s.end) for s in record.segments]}"
            )
    versions = [record.version for record in records.values()]
    if len(set(versions)) != len(versions):
        return failed(f"two records have one version: {versions}")
    made = sum(record.kind == "model" for record in records.values())
    work = len(evidence.all_asked)
    if work != made:
        return failed(f"{work} summaries were asked for, {made} are stored")
    events = evidence.facts.get("events")
    return (
        passed(f"{made} made")
        if events == len(calls)
        else failed(f"{events} events of {len(calls)} requests")
    )


@check("stored_summary_unchanged")
def stored_summary_unchanged(evidence: Evidence, argument: str) -> Verdict:
    """The other chat's summary is used before and after, and its record stays what it was."""
    found = evidence.facts.get("main chat")
    if found is None:
        return unjudged("the policy names no other chat")
    return passed() if all(found.values()) else failed(f"{found}")


@check("distinct_upstream_from_twin")
def distinct_upstream_from_twin(evidence: Evidence, argument: str) -> Verdict:
    """Neither the requests nor the answers of the two chats are ever the same."""
    if "twins" not in evidence.facts:
        return unjudged("the policy names no twin")
    sent, answers = evidence.facts["twins"]
    if not sent["own"] or not sent["twin"]:
        return failed("one of the chats never reached the upstream")
    if set(sent["own"]) & set(sent["twin"]):
        return failed("the same messages were sent for both chats")
    same = set(answers["own"]) & set(answers["twin"])
    return (
        failed("one chat got the other's answer")
        if same
        else passed(f"{len(sent['own'])} + {len(sent['twin'])} sent")
    )


@check("redis_keys_same_slot")
def redis_keys_same_slot(evidence: Evidence, argument: str) -> Verdict:
    """The keys of a conversation are ``gwc:{...}:*`` in one slot; a Redis cluster refused nothing."""
    sessions = {call.answer.headers.get("x-compaction-session") for call in evidence.judged} - {None}
    for session in sessions:
        keys = [key for key in evidence.facts["keys"] if str(session) in key]
        odd = [key for key in keys if not re.fullmatch(r"gwc:\{[^{}]+\}:.+", key)]
        session_ids = {key_slot(key.encode()) for key in keys}
        if odd or len(session_ids) != 1:
            return failed(f"{len(keys)} keys in {len(session_ids)} slots; of another form: {odd}")
    if evidence.facts["refused by the cluster"]:
        return failed("a command named keys of two slots")
    return passed() if sessions else failed("no conversation was stored")


@check("redis_keys_not_contain")
def redis_keys_not_contain(evidence: Evidence, argument: str) -> Verdict:
    """No key's name holds the text, the caller's API key or the name of the caller's user."""
    secrets = [argument, evidence.prepared.key(0), str(evidence.prepared.body.get("user") or argument)]
    keys = evidence.facts["keys"]
    found = [key for key in keys if any(secret.lower() in key.lower() for secret in secrets)]
    if found:
        return failed(f"{found[:3]}")
    return passed(f"{len(keys)} keys") if keys else failed("nothing is stored")
