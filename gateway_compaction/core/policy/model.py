"""The schema of a policy, and the policy of one request as a value.

The attribute paths of ``Policy`` are the key paths of the policy file. The docstrings of the sections (or the
text given to ``_describe``) and the descriptions of their fields are the texts of
``config/policies.schema.json``: a change here is a change of that file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from gateway_compaction.core.policy.fields import (
    LARGEST,
    LONGEST_WAIT,
    Amount,
    Count,
    Endpoints,
    Expects,
    Header,
    LabelHeaders,
    Mode,
    Name,
    Names,
    Preset,
    Prompt,
    Replace,
    SecretPatterns,
    Section,
    Share,
    Strategy,
    Ttl,
    UnknownWindow,
    Wait,
    Weight,
    WorkNames,
)


def _describe(text: str) -> ConfigDict:
    """Return the configuration of a section that the schema describes in other words than its docstring."""
    return ConfigDict(json_schema_extra={"description": text})


class Light(Section):
    """Work is started, nothing is changed."""

    at: Share = Field(default=0.75, description="Share of the window from which a summary is prepared.")


class Medium(Section):
    """The level from which a prepared compaction is used."""

    model_config = _describe("What is ready is used.")

    at: Share = Field(default=0.85, description="Share of the window from which a compaction is used.")
    keep_last: Count = Field(default=10, description="Last messages that no compaction covers.")
    target: Share = Field(default=0.25, description="Share of the window that a new compaction leaves.")


class Aggressive(Section):
    """The request is made to fit, without a model."""

    at: Share = Field(default=0.95, description="Share of the window from which the request is made to fit.")
    keep_last: Count = Field(default=4, description="Like medium's (the smaller counts), if at all possible.")
    target: Share = Field(default=0.25, description="Share of the window that is aimed at.")
    wait_seconds: Wait = Field(default=0, description="How long a request may wait for the model first.")
    replace: Replace = Field(
        default="later",
        description="When a model's summary takes the place of an extract: later, once it no longer fits, or"
        " at_once, which breaks the provider's prompt cache once more.",
    )


class Levels(Section):
    """From which usage of the window what is done."""

    light: Light = Field(default=Light(), description="Start the work in the background.")
    medium: Medium = Field(default=Medium(), description="Use what is ready.")
    aggressive: Aggressive = Field(default=Aggressive(), description="Make it fit now.")


class Triggers(Section):
    """Reasons to start a summary besides the usage of the window."""

    model_config = _describe("What starts a summary besides the usage of the window.")

    tokens: Annotated[
        Annotated[int, Field(ge=100, le=LARGEST)] | None,
        Expects("a whole number of at least 100, or null"),
    ] = Field(default=None, description="Start when this many tokens are not summarised yet.")
    count: Annotated[Literal["tokens", "characters"], Expects("tokens or characters")] = Field(
        default="tokens", description="How those are counted: by the model's tokeniser, or by characters / 4."
    )
    turns: Annotated[
        Annotated[int, Field(ge=1, le=LARGEST)] | None, Expects("a whole number of at least 1, or null")
    ] = Field(default=None, description="Start when this many finished turns are not summarised yet.")
    then: Annotated[Literal["prepare", "apply"], Expects("prepare or apply")] = Field(
        default="prepare", description="Only prepare the summary, or also use it once it is there."
    )
    wait_seconds: Wait = Field(
        default=0, description="How long a triggered request may wait for its summary."
    )


class Summary(Section):
    """Who summarises, how, and how long the result may be."""

    model: Annotated[
        Name | None, Expects("a model group, extractive for no model, or null for the request's own")
    ] = Field(default=None, description="Model group that summarises; null: the request's; extractive: none.")
    fallbacks: Names = Field(default=(), description="Model groups asked in turn when the first one fails.")
    strategy: Strategy = Field(
        default="segments",
        description="How it grows: segments, one rolling text, one per group of turns, or a note only.",
    )
    prompt: Prompt = Field(
        default="general",
        description="A built-in prompt, or a text file beside the policy file that is the whole prompt.",
    )
    max_tokens: Annotated[
        Literal["auto"] | Annotated[int, Field(ge=50, le=LARGEST)],
        Expects("auto or a whole number of at least 50"),
    ] = Field(
        default="auto", description="Longest summary; auto: 2 % of the window, from 500 to 4000 tokens."
    )
    rate: Annotated[
        Annotated[float, Field(ge=0.1, le=0.5)] | None, Expects("a number from 0.1 to 0.5, or null")
    ] = Field(
        default=None, description="Length of a summary as a share of what it replaces; null: max_tokens."
    )
    thinking_tokens: Annotated[
        Literal["auto"] | Annotated[int, Field(ge=0, le=LARGEST)],
        Expects("auto, or a whole number of at least 0"),
    ] = Field(
        default="auto",
        description="Tokens for a summariser's thoughts before it writes; auto: 512, more where it needs it.",
    )
    preserve_keys: Names = Field(default=(), description="Names whose values a summary must keep verbatim.")
    message_chars: Annotated[
        Annotated[int, Field(ge=100, le=LARGEST)] | None,
        Expects("a whole number of at least 100, or null"),
    ] = Field(default=None, description="Longest message shown to the summariser, in characters.")
    share_prefix: Annotated[bool, Expects("true or false")] = Field(
        default=False,
        description="Ask the request's own model behind the messages it has just read, as its prompt cache"
        " holds them: with the caller's tools, text not fenced. Only where model is null.",
    )
    timeout_seconds: Annotated[
        float, Field(gt=0, le=LONGEST_WAIT), Expects("seconds above 0 and at most 3600")
    ] = Field(default=60, description="How long one call to a summariser may take.")
    _prompt_text: str | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Take the text of a prompt file from the validation context.

        No key can set it: otherwise a metadata block could bring a prompt of its own.
        """
        if context:
            self._prompt_text = context.get("prompts", {}).get(self.prompt)

    @property
    def prompt_text(self) -> str | None:
        """The text of the file that ``prompt`` names, or None for a built-in prompt."""
        return self._prompt_text


class Weights(Section):
    """The weight of each kind of fact when pins are chosen."""

    model_config = _describe("How much each kind of fact counts when pins are chosen.")

    explicit: Weight = Field(default=1.0, description="What the user asked to remember.")
    decision: Weight = Field(default=0.8, description="Decisions.")
    tool_result: Weight = Field(default=0.7, description="Findings in tool results.")
    keyword: Weight = Field(default=0.5, description="Sentences with telling words.")


class Anchors(Section):
    """Short verbatim facts and rules (pins) that survive every summary."""

    max: Amount = Field(default=5, description="Most pinned facts; 0: none.")
    constraints_max_tokens: Amount = Field(default=400, description="Most tokens of pinned rules; 0: none.")
    weights: Weights = Field(default=Weights(), description="How pins are chosen.")


class Recall(Section):
    """Verbatim excerpts of covered messages that the current question needs."""

    max_tokens: Annotated[
        Literal["auto"] | Annotated[int, Field(ge=0, le=LARGEST)],
        Expects("auto, or a whole number of at least 0 (0: off)"),
    ] = Field(
        default="auto",
        description="Most tokens recalled before one message; auto: by the priority; 0: off.",
    )
    priority: Annotated[Literal["cost", "balanced", "evidence"], Expects("cost, balanced or evidence")] = (
        Field(
            default="balanced",
            description="What auto weighs more; cost: 1 % of the window, 400 to 2000, less below 8000;"
            " balanced: 960 to 2000; evidence: 2 %, 1600 to 4000.",
        )
    )


class Labels(Section):
    """Ids that clients send. They label sessions for people and never find one."""

    headers: LabelHeaders = Field(
        default=("x-session-id", "x-litellm-session-id"), description="Request headers read as labels."
    )


class Snapshots(Section):
    """The states of a session that are kept to go back to."""

    number: Amount = Field(default=20, description="Most snapshots of one session, the latest; 0: none.")
    age: Ttl = Field(default=7 * 86_400, description="How long one is kept.")
    interval: Ttl = Field(
        default=1_800, description="One is taken when this much time with calls has passed since the last."
    )


class Storage(Section):
    """The part of a session that is stored, and for how long."""

    model_config = _describe("What is stored of a session, and for how long.")

    ttl: Ttl = Field(default=7 * 86_400, description="How long an unused session is kept.")
    content: Annotated[Literal["full", "summaries", "none"], Expects("full, summaries or none")] = Field(
        default="summaries", description="full: source messages too; summaries; none: no text at all."
    )
    max_compactions: Count = Field(default=2000, description="Most compactions kept of one session.")
    max_versions: Count = Field(
        default=16, description="Most versions kept of one line, each built on the one before."
    )
    max_messages: Count = Field(default=2000, description="Most messages of a conversation that is kept.")
    max_bytes: Count = Field(default=8_000_000, description="Most bytes of it, with all its branches.")
    snapshots: Snapshots = Field(default=Snapshots(), description="States of a session to go back to.")


class Restore(Section):
    """The bounds of what a new conversation is told of an earlier one, and whether clients may ask for it."""

    allow: Annotated[bool, Expects("true or false")] = Field(
        default=True, description="Whether clients may begin a conversation where another ended, by header."
    )
    summary_chars: Annotated[
        Literal["auto"] | Annotated[int, Field(ge=0, le=LARGEST)],
        Expects("auto, or a whole number of at least 0"),
    ] = Field(
        default="auto",
        description="Characters of the running summary; auto: 700, of Korean, Japanese and Chinese 400, and"
        " up to four times as many for windows above 32,768 tokens.",
    )
    recent_tokens: Annotated[
        Literal["auto"] | Annotated[int, Field(ge=0, le=LARGEST)],
        Expects("auto, or a whole number of at least 0"),
    ] = Field(
        default="auto",
        description="Tokens of its last messages; auto: 800, and up to four times as many for windows above"
        " 32,768 tokens. Never more than a fifth of the window.",
    )
    reset_on: WorkNames = Field(
        default=("plan", "task"), description="A change of these begins a new running summary."
    )


class Conversation(Section):
    """Who keeps a conversation: the client, which sends all of it, or the gateway."""

    keep: Annotated[Literal["client", "gateway"], Expects("client or gateway")] = Field(
        default="client",
        description="client: it sends its whole history; gateway: it sends its new messages and an id.",
    )
    parallel: Annotated[Literal["refuse", "wait", "branch"], Expects("refuse, wait or branch")] = Field(
        default="refuse", description="A second call at once gets 409, waits, or makes a branch."
    )
    wait_seconds: Wait = Field(default=30, description="How long it waits before it gets 409 after all.")
    stream_event: Annotated[bool, Expects("true or false")] = Field(
        default=False, description="A stream begins with an event that names the conversation."
    )


class SingleMessage(Section):
    """The bounds of the one message that ``layout: single_message`` makes of a conversation."""

    recent_messages: Count = Field(default=6, description="Most messages before the present one in it.")
    message_chars: Annotated[int, Field(ge=100, le=LARGEST), Expects("a whole number of at least 100")] = (
        Field(default=2_000, description="Most characters of each of them.")
    )


class Redact(Section):
    """The secrets that are replaced by marks in whatever is stored, summarised, logged or shown."""

    secrets: Annotated[bool, Expects("true or false")] = Field(
        default=True, description="Mask keys, tokens, passwords and numbers of payment cards."
    )
    pii: Annotated[bool, Expects("true or false")] = Field(
        default=False, description="Mask Korean resident and phone numbers, and e-mail addresses."
    )
    patterns: SecretPatterns = Field(
        default=(), description="Mask whatever these regular expressions match as well."
    )


class Bypass(Section):
    """A client's way to switch compaction off for one request, or to ask for it."""

    model_config = _describe("How a client switches compaction off for one request, or asks for it.")

    header: Header = Field(
        default="x-compaction", description="The header; off: leave this request alone; now: compact it."
    )
    allow: Annotated[bool, Expects("true or false")] = Field(
        default=True, description="Whether clients may do so."
    )


class PolicyBody(Section):
    """The keys that ``defaults``, an entry of ``policies`` and a metadata block have in common."""

    mode: Mode = Field(
        default="enforce", description="enforce: rewrite; observe: only say what would be done; off."
    )
    preset: Preset = Field(
        default="hybrid", description="Named values that the keys beside it are laid over."
    )
    optimize: Annotated[Literal["fit", "cost"], Expects("fit or cost")] = Field(
        default="fit",
        description="fit: the defaults as they are; cost: those not written here follow the model's price of"
        " cached tokens.",
    )
    endpoints: Endpoints = Field(
        default=("chat", "messages", "responses"), description="Endpoints whose requests are looked at."
    )
    note: Annotated[Literal["light", "all"], Expects("light or all")] = Field(
        default="light",
        description="Which calls are recorded: those from level light on; all: from the fourth message on.",
    )
    context_window: Annotated[
        Annotated[int, Field(ge=200, le=LARGEST)] | None,
        Expects("a whole number of at least 200, or null"),
    ] = Field(default=None, description="Tokens of the window; null: the smallest deployment of the group.")
    unknown_window: UnknownWindow = Field(
        default="learn",
        description="Where no window is known; learn: from the provider's refusals; assume N: tokens; leave.",
    )
    length_refusals: Annotated[
        Literal["fallback", "compact", "pass"], Expects("fallback, compact or pass")
    ] = Field(
        default="fallback",
        description="Refused as too long: compact further and ask again; LiteLLM's fallback first; pass.",
    )
    provider_compaction: Annotated[Literal["leave", "compact"], Expects("leave or compact")] = Field(
        default="leave",
        description="Requests that ask the provider to shorten their history: leave them; compact them too.",
    )
    output_reserve: Annotated[
        Literal["auto", "request", "none"] | Annotated[int, Field(ge=0, le=LARGEST)],
        Expects("auto, request, none or a number of tokens of at least 0"),
    ] = Field(
        default="auto",
        description="Tokens kept for the answer; request: its max_tokens; auto: at most half the window.",
    )
    layout: Annotated[Literal["messages", "single_message"], Expects("messages or single_message")] = Field(
        default="messages",
        description="single_message: summary, last messages and the present one as one message of the user.",
    )
    single_message: SingleMessage = Field(default=SingleMessage(), description="What stands in that one.")
    levels: Levels = Field(default=Levels(), description="From which usage what is done.")
    triggers: Triggers = Field(default=Triggers(), description="What starts a summary besides usage.")
    summary: Summary = Field(default=Summary(), description="Who summarises, and how.")
    anchors: Anchors = Field(default=Anchors(), description="Facts and rules that stay verbatim.")
    recall: Recall = Field(default=Recall(), description="Excerpts that the question needs.")
    labels: Labels = Field(default=Labels(), description="Ids that clients send.")
    storage: Storage = Field(default=Storage(), description="What is stored, and for how long.")
    conversation: Conversation = Field(default=Conversation(), description="Who keeps a conversation.")
    restore: Restore = Field(default=Restore(), description="What a later conversation is told.")
    redact: Redact = Field(default=Redact(), description="Which secrets are masked in what is kept.")
    bypass: Bypass = Field(default=Bypass(), description="A client's way to switch off.")


class Policy(PolicyBody):
    """The policy of one request, complete and consistent; the result of ``PolicyBook.resolve``.

    A ``PolicyBody`` may be partial: keys that were not written have their defaults there, but are told apart
    by ``model_fields_set`` (see ``flatten``). A ``Policy`` is whole, and so only here is it checked that its
    values hold together: with ``levels.light.at`` above ``levels.medium.at``, say, a request would be
    rewritten before any summary was prepared.
    """

    name: str = Field(default="default", description="Name of the highest-ranking policy that matched.")

    @model_validator(mode="after")
    def _check_order(self) -> Policy:
        values = flatten(self)
        for conflict in find_conflicts(values):
            raise ValueError(f"{conflict.low} must be below {conflict.high}")
        for need in find_unmet_needs(values):
            raise ValueError(need.text)
        return self


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two paths in the wrong order: the value of ``low`` must be below that of ``high``."""

    low: str
    high: str


# Preparing comes before using, using before forcing; a compaction must leave less than what starts the next
# one, or every call would make one; and the answer's tokens are a part of the window.
ORDERED_PAIRS = (
    Conflict("levels.light.at", "levels.medium.at"),
    Conflict("levels.medium.at", "levels.aggressive.at"),
    Conflict("levels.medium.target", "levels.light.at"),
    Conflict("levels.aggressive.target", "levels.medium.at"),
    Conflict("output_reserve", "context_window"),
)


def find_conflicts(values: Mapping[str, Any]) -> tuple[Conflict, ...]:
    """Return the pairs of ``values`` (by path, see ``flatten``) that do not hold together."""
    return tuple(pair for pair in ORDERED_PAIRS if not _is_in_order(values[pair.low], values[pair.high]))


@dataclass(frozen=True, slots=True)
class Need:
    """A value that makes no sense unless another path has some value."""

    path: str
    value: str
    needed_path: str
    needed_value: str

    @property
    def text(self) -> str:
        """The need in words."""
        return f"{self.path}: {self.value} needs {self.needed_path}: {self.needed_value}"


# What the gateway keeps is the text of messages.
NEEDS = (Need("conversation.keep", "gateway", "storage.content", "full"),)


def find_unmet_needs(values: Mapping[str, Any]) -> tuple[Need, ...]:
    """Return the needs of ``values`` (by path, see ``flatten``) that are not met."""
    return tuple(
        need
        for need in NEEDS
        if values[need.path] == need.value and values[need.needed_path] != need.needed_value
    )


def _is_in_order(low: Any, high: Any) -> bool:
    # output_reserve may be a word, context_window null: neither can be compared before a request is there.
    if isinstance(low, str) or high is None:
        return True
    return bool(low < high)


def flatten(section: Section, *, only_set: bool = False) -> dict[str, Any]:
    """Return the values of a section by path, such as ``levels.medium.at``.

    Args:
        section: a whole policy or a partial one.
        only_set: only values that were written. That is what makes a policy partial: a default that nobody
            wrote must not cover what a weaker layer wrote.
    """
    values: dict[str, Any] = {}
    for name in type(section).model_fields:
        if only_set and name not in section.model_fields_set:
            continue
        value = getattr(section, name)
        if isinstance(value, Section):
            inner = flatten(value, only_set=only_set)
            values |= {f"{name}.{path}": one for path, one in inner.items()}
        else:
            values[name] = value
    return values


def list_paths() -> tuple[str, ...]:
    """List every path that a policy file can set, in the order of the schema."""
    return tuple(flatten(PolicyBody()))
