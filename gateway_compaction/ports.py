"""Contracts of what the engine needs from outside: a store, a summariser, facts about models.

An adapter is written against this page alone. ``tests/contracts/test_store.py`` holds any ``Store`` to what
is said here; ``runtime.build`` puts the parts together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.core.records.controls import SessionControls
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.exchange import Exchange, KeptConversation
from gateway_compaction.core.records.restore_point import RestoredBlock, RestorePoint
from gateway_compaction.core.records.savings import Savings
from gateway_compaction.core.records.snapshots import SnapshotBounds
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.tokens.windows import LearnedWindow

__all__ = [
    "Addition",
    "Appended",
    "Buffer",
    "CallRecord",
    "Caller",
    "ConversationStore",
    "ModelFacts",
    "Models",
    "Notices",
    "OpenedConversation",
    "ProviderError",
    "Store",
    "Summarizer",
    "SummaryAnswer",
    "SummaryRequest",
]


@dataclass(frozen=True, slots=True)
class Buffer:
    """The store's knowledge of one session, as far as one request can use it.

    Attributes:
        compactions: those whose digest the request named, in no particular order.
        in_flight: digests (of those the request named) that somebody is summarising right now.
        bypass: why the session is bypassed at present, or None.
        backoff: why no summary may be started at present, or None.
        controls: what operators asked of the session, and its generation.
        client_state: what the client told of its work; None where it told nothing.
        snapped_at: when the last snapshot was taken, in seconds since 1970; 0 for never.
    """

    compactions: tuple[Compaction, ...] = ()
    in_flight: frozenset[str] = frozenset()
    bypass: str | None = None
    backoff: str | None = None
    controls: SessionControls = field(default_factory=SessionControls)
    client_state: ClientState | None = None
    snapped_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Notices:
    """News of operators' actions that every process must know without asking for a session.

    Attributes:
        forgotten: sessions (``tenant.session``) and whole tenants that were erased in the last ten minutes,
            and when, in seconds since 1970 by the store's clock.
        voided: sessions whose versions were taken back or forgotten in the last ten minutes, and when their
            present generation began.
        requested: sessions of which an operator wants something at their next call, however small.
        restoring: tenants with conversations that began where others ended.
        rates: rates that operators set for the next summaries of a key, by its hash.
    """

    forgotten: Mapping[str, float] = field(default_factory=dict)
    voided: Mapping[str, float] = field(default_factory=dict)
    requested: frozenset[str] = frozenset()
    restoring: frozenset[str] = frozenset()
    rates: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """The facts of a call that are stored besides its event.

    Attributes:
        used: digest of the stored compaction that was sent; it counts as used.
        labels: ids that the client sent.
        about: whose the call is, by the names of ``archive.Owner``.
        view: names what stood for the beginning, ``raw`` where nothing did: what was never sent before breaks
            the provider's cache. None where nothing was sent.
        snapshot: what came and what was sent, message by message; kept until the next one.
        savings: what it saved, or in ``observe`` would have; None for the difference of the event's tokens.
        compact: the client asked to compact from this call on, as an operator may.
        client_state: what the client told of its work, where that has changed.
        snapshots: how many snapshots the session keeps; None leaves that as it is.
        detector: finds what is masked in whatever is stored or shown of the session; None leaves it as it is.
    """

    used: str | None = None
    labels: Sequence[str] = ()
    about: Mapping[str, str] | None = None
    view: str | None = None
    snapshot: CallSnapshot | None = None
    savings: Savings | None = None
    compact: bool = False
    client_state: ClientState | None = None
    snapshots: SnapshotBounds | None = None
    detector: Detector | None = None


@dataclass(frozen=True, slots=True)
class RecordLimit:
    """The most compactions of a session that are kept.

    Attributes:
        records: of the whole session.
        versions: of one line, each built on the one before: older ones are covered by what came after, and
            are not used again.
    """

    records: int
    versions: int = 16


LONGEST_PAUSE_SECONDS = 600.0
"""Longest pause of a session in which no summary comes off: most of them never will."""


class Store(Protocol):
    """Keeps what is stored of sessions, shared by all replicas.

    Every call has a short deadline of its own and raises ``StoreError`` (``StoreBusy`` while the breaker is
    open) when it is not met; no other exception leaves a store. Times are the store's own clock, so that all
    replicas agree. Everything written expires.

    ``generation`` is the one that the request was given: what it decided is refused, silently, where an
    operator's action has changed it since, and where the session was forgotten (an event only there: the call
    was made). Empty, it is not compared. The forms of a generation, which a store writes and the engine
    reads, are in the table of ``core.records.controls``.
    """

    @property
    def state(self) -> Literal["closed", "open"]:
        """``open`` while calls are refused unasked because earlier ones failed; for the metrics."""
        ...

    async def load(self, session: SessionRef, digests: Sequence[str]) -> Buffer:
        """Read, in one round trip, what fits a request whose prefix digests are ``digests``.

        A record that cannot be read is left out, never raised.
        """
        ...

    async def claim(
        self, session: SessionRef, digest: str, chain: Sequence[str], seconds: float, generation: str = ""
    ) -> int:
        """Lease the right to summarise ``digest`` for ``seconds``.

        Returns a fencing token, larger than every earlier one of the session, or 0 when ``digest`` or any
        digest of ``chain`` (the request's other prefixes, but for those whose model's summary it knew) is
        leased, or a model summary of it exists.
        """
        ...

    async def renew(self, session: SessionRef, digest: str, token: int, seconds: float) -> bool:
        """Prolong a lease; False when it is no longer this token's."""
        ...

    async def release(
        self,
        session: SessionRef,
        digest: str,
        token: int,
        *,
        failure: str | None = None,
        ttl: float,
        longest_pause: float = LONGEST_PAUSE_SECONDS,
    ) -> None:
        """Give a lease back; with ``failure`` the session backs off, longer each time in a row.

        Args:
            session: the session of the lease.
            digest: what was leased.
            token: the lease's own.
            failure: why no summary was made; None where none is told.
            ttl: seconds that the session has to live.
            longest_pause: seconds that the pause is never longer than.
        """
        ...

    async def put(
        self,
        session: SessionRef,
        compaction: Compaction,
        *,
        token: int | None,
        ttl: float,
        limit: RecordLimit | int,
        generation: str = "",
    ) -> int:
        """Store a compaction and return its version, or 0 when it was refused.

        With a ``token`` the write is refused unless the lease of ``compaction.digest`` is still this
        token's, and ends the lease. A record never replaces one of a better kind, nor (without a token) one
        of the same kind. Beyond ``limit`` compactions of the session the least recently used go.

        Args:
            limit: how many are kept; a number alone says nothing of those of one line.
        """
        ...

    async def append(
        self,
        session: SessionRef,
        event: CompactionEvent,
        *,
        ttl: float,
        generation: str = "",
        call: CallRecord | None = None,
    ) -> None:
        """Record an event, and of a call what else there is to know of it."""
        ...

    async def keep_snapshot(
        self, session: SessionRef, point: RestorePoint, bounds: SnapshotBounds, generation: str = ""
    ) -> None:
        """Keep a snapshot of a session; those beyond the bounds go."""
        ...

    async def bypass(self, session: SessionRef, reason: str, seconds: float, generation: str = "") -> None:
        """Leave this session alone for ``seconds``."""
        ...

    async def backoff(self, session: SessionRef, reason: str, seconds: float, generation: str = "") -> None:
        """Start no summary in this session for ``seconds``."""
        ...

    async def notices(self) -> Notices:
        """Return what was forgotten lately, and of which sessions something is wanted."""
        ...

    async def find_labelled(self, tenant: str, label: str) -> Sequence[SessionRef]:
        """Return the sessions of a tenant that a client named with a label, the one seen last first."""
        ...

    async def find_restored(self, tenant: str, names: Sequence[str]) -> tuple[str, RestoredBlock] | None:
        """Return the first of these names under which a block is kept, and the block.

        A block that cannot be read is as one that is not there.
        """
        ...

    async def keep_restored(
        self, tenant: str, names: Sequence[str], block: RestoredBlock, ttl: float
    ) -> None:
        """Keep a block under each of these names; the tenant is one of ``Notices.restoring`` as long."""
        ...

    async def factors(self) -> Mapping[str, float]:
        """Return calibration factors by model, as last saved by any replica."""
        ...

    async def save_factor(self, model: str, factor: float) -> None:
        """Share a calibration factor with the other replicas."""
        ...

    async def windows(self) -> Mapping[str, LearnedWindow]:
        """Return what refusals taught of deployments' windows, as saved by any replica, while it holds."""
        ...

    async def save_window(self, deployment: str, learned: LearnedWindow) -> None:
        """Share what was learned of a deployment's window with the other replicas."""
        ...

    async def policy_problems(self) -> Mapping[str, int]:
        """Return how many requests were left alone lately, by what is wrong with their policy."""
        ...

    async def add_policy_problem(self, problem: str, requests: int) -> None:
        """Count so many more of them; a problem is kept until a day after the last one of any."""
        ...

    async def ping(self) -> None:
        """Answer, or raise ``StoreError``."""
        ...

    async def try_write(self) -> None:
        """Write something of no meaning and take it away, or raise ``StoreError``, whatever the breaker says.

        A full server and a read-only replica answer what is read, and store nothing.
        """
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


LoadedSession = Callable[[Sequence[str]], Buffer]
"""What was read of a session before its request's digests were known: called with them, it returns what
``Store.load`` would have at that moment, and raises ``StoreError`` where the answer cannot be read."""


@dataclass(frozen=True, slots=True)
class OpenedConversation:
    """The answer of a store that was asked for a kept conversation.

    Attributes:
        status: ``none`` where there is no such conversation, ``busy`` where another call holds it.
        kept: the conversation; empty unless it is open.
        session: its session, read with it; None where that must be asked for.
    """

    status: Literal["open", "busy", "none"]
    kept: KeptConversation = field(default_factory=KeptConversation)
    session: LoadedSession | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Addition:
    """An exchange that is to be appended.

    Attributes:
        exchange: the exchange.
        form: the endpoint in whose form its messages are.
        version: the version of the conversation that its call read.
        replaces: number of the exchange whose place it takes, 0 for none.
        branch: it becomes a branch of its own where the conversation has gone on since.
        begun: when the conversation began that its call read; it is appended to no other one of that name.
    """

    exchange: Exchange
    form: str
    version: int
    replaces: int = 0
    branch: bool = False
    begun: str = ""


@dataclass(frozen=True, slots=True)
class Appended:
    """An exchange that was appended: its number, and the version that the conversation has now."""

    number: int
    version: int


class ConversationStore(Protocol):
    """Keeps conversations, shared by all replicas; each is a part of its session, and is erased with it.

    A *lease* lets one call at a time go on with a conversation; whoever holds it names it by a token. As in
    ``Store`` every call has a deadline and raises ``StoreError``, and everything written expires.
    """

    async def open(
        self, session: SessionRef, *, token: str, seconds: float, begin: float | None = None
    ) -> OpenedConversation:
        """Read a conversation and its session in one round trip, and take its lease for some seconds.

        Args:
            token: names the lease; empty to read without one.
            begin: seconds that a conversation is kept which begins with this call; None to begin none.
        """
        ...

    async def hold(self, session: SessionRef, token: str, seconds: float) -> bool:
        """Prolong a lease, or give it back with 0 seconds; False where it is no longer this token's."""
        ...

    async def append(
        self, session: SessionRef, addition: Addition, *, token: str, ttl: float
    ) -> Appended | None:
        """Append an exchange to the version that its call read, and give back the lease.

        Returns None, and writes nothing, where the conversation was forgotten, or has gone on since and the
        exchange may be no branch.
        """
        ...


@dataclass(frozen=True, slots=True)
class Caller:
    """The account that a summary is made on. ``metadata`` is opaque to everything but the adapter."""

    model: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One question to a summariser, of at most ``max_tokens`` of answer.

    Plain text: ``system`` and ``user``. Only where a policy shares the chat's cached prefix does ``user``
    stand behind the messages of ``prefix`` instead, with the caller's ``tools``.
    """

    model: str
    system: str
    user: str
    max_tokens: int
    timeout_seconds: float
    caller: Caller
    prefix: tuple[Mapping[str, Any], ...] = ()
    tools: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """An answer as it came back, unjudged. ``cost`` in dollars where the host knows it."""

    text: str
    finish_reason: str | None
    model: str
    cost: float | None = None
    has_tool_calls: bool = False


class Summarizer(Protocol):
    """Asks a model for a summary.

    The call is never made with the caller's stream flag, response format or (without a ``prefix``) tools,
    and never compacts itself. A summariser that holds connections may have an ``async def aclose(self)``,
    which is called once, after the last summary of the process.

    The window of ``SummaryRequest.model`` is asked of ``Models.facts``: a source that does not fit it is cut
    into pieces. Where that knows none, 16,000 tokens are assumed.
    """

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """Ask once, within ``request.timeout_seconds``; whether to ask again is the engine's to decide.

        Raises:
            SummaryDenied: the caller may not use the model. That says nothing against the model.
            SummaryRefused: the request itself is refused. The adapter may first have sent it once more,
                changed as the refusal asks for.
            SummaryTooLong: the same, because the question is too long; a shorter one is asked.
            SummaryLimited: a rate limit; the adapter does not ask again, and nor does the engine.
            SummaryTimeout: no answer in time; nor is this question asked again.
            SummaryError: any other failure; the question is asked up to three times. No other exception
                may leave a summariser.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The facts of a deployment, or of a model group.

    Attributes:
        window: tokens that it is declared to read; of a group, the fewest of its deployments. None: unknown.
        name: the name that tokens are counted by.
        deployment: what a window that refusals teach is remembered under; empty for a group.
        deployments: of a group, those that may be chosen.
    """

    window: int | None
    name: str
    deployment: str = ""
    deployments: tuple[ModelFacts, ...] = ()

    @property
    def key(self) -> str:
        """What a learnt window is kept under: the deployment, or the model where none is known."""
        return self.deployment or self.name


@dataclass(frozen=True, slots=True)
class ProviderError:
    """An error that a provider answered.

    Attributes:
        status: the HTTP status, if there was one.
        context_exceeded: the host took it for a full context.
        text: the message, with whatever stands beside it.
    """

    status: int | None
    context_exceeded: bool = False
    text: str = ""


class Models(Protocol):
    """Looks up model groups. Never raises: what is unknown is None."""

    def facts(self, model: str) -> ModelFacts:
        """Return the facts of a model group, as configured now."""
        ...
