"""Define what routes take and give besides the values of the contract. Bodies hold nothing that is not
listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway_compaction.archive import Hour
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.records.event import CompactionEvent

ShareKind = Literal["team", "user", "key", "nobody", "model"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RollbackBody(_Body):
    """The version to go back to."""

    version: Annotated[int, Field(strict=True, ge=0, lt=2**53, description="0 takes every version back.")]


class PinBody(_Body):
    """One pinned fact."""

    text: Annotated[str, Field(min_length=1, max_length=400)]


class RateBody(_Body):
    """The rate of a session's next summaries."""

    rate: Annotated[
        float | None, Field(ge=0.1, le=0.5, description="In place of summary.rate; null: the policy's.")
    ]
    for_key: Annotated[
        bool, Field(description="For all sessions of this one's key that have no rate of their own.")
    ] = False


class PreviewBody(_Body):
    """The values to try; what is left out stays as the policy has it."""

    rate: Annotated[float | None, Field(ge=0.1, le=0.5, description="summary.rate")] = None
    target: Annotated[float | None, Field(gt=0, lt=1, description="levels.medium.target")] = None
    keep_last: Annotated[int | None, Field(ge=1, le=10_000, description="levels.medium.keep_last")] = None
    max_tokens: Annotated[int | None, Field(ge=50, description="summary.max_tokens")] = None


class RestoreBody(_Body):
    """The form in which an earlier conversation is told, and the model that it is told to."""

    form: Annotated[
        Literal["messages", "text"],
        Field(description="`messages` to put in front of a new conversation, or one `text`."),
    ] = "messages"
    window: Annotated[
        int | None,
        Field(ge=200, le=10**9, description="Tokens of the new model's window; default: the old one's."),
    ] = None
    model: Annotated[str | None, Field(max_length=200, description="The new model, to count tokens by.")] = (
        None
    )
    snapshot: Annotated[
        str | None, Field(max_length=20, description="Tell of this snapshot; default: of the present.")
    ] = None


@dataclass(frozen=True, slots=True)
class Restored:
    """An earlier conversation as a new one is told of it. Nothing was changed by asking.

    Attributes:
        session: the id of the earlier one.
        source: how the text names it.
        form: what was asked for; of `messages` and `text` the other one is null.
        messages: put them behind the system prompt and before the first message of the new conversation.
        text: the same as one text, for clients that build their prompt themselves.
        tokens: tokens of the text.
        parts: which parts there are, and whether a client `told` them, they were `found` in the
            conversation, or are `stored` with it.
    """

    session: str
    source: str
    form: Literal["messages", "text"]
    messages: tuple[dict[str, Any], ...] | None
    text: str | None
    tokens: int
    parts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over some calls, in tokens and dollars.

    Attributes:
        requests: those near their window: from the level ``light`` on, and smaller ones where a trigger
            of the policy fires, somebody asked to compact or rebuild, or it notes all. Others pass
            without being recorded, and are in no figure here.
        rewritten: how many of them went upstream compacted.
        tokens_before, tokens_after: of those requests, as clients sent them and as they went upstream, with
            what is kept free for the answer.
        saved, would_save: the history as it came less all that was sent. An estimate: only one of the two was
            ever sent.
        saved_dollars: what the saved tokens would have cost, where the price of their model is known; an
            estimate. What the provider would have read from its prompt cache, or written to it, is at those
            prices: where it reports of one, the history as it came counts as cached up to the call before.
        unpriced: saved tokens of models whose price is not known.
        cost: what the summaries cost.
    """

    requests: int = 0
    rewritten: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    saved: int = 0
    would_save: int = 0
    saved_dollars: float = 0.0
    would_save_dollars: float = 0.0
    unpriced: int = 0
    breaks: int = 0
    summaries: int = 0
    failures: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Share:
    """The sums of one owner or model; ``kind`` says of what ``name`` is the name."""

    name: str
    totals: Totals
    kind: ShareKind


@dataclass(frozen=True, slots=True)
class Overview:
    """The last hours. ``sessions`` counts those seen in them; ``teams`` and ``models`` by tokens saved.

    Among ``teams`` are users and keys, for calls outside of teams.
    """

    since: float
    sessions: int
    totals: Totals
    teams: tuple[Share, ...]
    models: tuple[Share, ...]
    hours: tuple[Hour, ...]


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events, newest first; ``cursor`` asks for older ones, None at the end."""

    events: tuple[CompactionEvent, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A piece of a summary as compared with its parent's."""

    kind: Literal["same", "added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class Version:
    """One compaction.

    Attributes:
        retired: it was taken back, and can be rolled back to.
        parent: version of the one it was built on, where that is still there.
        rate: tokens after, as a share of tokens before.
        text: the summary, its segments joined.
        diff: against the parent's text; everything is added where there is none.
    """

    compaction: Compaction
    retired: bool
    parent: int | None
    rate: float | None
    text: str
    diff: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a policy, and where it was written."""

    path: str
    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class MatchedPolicy:
    """One policy of the file, and whether it holds; ``reason`` says why not."""

    path: str
    name: str
    rank: str
    matched: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The policy of a team, key and model, as ``gateway-compaction policy explain`` tells it."""

    policies: tuple[MatchedPolicy, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """The health of the store; ``ok`` where it can be read and written; ``process`` is for proxy admins."""

    ok: bool
    store: str
    process: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """An action that was done, and what it means for the next call."""

    deed: str
    detail: str


@dataclass(frozen=True, slots=True)
class Erased:
    """The number of things erased: keys of a session, or sessions of a tenant."""

    gone: int
    detail: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The id of a session that was stored."""

    session: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The latest call as it would have been sent under other values; nothing was changed.

    Attributes:
        compacts: whether that call was long enough to be compacted at all, by a level, by a trigger that
            applies (messages are not kept, so tokens stand for characters), or since an operator wants
            it. Where it was not, the rest says what a compaction at this point would come to.
        covers: messages after the preamble that the summary would stand for; None where nothing can be
            cut.
        kept: messages after those, sent verbatim.
        summary: most tokens that the summary would take, what operators pinned included.
        total: tokens of the request with that, output reserve included; ``total_now`` as it was sent.
        share: of the window.
        summary_expected, total_expected: the same as they are likely to come out. With a rate, an
            estimate: the rate of what is covered, and note and pins as in the last summary that was sent;
            with a number of tokens, the most again.
        fits: whether the target is reached.
        fates: what would become of each message the client sent, in its order.
        policy: the highest-ranking policy that holds.
        values: what was assumed, by path.
        change: YAML that makes it permanent for the session's team.
    """

    compacts: bool
    covers: int | None
    covers_now: int
    kept: int
    summary: int
    total: int
    total_now: int
    total_sent: int
    window: int
    share: float
    summary_expected: int
    total_expected: int
    fits: bool
    fates: tuple[str, ...]
    policy: str
    values: dict[str, Any]
    change: str
