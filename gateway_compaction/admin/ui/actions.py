"""Describe what operators can do to a session, and what each action will mean, before it is done."""

from __future__ import annotations

from dataclasses import dataclass

from gateway_compaction.admin.ui.text import fold, pluralize, shorten_line
from gateway_compaction.archive import SessionDetail
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.errors import NotFound, PartNotFound

AUDITED = "An event records that it was you, and when."
CACHE = "The provider's prompt cache breaks once, since the next call starts differently."


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """One action, ready to be confirmed. ``asks``: what to fill in, empty where nothing is."""

    name: str
    title: str
    verb: str
    consequences: tuple[str, ...]
    danger: bool = False
    asks: str = ""
    version: int | None = None
    text: str = ""
    mark: str = ""
    for_key: bool = False


def pin_mark(text: str) -> str:
    """Return a name for a pin that fits into an address, whatever the pin holds."""
    return fingerprint("pin", text)[:16]


def find_action(
    name: str, detail: SessionDetail, version: int | None = None, text: str = "", mark: str = ""
) -> OperatorAction | None:
    """Return the action of that name on this session, or None where there is none such."""
    match name:
        case "compact":
            return OperatorAction(
                name, "Compact at the next call?", "Compact", (*_compact_effects(detail), AUDITED)
            )
        case "rebuild":
            return OperatorAction(
                name, "Rebuild the summary?", "Rebuild", (*_rebuild_effects(detail), CACHE, AUDITED)
            )
        case "rollback" if version is not None:
            return _rollback_action(detail, version)
        case "pin":
            told = (
                "It stands word for word in every summary of this session, at most 400 characters.",
                CACHE,
            )
            return OperatorAction(name, "Pin a fact", "Pin", (*told, AUDITED), asks="The fact", text=text)
        case "rate":
            told = (
                "From the next summary on its length is this share of the characters that it stands for, from"
                " 0.1 (short) to 0.5 (detailed). Empty: the share that the policy says.",
                "What is written already stays as it is. Of the other sessions of its key those that have a"
                " rate of their own keep it.",
            )
            rate = detail.steering.rate
            shown = text or ("" if rate is None else f"{rate:g}")
            return OperatorAction(name, "Set the rate", "Set", (*told, AUDITED), asks="The rate", text=shown)
        case "unpin":
            return _unpin_action(detail, mark)
        case "reset":
            return OperatorAction(
                name, "Reset the session?", "Reset", (*_reset_effects(detail), CACHE, AUDITED), danger=True
            )
        case "forget":
            return OperatorAction(
                name, "Forget the session for good?", "Forget", _forget_effects(detail), danger=True
            )
    return None


def explain_missing(name: str, detail: SessionDetail, version: int | None) -> NotFound:
    """Say why an action cannot be described: no such version or pin, or no such action."""
    if name == "unpin":
        return PartNotFound.pin(len(detail.steering.pins))
    if name == "rollback" and version is not None:
        return PartNotFound.version(version, detail.versions)
    return NotFound(name)


def _compact_effects(detail: SessionDetail) -> tuple[str, ...]:
    row = detail.row
    usage = f", which used {row.tokens_after / row.window:.0%} of its window" if row.window else ""
    return (
        f"The next call is compacted though it would still fit (the last one{usage}), if that makes it"
        " smaller.",
        "Where no summary is ready, an extract is made without a model; where the policy asks a model, its"
        " summary takes the extract's place at a later call.",
        "The provider's prompt cache breaks once, and once more with that summary: worth it where many calls"
        " are still to come, not for a conversation that is nearly over.",
        "It stays so until the session is reset.",
    )


def _rebuild_effects(detail: SessionDetail) -> tuple[str, ...]:
    number = len(detail.compactions)
    kept = (
        "The source is not stored here: the next call brings it, and a new summary is made of it then."
        if detail.last_call is None or detail.last_call.client is None
        else "A new summary is made of the source that the next call brings."
    )
    return (
        f"{pluralize(number, 'version').capitalize()} in use will be taken back; you can roll back to them.",
        kept,
    )


def _rollback_action(detail: SessionDetail, version: int) -> OperatorAction | None:
    everything = {c.version: c for c in (*detail.compactions, *detail.retired)}
    if version and version not in everything:
        return None
    newer = sorted(c.version for c in detail.compactions if c.version > version)
    told = (
        [f"Taken back, and there to roll forward to: {', '.join(f'v{n}' for n in newer)}."] if newer else []
    )
    told += [
        _describe_cover(everything[version])
        if version
        else "Every version is taken back: calls are sent whole again."
    ]
    told += ["A summary being made right now is thrown away."]
    title = f"Roll back to version {version}?" if version else "Take every version back?"
    return OperatorAction("rollback", title, "Roll back", (*told, CACHE, AUDITED), version=version)


def _describe_cover(compaction: Compaction) -> str:
    opening = fold(compaction.text, 120).head
    quote = f" It begins: “{shorten_line(opening, 120)}”" if opening else ""
    return (
        f"Version {compaction.version} stands for the first {pluralize(compaction.covers, 'message')} again;"
        f" what follows is sent as it is.{quote}"
    )


def _unpin_action(detail: SessionDetail, mark: str) -> OperatorAction | None:
    text = next((pin for pin in detail.steering.pins if pin_mark(pin) == mark), None)
    if text is None:
        return None
    told = (f"“{shorten_line(text, 400)}” no longer stands in the summary.", CACHE, AUDITED)
    return OperatorAction("unpin", "Unpin this fact?", "Unpin", told, text=text, mark=mark)


def _reset_effects(detail: SessionDetail) -> tuple[str, ...]:
    versions, pins = (
        pluralize(len(detail.compactions), "version"),
        pluralize(len(detail.steering.pins), "pin"),
    )
    return (
        f"{versions.capitalize()}, {pins}, every pause and every wish are forgotten for good.",
        "Events and labels stay.",
        "The next call is sent whole, or made to fit without a model where it must be.",
    )


def _forget_effects(detail: SessionDetail) -> tuple[str, ...]:
    versions = pluralize(len(detail.compactions) + len(detail.retired), "version")
    return (
        f"Everything kept of this session is erased: {versions},"
        f" {pluralize(len(detail.events), 'event')}, labels, pins and indexes. It cannot be brought back.",
        "Running processes forget it within a few seconds; a summary being made does not bring it back.",
        "The next request of the same conversation starts anew.",
        "Export it first if you may want to look at it again.",
    )
