"""The facts that a plan for one request depends on, and what follows from them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, Literal

from gateway_compaction.core.conversation.messages import Message, count_written_characters
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.planning.caches import DerivedCaches
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.recall.recall import quote_reserve
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, HistoryPrefix
from gateway_compaction.core.records.controls import SessionControls
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.redaction.marks import Redactor
from gateway_compaction.core.tokens.counter import Measure, output_reserve

LevelName = Literal["light", "medium", "aggressive"]

INDEX_TOKENS = 250_000
"""Tokens of covered messages that are indexed while a request waits: half a second at most."""

SAME_WINDOW = 0.9
"""Share of this window from which on what was made for a smaller one is used as it is."""

RECENT_CALLS = 8
"""Calls whose growth is looked at to tell how far the next ones may jump."""

EARLIEST_LIGHT = 0.5
"""Share of ``medium`` before which no summary is prepared, however far calls jump."""

LEAST_MORE = 0.1
"""Share of what is covered that a triggered summary must cover besides; less is not worth a new beginning."""

CHARS_PER_TOKEN = 4
"""Characters that count as a token where a trigger counts characters."""


def build_detector(policy: Policy) -> Detector:
    """Return what finds the secrets that a policy has masked."""
    redact = policy.redact
    return Detector(redact.secrets, redact.pii, redact.patterns)


@dataclass(frozen=True, slots=True)
class LevelTokens:
    """The usage at which each level begins for one request, in tokens.

    Attributes:
        gap: tokens between ``medium`` and ``aggressive``, which quotes may fill.
    """

    light: float
    medium: float
    aggressive: float
    gap: int

    def level_of(self, tokens: int) -> LevelName | None:
        """Return the level of a request that uses so many tokens, or None below all of them."""
        if tokens >= self.aggressive:
            return "aggressive"
        if tokens >= self.medium:
            return "medium"
        return "light" if tokens >= self.light else None


@dataclass(frozen=True, slots=True)
class SessionState:
    """All that the store and this process know of a request's session; nothing before they were asked.

    Attributes:
        compactions: what is stored for beginnings of this history.
        in_flight: a summary of the session is being made.
        bypass: why the session is sent as it came, or None.
        backoff: why no summary is to be started now, or None.
        controls: what operators asked of the session.
        client_state: what the client told of its work, in this call or an earlier one; None for nothing.
        snapped_at: when the last snapshot of the session was taken, in seconds since 1970; 0 for never.
    """

    compactions: tuple[Compaction, ...] = ()
    in_flight: bool = False
    bypass: str | None = None
    backoff: str | None = None
    controls: SessionControls = field(default_factory=SessionControls)
    client_state: ClientState | None = None
    snapped_at: float = 0.0


@dataclass(frozen=True)
class RequestContext:
    """Everything that a plan for one request depends on; equal contexts give equal plans on every replica.

    The request, its policy and how its tokens are counted come first; what is known of its session comes
    last, once the store has answered (``with_session``). What follows from these facts is derived on first
    use and kept, so that no two rules derive it differently.

    Attributes:
        chain: names of the beginnings of the history; ``chain[k]`` stands for its first k messages.
        digests: one name for each message of the history.
        measure: tokens of the request as it came, calibrated.
        window: tokens that the model reads at most.
        calibrated_tokens: tokens of a message, counted as ``measure`` does.
        raw_tokens: tokens of a text without calibration. What is written into a view is cut by this count, so
            that its bytes stay the same when the calibration moves.
        raw_message_tokens: the same of a message.
        wants_json: the request asks for JSON mode, where providers demand the word in a message.
        index_tokens: covered tokens up to which an index is built while the request waits.
        caches: results kept from earlier requests. No fact: empty ones give the same plan, later.
        session: what is known of the session.
    """

    transcript: Transcript
    chain: tuple[str, ...]
    digests: tuple[bytes, ...]
    measure: Measure
    window: int
    policy: Policy
    calibrated_tokens: Callable[[Message], int]
    raw_tokens: Callable[[str], int]
    raw_message_tokens: Callable[[Message], int]
    wants_json: bool = False
    index_tokens: int = INDEX_TOKENS
    caches: DerivedCaches = field(default_factory=DerivedCaches)
    session: SessionState = field(default_factory=SessionState)

    def with_session(self, session: SessionState) -> RequestContext:
        """Return the same request with what is known of its session."""
        return replace(self, session=session)

    @cached_property
    def levels(self) -> LevelTokens:
        """Where each level begins.

        ``light`` is the policy's share, or lower where two calls like the largest recent one would jump from
        there past ``medium``: such a session would be cut before any summary could be ready.
        """
        shares = self.policy.levels
        medium = shares.medium.at * self.window
        growth = self.largest_growth
        light = min(shares.light.at * self.window, max(medium - 2 * growth, EARLIEST_LIGHT * medium))
        aggressive = shares.aggressive.at * self.window
        return LevelTokens(light, medium, aggressive, level_gap(self.policy, self.window))

    @cached_property
    def largest_growth(self) -> int:
        """The most tokens that one of the last calls came with; the next may come with as many."""
        # Every assistant message marks a call: what lies between two of them came with one.
        roles = self.transcript.roles
        answers = (i for i in range(len(roles) - 1, -1, -1) if roles[i] == "assistant")
        latest = islice(answers, RECENT_CALLS)
        return max((self.measure.between(a, b) for b, a in pairwise(latest)), default=0)

    @cached_property
    def redactor(self) -> Redactor:
        """Masks secrets in whatever is kept or summarised; what is sent of the request keeps them."""
        return Redactor(
            build_detector(self.policy),
            self.transcript.history,
            self.digests,
            self.caches.findings,
            self.chain,
        )

    @property
    def rate(self) -> float | None:
        """The rate of the next summary: an operator's for this session, else the policy's; None for none."""
        rate = self.session.controls.rate
        return self.policy.summary.rate if rate is None else rate

    @property
    def reserved_for_quotes(self) -> int:
        """Tokens that every view keeps free for quotes: those that the gap above ``medium`` does not hold."""
        recall = self.policy.recall
        return quote_reserve(recall.max_tokens, recall.priority, self.window, self.levels.gap)

    @cached_property
    def fitting_compactions(self) -> tuple[Compaction, ...]:
        """The compactions that stand for exactly the messages this request begins with, up to a cut.

        What was shortened without a model for a smaller window is none for this one: here more can stay. Of
        such a model's summary only the shortening of the other messages is dropped.
        """
        fitting = []
        for compaction in self.session.compactions:
            covers = compaction.covers
            if covers not in self.transcript.openers and covers != 0:
                continue
            if self.chain[covers] != compaction.digest:
                continue
            if compaction.window == 0 or compaction.window >= SAME_WINDOW * self.window:
                fitting.append(compaction)
            elif compaction.kind == "model":
                fitting.append(replace(compaction, clip=None, window=0))
        return tuple(fitting)

    @property
    def sent(self) -> HistoryPrefix:
        """The name of this request's whole history, by which later calls know that they go on from here."""
        return HistoryPrefix(len(self.transcript.history), self.chain[-1])

    def goes_on_from(self, prefix: HistoryPrefix | None) -> bool:
        """Tell whether the history begins with these messages, or is them; another branch's does not."""
        if prefix is None or prefix.messages >= len(self.chain):
            return False
        return self.chain[prefix.messages] == prefix.digest

    @cached_property
    def wants_model_at_once(self) -> bool:
        """Whether a model's text replaces an extract at the next call, though the prompt cache breaks.

        So a policy wants it that says so, whose calls wait for a model, or that applies summaries as soon as
        they are there; and so does an operator who has just asked for a summary.
        """
        policy, controls = self.policy, self.session.controls
        aggressive = policy.levels.aggressive
        by_level = aggressive.replace == "at_once" or aggressive.wait_seconds > 0
        return by_level or applies_at_once(policy) or controls.compact or controls.rebuild

    @cached_property
    def summarised(self) -> int:
        """The number of messages at the beginning of the history that have a summary."""
        return max((c.covers for c in self.fitting_compactions if c.kind != "cleared"), default=0)

    @property
    def _last_coverable(self) -> int:
        """The number of messages that a new summary may cover at most."""
        return len(self.transcript.history) - self.policy.levels.medium.keep_last

    @cached_property
    def written(self) -> int:
        """The number of messages at the beginning of the history that a model has summarised."""
        return max((c.covers for c in self.fitting_compactions if c.kind == "model"), default=0)

    @cached_property
    def coverable_cuts(self) -> tuple[int, ...]:
        """The cuts up to which a new summary may cover, shortest first: the last N messages always stay."""
        cuts = tuple(cut for cut in self.transcript.cuts if cut <= self._last_coverable)
        if self.policy.summary.strategy == "turns":
            # A long turn is divided only where no other cut is left.
            openers, done = self.transcript.openers, self.summarised
            return tuple(c for c in cuts if openers[c] is None and c > done) or cuts
        return cuts

    @cached_property
    def triggered_cut(self) -> int | None:
        """The number of messages to cover since a trigger of the policy has fired, None where none has.

        A trigger counts only what a new summary could cover. If it counted the messages that always stay, it
        would fire at every call of a chat with long ones. And one that would cover hardly more than what is
        covered waits: each summary changes the beginning that the provider has cached.
        """
        cut, start = self._find_triggered_cut(), self.summarised
        if cut is None or cut <= start:
            return None
        added, covered = self.measure.between(start, cut), self.measure.between(0, start)
        return cut if added >= LEAST_MORE * covered else None

    @property
    def is_triggered(self) -> bool:
        """Whether a trigger of the policy has fired: enough turns or tokens are without a summary."""
        return self.triggered_cut is not None

    def _find_triggered_cut(self) -> int | None:
        triggers, transcript, start = self.policy.triggers, self.transcript, self.summarised
        if triggers.turns is not None:
            starts, step = transcript.turn_starts, triggers.turns
            # The turn that goes on is in none, nor one with a message that always stays.
            done = sum(end <= self._last_coverable for end in starts[1:])
            # Whole blocks of so many turns are covered.
            block = starts[done // step * step] if starts else 0
            if sum(i >= start for i in starts[:done]) >= step and block in transcript.openers:
                return block
        if triggers.tokens is None or not self.coverable_cuts:
            return None
        cut = self.coverable_cuts[-1]
        if triggers.count == "tokens":
            tokens = self.measure.between(start, max(start, cut))
        else:
            covered = transcript.history[start:cut]
            tokens = sum(count_written_characters(message) // CHARS_PER_TOKEN for message in covered)
        return cut if tokens > triggers.tokens else None


def has_triggers(policy: Policy) -> bool:
    """Tell whether a policy starts summaries by anything besides usage."""
    return policy.triggers.tokens is not None or policy.triggers.turns is not None


def applies_at_once(policy: Policy) -> bool:
    """Tell whether a policy has triggers and uses what they start as soon as it is there."""
    return policy.triggers.then == "apply" and has_triggers(policy)


def level_gap(policy: Policy, window: int) -> int:
    """Return the tokens between ``medium`` and ``aggressive``."""
    return int((policy.levels.aggressive.at - policy.levels.medium.at) * window)


def reserved_tokens(body: Mapping[str, Any], window: int, policy: Policy) -> int:
    """Return the tokens kept free: for the answer, and for quotes that the gap above medium does not hold."""
    recall = policy.recall
    quotes = quote_reserve(recall.max_tokens, recall.priority, window, level_gap(policy, window))
    return output_reserve(body, window, policy.output_reserve) + quotes


def lowest_threshold(policy: Policy, turns: int, window: int) -> int:
    """Return the tokens below which a request of so many turns needs nothing, whatever its messages are."""
    triggers, levels = policy.triggers, policy.levels
    if triggers.turns is not None and turns > triggers.turns:
        return 0
    earliest = int(min(levels.light.at, EARLIEST_LIGHT * levels.medium.at) * window)
    return min(earliest, triggers.tokens or earliest)


def find_least_tokens(policy: Policy, window: int, body: Mapping[str, Any], turns: int) -> int:
    """Return the tokens of messages and schemas below which a request of so many turns needs nothing.

    Most requests are small: a bound of their bytes is compared with this, and they are sent as they came
    before anything is counted.
    """
    return lowest_threshold(policy, turns, window) - reserved_tokens(body, window, policy)
