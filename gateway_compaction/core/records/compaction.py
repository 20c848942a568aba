"""The stored, immutable record of one compaction, and the session it belongs to.

A record is found by the digest of what it covers, so it serves every call whose history begins with the same
messages, of whichever process or branch, and no other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from gateway_compaction.core.records.summary_record import SummaryRecord

Kind = Literal["cleared", "extractive", "model"]
# A record never replaces one of a higher rank: a model's summary is not lost to an extract made in haste.
KIND_RANK: dict[str, int] = {"cleared": 0, "extractive": 1, "model": 2}
# Version of the stored form; a record of another one is not read.
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class SessionRef:
    """One conversation of one tenant; both parts are hashes and safe to log.

    Attributes:
        tenant: whose it is; sessions of two tenants never meet, even with the same messages.
        key: the conversation's own name.
    """

    tenant: str
    key: str

    @property
    def session_id(self) -> str:
        """The text inside a Redis hash tag, so that all keys of a session share a cluster slot."""
        return f"{self.tenant}.{self.key}"


def is_within(session_id: str, name: str) -> bool:
    """Tell whether a session has the id ``name``, or is of the tenant of that name."""
    return session_id == name or session_id.startswith(f"{name}.")


@dataclass(frozen=True, slots=True)
class Segment:
    """A text that stands for messages ``start`` to ``end`` (after the preamble, end excluded)."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Clip:
    """The shortening of long messages, of which only head and tail are shown.

    It is stored with a compaction so that every later call sends the same bytes.

    Attributes:
        until: messages before this index are shortened.
        max_tokens: messages with more tokens are.
        spare: indexes that are left whole: what was the last user message when this was decided, and a
            trailing answer that the model was to continue.
        digest: names the first ``until`` messages: in another branch nothing is shortened.
    """

    until: int
    max_tokens: int
    spare: tuple[int, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class HistoryPrefix:
    """The beginning of a conversation: the number of its messages, and the digest that names them."""

    messages: int
    digest: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """The stand-in for the first messages after the preamble.

    Attributes:
        digest: names exactly the covered messages.
        covers: their number.
        kind: ``model`` for a summary that a model wrote, ``extractive`` for one put together from sentences,
            ``cleared`` for none: the messages stay, with long tool results replaced by a marker.
        segments: the summary's texts in order; none where ``kind`` is ``cleared``.
        limit: most tokens (uncalibrated) of the summary block that it was made for, None where only the
            policy bounds it.
        clip: how messages are shortened; it reaches beyond ``covers`` where messages that stay had to be
            shortened to fit.
        since: index of the user message that was the last one when this was made: earlier ones get no recall.
        lead_tokens: tokens (uncalibrated) of messages behind ``since`` that were still to come before this
            was needed: it was made ahead of its use. Their questions were answered from the whole history,
            and get no recall either.
        window: tokens of the window of the request for which an extract or a clearing was made, 0 where
            unknown.
        quotes: most tokens (uncalibrated) that are ever quoted before message ``since``, None where only the
            policy bounds that: what did not fit when it was made must not come with a later call.
        sent_with: the history that an extract or a clearing was made for and sent with: calls that go on from
            there keep it while it fits. None for what a model wrote, for what a model is to replace at
            once, and in older records.
        parent: digest of the compaction that this one continues.
        version: given by the store, 0 before.
        model: the model that wrote it, as its provider names it.
        tokens_before: tokens of the covered messages.
        tokens_after: tokens of all that stands in their place, as it was made: note, pins, text, and what
            joins it to the rest. The quotes that a call needs come on top.
        cost: dollars that the model's calls cost, where the host knows.
        created_at: seconds since 1970.
        asked: the model group that was asked for it, None where none was and in older records.
        unsourced: number of identifiers that a model's text holds and its source does not; it is told once,
            in the event, and not stored.
        rate: the rate that its block was made for; None where the length was given in tokens, and in older
            records.
        records: for each segment how long its messages were, and which length was asked for; none in older
            records.
    """

    digest: str
    covers: int
    kind: Kind
    segments: tuple[Segment, ...] = ()
    limit: int | None = None
    clip: Clip | None = None
    since: int = 0
    lead_tokens: int = 0
    window: int = 0
    quotes: int | None = None
    sent_with: HistoryPrefix | None = None
    parent: str | None = None
    version: int = 0
    model: str | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    cost: float | None = None
    created_at: float = 0.0
    asked: str | None = None
    unsourced: int = 0
    rate: float | None = None
    records: tuple[SummaryRecord, ...] = ()

    @property
    def text(self) -> str:
        """The summary: its segments in order."""
        return "\n\n".join(s.text for s in self.segments if s.text)

    def created(self, at: float) -> Compaction:
        """Return the record with the second at which it was made; older parts keep theirs."""
        records = tuple(r if r.created_at else replace(r, created_at=at) for r in self.records)
        return replace(self, created_at=at, records=records)

    def to_dict(self) -> dict[str, Any]:
        """Return the record in plain JSON types, with the schema version."""
        record: dict[str, Any] = {
            "v": SCHEMA,
            "digest": self.digest,
            "covers": self.covers,
            "kind": self.kind,
            "segments": [[s.start, s.end, s.text] for s in self.segments],
            "limit": self.limit,
            "clip": _clip_to_list(self.clip),
            "since": self.since,
        }
        if self.lead_tokens:
            record["lead_tokens"] = self.lead_tokens
        if self.window:
            record["window"] = self.window
        if self.quotes is not None:
            record["quotes"] = self.quotes
        if self.sent_with is not None:
            record["sent_with"] = [self.sent_with.messages, self.sent_with.digest]
        if self.rate is not None:
            record["rate"] = self.rate
        if self.asked is not None:
            record["asked"] = self.asked
        record |= {
            "parent": self.parent,
            "version": self.version,
            "model": self.model,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "cost": self.cost,
            "created_at": self.created_at,
        }
        if self.records:
            # Last: the scripts look for parent and kind by pattern, and take the first they find.
            record["records"] = [one.to_dict() for one in self.records]
        return record

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Compaction:
        """Read a record back.

        Raises:
            ValueError: the record is of another schema version or not a record at all.
        """
        try:
            if raw["v"] != SCHEMA or raw["kind"] not in KIND_RANK:
                raise ValueError(f"unknown schema {raw.get('v')!r} or kind {raw.get('kind')!r}")
            return cls(
                digest=str(raw["digest"]),
                covers=int(raw["covers"]),
                kind=raw["kind"],
                segments=tuple(Segment(int(a), int(b), str(t)) for a, b, t in raw["segments"]),
                limit=None if raw["limit"] is None else int(raw["limit"]),
                clip=_clip_from_list(raw["clip"]),
                since=int(raw["since"]),
                lead_tokens=int(raw.get("lead_tokens", 0)),
                window=int(raw.get("window", 0)),
                quotes=None if raw.get("quotes") is None else int(raw["quotes"]),
                sent_with=_prefix_from_list(raw.get("sent_with")),
                parent=raw["parent"],
                version=int(raw["version"]),
                model=raw["model"],
                tokens_before=int(raw["tokens_before"]),
                tokens_after=int(raw["tokens_after"]),
                cost=raw["cost"],
                created_at=float(raw["created_at"]),
                asked=raw.get("asked"),
                rate=None if raw.get("rate") is None else float(raw["rate"]),
                records=_read_records(raw.get("records")),
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"not a compaction record: {error!r}") from error


def _read_records(raw: Any) -> tuple[SummaryRecord, ...]:
    """Read the records of the segments; none where one cannot be read: the summary serves all the same."""
    try:
        return tuple(map(SummaryRecord.from_dict, raw or ()))
    except (ValueError, TypeError):
        return ()


def _clip_to_list(clip: Clip | None) -> list[Any] | None:
    if clip is None:
        return None
    return [clip.until, clip.max_tokens, list(clip.spare), clip.digest]


def _clip_from_list(raw: list[Any] | None) -> Clip | None:
    if not raw:
        return None
    return Clip(int(raw[0]), int(raw[1]), tuple(int(i) for i in raw[2]), str(raw[3]))


def _prefix_from_list(raw: list[Any] | None) -> HistoryPrefix | None:
    return HistoryPrefix(int(raw[0]), str(raw[1])) if raw else None
