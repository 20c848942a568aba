"""A point at which a conversation can be taken up again: all that a new conversation is told of an old one.

It is made of what the store keeps of a session, and bounded: snapshots are such points, and many may be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from gateway_compaction.core.records.client_state import ClientState, restore_client_state
from gateway_compaction.core.records.compaction import Segment

# Version of the stored form; a point of another one is not read.
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class FoundFacts:
    """The facts that a conversation itself tells of its work: found by rules, not told by its client.

    Attributes:
        preamble: the beginning of the system prompt.
        task: the first request.
        rules: standing rules in the user's own words.
        decisions: sentences that decide something, the latest last.
        files: names and paths of files, the weightiest first.
        identifiers: other identifiers, the weightiest first.
        extract: telling sentences of the conversation, while no summary stands for its beginning.
    """

    preamble: str = ""
    task: str = ""
    rules: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    extract: str = ""

    def map_texts(self, change: Callable[[str], str]) -> FoundFacts:
        """Return the facts with every text changed, such as masked."""
        return FoundFacts(
            preamble=change(self.preamble),
            task=change(self.task),
            rules=tuple(map(change, self.rules)),
            decisions=tuple(map(change, self.decisions)),
            files=tuple(map(change, self.files)),
            identifiers=tuple(map(change, self.identifiers)),
            extract=change(self.extract),
        )

    @classmethod
    def from_dict(cls, raw: Any) -> FoundFacts:
        """Read facts back; what cannot be read is left out."""
        values = raw if isinstance(raw, Mapping) else {}

        def text_at(name: str) -> str:
            return text if isinstance(text := values.get(name), str) else ""

        return cls(
            preamble=text_at("preamble"),
            task=text_at("task"),
            rules=_keep_texts(values.get("rules")),
            decisions=_keep_texts(values.get("decisions")),
            files=_keep_texts(values.get("files")),
            identifiers=_keep_texts(values.get("identifiers")),
            extract=text_at("extract"),
        )


@dataclass(frozen=True, slots=True)
class RestorePoint:
    """One moment of a session, as far as a later conversation can be told of it.

    Attributes:
        session: the id of the session.
        at: when its last call was, in seconds since 1970; of a snapshot, when that was taken.
        reason: why it was taken; empty for the present state of the session.
        state: what the client told.
        facts: what was found.
        segments: the texts of the summary, in order.
        covers: number of messages that these stand for.
        version: version of the compaction that they are of, 0 where there is none.
        pins: what operators pinned.
        recent: role and text of the last messages, oldest first; none where the policy stores no messages.
        messages: number of messages after the preamble.
    """

    session: str
    at: float
    reason: str = ""
    state: ClientState = field(default_factory=ClientState)
    facts: FoundFacts = field(default_factory=FoundFacts)
    segments: tuple[Segment, ...] = ()
    covers: int = 0
    version: int = 0
    pins: tuple[str, ...] = ()
    recent: tuple[tuple[str, str], ...] = ()
    messages: int = 0

    @property
    def name(self) -> str:
        """The name of a snapshot within its session: when it was taken, to the second."""
        return str(int(self.at))

    def map_texts(self, change: Callable[[str], str]) -> RestorePoint:
        """Return the point with every text changed, such as masked."""
        return replace(
            self,
            state=self.state.map_texts(change),
            facts=self.facts.map_texts(change),
            segments=tuple(replace(s, text=change(s.text)) for s in self.segments),
            pins=tuple(map(change, self.pins)),
            recent=tuple((role, change(text)) for role, text in self.recent),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the point in plain JSON types, with the schema version."""
        return {
            "v": SCHEMA,
            **asdict(self),
            "state": self.state.to_dict(),
            "segments": [[s.start, s.end, s.text] for s in self.segments],
        }

    @classmethod
    def from_dict(cls, raw: Any) -> RestorePoint:
        """Read a point back.

        Raises:
            ValueError: it is of another schema version or not a point at all.
        """
        try:
            if raw["v"] != SCHEMA:
                raise ValueError(f"unknown schema {raw['v']!r}")
            return cls(
                session=str(raw["session"]),
                at=float(raw["at"]),
                reason=str(raw["reason"]),
                state=restore_client_state(raw["state"]) or ClientState(),
                facts=FoundFacts.from_dict(raw["facts"]),
                segments=tuple(Segment(int(a), int(b), str(text)) for a, b, text in raw["segments"]),
                covers=int(raw["covers"]),
                version=int(raw["version"]),
                pins=_keep_texts(raw["pins"]),
                recent=tuple((str(role), str(text)) for role, text in raw["recent"]),
                messages=int(raw["messages"]),
            )
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"not a restore point: {error!r}") from error


@dataclass(frozen=True, slots=True)
class RestoredBlock:
    """The text that a new conversation was told of an earlier one; each of its calls begins with the same.

    Attributes:
        session: the id of the earlier one: where that is erased, this is too.
        source: how the text names it.
        text: the block.
        made_at: when the earlier one was read, by the store's clock: what was erased since leaves no copy.
    """

    session: str
    source: str
    text: str
    made_at: float = 0.0


def keep_last(texts: Sequence[str], most: int, size: Callable[[str], int]) -> tuple[str, ...]:
    """Return as many of the last texts as have a size of at most ``most`` together, in their order."""
    kept: list[str] = []
    for text in reversed(texts):
        most -= size(text)
        if most < 0:
            break
        kept.append(text)
    return tuple(reversed(kept))


def _keep_texts(items: Any) -> tuple[str, ...]:
    return tuple(item for item in items if isinstance(item, str)) if isinstance(items, list | tuple) else ()
