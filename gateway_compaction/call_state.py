"""One call on its way through LiteLLM: what its hooks share, and how engine and client see it.

Everything that names LiteLLM's fields of a request, of an identity or of a log record stands here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from gateway_compaction.archive import Owner
from gateway_compaction.client_metadata import METADATA_FIELDS, NOTHING_TOLD, ToldState
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.endpoints.logged_answer import read_logged_answer
from gateway_compaction.core.endpoints.read import read_conversation
from gateway_compaction.core.endpoints.wire import EndpointName, WireConversation
from gateway_compaction.core.planning.placement import BRANCH_HEADER, ID_HEADER, VERSION_HEADER
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.core.records.savings import CacheUse
from gateway_compaction.core.summary.restore import insert_restored
from gateway_compaction.engine.kept_conversations import KeptCall
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Decision, Planned, Request, Untouched
from gateway_compaction.engine.restoring import Restored
from gateway_compaction.errors import TranscriptError
from gateway_compaction.ports import Caller, ModelFacts

KEY = "gateway_compaction"
"""The name of the call's state in LiteLLM's call details, and of what is told on spans."""

BLOCK = "compaction"
"""The key of a policy in the metadata of teams and keys."""

STATE_HEADER = "x-session-state"
"""The header in which the client is told what becomes of the work that it tells of."""

LONGEST_HEADER = 200
"""Characters of a response header; reasons may quote other people's words."""

ENDED_BEFORE = {"x-compaction": "none", "x-compaction-reason": "the call ended before it was looked at"}
"""The headers of a call about which nothing could be decided."""

BODY_LABELS = ("session_id", "conversation_id", "thread_id", "chat_id", "litellm_session_id")
"""Fields of a request's body by which clients name a conversation."""


@dataclass(slots=True, repr=False)
class CallState:
    """The state that the hooks of one call share.

    Attributes:
        auth: LiteLLM's authenticated identity.
        data: the request as it was when our hook first saw it.
        endpoint: the endpoint that the client called.
        conversation: the conversation that was decided about; None until then.
        values: what the body's field of messages held: as it came, and as it was written since.
        base: what was decided about the request as the client sent it; None until then.
        decision: the same, or what that became for the deployment that is asked now.
        deferred: another hook comes after ours, so the deployment hook decides.
        deployment: the facts of the deployment that is asked now.
        again: what was decided for the next attempt, after the deployment refused the last one as too long.
        asked_again: how often that was.
        judged: the provider's error that was looked at last.
        failed: a fault of ours; the request goes on unchanged.
        altered: another hook has changed what was decided about, so nothing of that is kept.
        ending: how the call ended, once it did.
        refused: the provider's refusal was recorded.
        released: the proxy has let the answer go.
        followed: what follows a call was started.
        kept: the call of a conversation that the gateway keeps; None where the client keeps it.
        restored: the block that the conversation begins with, if it goes on from an earlier one.
        unrestored: why it does not, though the client asks for it.
        told: what the client tells of its work, and what of it cannot be used.
        answer: what the model answered, where a later call is to be known by it.
    """

    auth: Any
    data: Mapping[str, Any] = field(default_factory=dict)
    endpoint: EndpointName = "chat"
    conversation: WireConversation | None = None
    values: tuple[Any, ...] = ()
    base: Decision | None = None
    decision: Decision | None = None
    deferred: bool = False
    deployment: ModelFacts | None = None
    again: Decision | None = None
    asked_again: int = 0
    judged: Exception | None = None
    failed: bool = False
    altered: bool = False
    ending: Ending | None = None
    refused: bool = False
    released: bool = False
    followed: bool = False
    kept: KeptCall | None = None
    restored: Restored | None = None
    unrestored: str | None = None
    told: ToldState = NOTHING_TOLD
    answer: Message | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> CallState:
        # Loggers copy call details; there is one state for each call.
        return self

    def __repr__(self) -> str:
        return f"<CallState {self.decision.outcome if self.decision else None}>"


@dataclass(frozen=True, slots=True)
class UncoveredCall:
    """A call through a door that compaction does not cover; it stands where a covered one has its state."""

    door: str

    def __deepcopy__(self, memo: dict[int, Any]) -> UncoveredCall:
        return self


@dataclass(frozen=True, slots=True)
class EmptyCall:
    """A call of a covered door whose body holds no messages; it stands where another has its state."""

    def __deepcopy__(self, memo: dict[int, Any]) -> EmptyCall:
        return self


def details_of(logging_obj: Any) -> dict[str, Any]:
    """Return the details that all hooks of a call share; where it has none, a dict that nobody keeps."""
    details = getattr(logging_obj, "model_call_details", None)
    return details if isinstance(details, dict) else {}


def find_state(logging_obj: Any) -> CallState | None:
    """Return the state of the call that LiteLLM's logging object is about, None where it is not ours."""
    state = details_of(logging_obj).get(KEY)
    return state if isinstance(state, CallState) else None


def tenant_of(auth: Any) -> str:
    """Return the hashed name of who is calling: team, else user, else key; an end user narrows it."""
    for kind, value in (("team", "team_id"), ("user", "user_id"), ("key", "api_key")):
        owner = getattr(auth, value, None)
        if owner:
            return fingerprint("tenant", kind, str(owner), str(getattr(auth, "end_user_id", None) or ""))
    return fingerprint("tenant", "public", "", str(getattr(auth, "end_user_id", None) or ""))


def owner_of(auth: Any) -> Owner:
    """Return whose a call is, for operators; of the key's token, a hash already, only a hash is kept."""
    token = getattr(auth, "api_key", None)
    return Owner(
        team_id=_text(auth, "team_id"),
        team=_text(auth, "team_alias") or _text(auth, "team_id"),
        user_id=_text(auth, "user_id"),
        key_hash=fingerprint(str(token)) if token else None,
        key_alias=_text(auth, "key_alias"),
        end_user=_text(auth, "end_user_id"),
    )


def _text(auth: Any, name: str) -> str | None:
    value = getattr(auth, name, None)
    return str(value) if value else None


def identity_of(auth: Any, model: str, metadata: Mapping[str, Any]) -> Identity:
    """Return what policies match on."""
    tags = metadata.get("tags")
    return Identity(
        team_id=auth.team_id,
        team_alias=auth.team_alias,
        key_alias=auth.key_alias,
        user_id=auth.user_id,
        model=model,
        tags=tuple(str(t) for t in tags) if isinstance(tags, list) else (),
        team_block=_block(auth.team_metadata),
        key_block=_block(auth.metadata),
    )


def metadata_field(data: Mapping[str, Any]) -> str:
    """Return the field in which LiteLLM keeps what it knows of a call: where ``metadata`` is a client's own
    field of the endpoint, that is another one."""
    return METADATA_FIELDS[1] if METADATA_FIELDS[1] in data else METADATA_FIELDS[0]


def metadata_of(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what LiteLLM knows of a call."""
    metadata = data.get(metadata_field(data))
    return metadata if isinstance(metadata, Mapping) else {}


def field_of(endpoint: EndpointName) -> str:
    """Return the field of a body that holds the messages."""
    return "input" if endpoint == "responses" else "messages"


def holds_messages(endpoint: EndpointName, body: Mapping[str, Any]) -> bool:
    """Tell whether a body holds messages: a list of them, or of Responses one text."""
    value = body.get(field_of(endpoint))
    return bool(value) and (isinstance(value, list) or (endpoint == "responses" and isinstance(value, str)))


def read_body(state: CallState, value: Any) -> WireConversation:
    """Return the conversation of a call whose field of messages has some value; the rest is as it came."""
    conversation = read_conversation(state.endpoint, {**state.data, field_of(state.endpoint): value})
    if state.restored is None:
        return conversation
    messages = insert_restored(conversation.messages, state.restored.block.text)
    return replace(conversation, messages=messages)


def request_of(state: CallState, conversation: WireConversation) -> Request:
    """Return the request as the compactor sees it, with the messages of a conversation."""
    first, auth = state.data, state.auth
    metadata = metadata_of(first)
    model = str(first.get("model"))
    sent = first.get("proxy_server_request") or {}
    return Request(
        messages=conversation.messages,
        body={k: v for k, v in conversation.body.items() if k not in METADATA_FIELDS},
        model=model,
        tenant=tenant_of(auth),
        identity=replace(identity_of(auth, model, metadata), endpoint=state.endpoint),
        caller=Caller(model, {**metadata, **_tag_filtering(first), "user_api_key_auth": auth}),
        headers=headers_of(first),
        body_labels=_body_labels(sent.get("body")) + ((state.kept.id,) if state.kept else ()),
        endpoint=state.endpoint,
        left_alone=conversation.left_alone,
        managed=conversation.managed,
        size=conversation.size,
        about={name: value for name, value in asdict(owner_of(auth)).items() if value},
        conversation=state.kept.session.key if state.kept else "",
        client_state=state.told[0],
    )


def headers_of(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the client's headers, with names in lower case."""
    sent = data.get("proxy_server_request") or {}
    return {str(k).lower(): _decode_header(str(v)) for k, v in (sent.get("headers") or {}).items()}


def list_items(value: Any) -> list[Any]:
    """Return the entries of a body's field of messages; of Responses one text is one message."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else list(value)


def list_sent(state: CallState) -> list[Any]:
    """Return all that a call of a kept conversation sent, as guardrails left it, before compaction."""
    assert state.kept is not None
    return list_items(state.values[0]) if state.values else state.kept.placement.sent


def find_exchange(state: CallState) -> int:
    """Return the number of the exchange that holds what a call of a kept conversation sent; 0 for none.

    None does where more was decided about than the conversation: a block, or what a guardrail added.
    """
    if state.kept is None or state.kept.appended is None or state.restored is not None:
        return 0
    is_whole = len(list_sent(state)) == len(state.kept.placement.sent)
    return state.kept.appended.number if is_whole else 0


def _tag_filtering(data: Mapping[str, Any]) -> dict[str, bool]:
    """Return whether key or team have their requests routed by tags; the router takes it as an argument."""
    settings = data.get("router_settings_override")
    override = settings.get("enable_tag_filtering") if isinstance(settings, Mapping) else None
    wanted = override is True or data.get("enable_tag_filtering") is True
    return {"enable_tag_filtering": True} if wanted else {}


def write_decision(state: CallState, decision: Decision) -> Any:
    """Return the value for the body's field of messages that a decision comes to, and remember it."""
    assert state.conversation is not None
    value = state.values[0]
    if is_rewritten(state, decision):
        value = state.conversation.write(decision.sent)
        state.values = (state.values[0], *state.values[1:2], value)
    return value


def is_rewritten(state: CallState, decision: Decision) -> bool:
    """Tell whether something else is sent than what the client sent."""
    return decision.messages is not None or state.restored is not None or decision.is_laid_out


def has_decision_for(state: CallState, value: Any) -> bool:
    """Tell whether a value of the field of messages is what was decided about, or what that became."""
    return state.base is not None and any(known is value or known == value for known in state.values)


def is_edited(state: CallState) -> bool:
    """Tell whether the messages that were decided about were edited in place since; they are read again."""
    if state.base is None or isinstance(state.base, Untouched):
        # Nothing was kept of them.
        return False
    context = state.base.context
    try:
        now = parse_transcript(read_body(state, state.values[0]).messages)
    except TranscriptError:
        return True
    same = now.preamble == context.transcript.preamble
    return not same or now.digests != context.digests


def ending_of(kwargs: Mapping[str, Any], response: Any) -> Ending:
    """Return how a call ended that LiteLLM logs as a success."""
    metadata = (kwargs.get("litellm_params") or {}).get("metadata") or {}
    if kwargs.get("cache_hit") is True:
        return Ending("cached")
    if metadata.get("client_disconnected") is True:
        return Ending("disconnected")
    usage = _usage_of(kwargs, response)
    reported = _get(usage, "prompt_tokens")
    counted = reported if isinstance(reported, int) and reported > 0 else None
    return Ending("answered", counted, prompt_cache=_prompt_cache_of(usage))


def answer_of(response: Any) -> Message | None:
    """Return what the model answered in a response that LiteLLM logs; None where that is not known."""
    dump = getattr(response, "model_dump", None)
    return read_logged_answer(dump() if callable(dump) else response)


def _usage_of(kwargs: Mapping[str, Any], response: Any) -> Any:
    """Return the provider's report under the names of Chat Completions, which LiteLLM logs for all."""
    usage = getattr(response, "usage", None)
    if _get(usage, "prompt_tokens") is not None:
        return usage
    logged = kwargs.get("standard_logging_object") or {}
    return (logged.get("metadata") or {}).get("usage_object") or logged


def _get(value: Any, name: str) -> Any:
    """Return an entry of a mapping, or an attribute of anything else; None where there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _prompt_cache_of(usage: Any) -> CacheUse | None:
    """Return what a provider says of its prompt cache; LiteLLM brings all their words for it to one form."""
    details = _get(usage, "prompt_tokens_details")
    read, *written = (
        _get(details, name) for name in ("cached_tokens", "cache_creation_tokens", "cache_write_tokens")
    )
    wrote = max((n for n in written if isinstance(n, int)), default=None)
    if not isinstance(read, int) and wrote is None:
        return None
    return CacheUse(max(0, read) if isinstance(read, int) else 0, max(0, wrote or 0))


def build_response_headers(state: CallState) -> dict[str, str]:
    """Return the headers that tell the client what was done."""
    decision = state.decision
    more = {**_describe_kept(state), **_describe_restored(state), **_describe_told(state)}
    if decision is None and state.failed:
        return {"x-compaction": "failed", "x-compaction-reason": "a fault in the gateway", **more}
    if decision is None:
        # Another hook has blocked it, or it was not sent, before the deployment hook could decide.
        return {**ENDED_BEFORE, **more}
    headers: dict[str, Any] = {"x-compaction": decision.outcome, **more}
    headers |= {
        f"x-compaction-{name.replace('_', '-')}": value for name, value in _describe(decision).items()
    }
    return {name: _to_header(value) for name, value in headers.items() if value not in (None, "", 0)}


def _describe_kept(state: CallState) -> dict[str, str]:
    """Return the headers of a kept conversation: its id, and its version once this call has ended well."""
    if state.kept is None:
        return {}
    call, headers = state.kept, {ID_HEADER: state.kept.id}
    if call.appended is not None:
        headers[VERSION_HEADER] = str(call.appended.version)
        headers[BRANCH_HEADER] = str(call.appended.number)
    elif not call.is_over:
        headers[VERSION_HEADER] = str(call.version + 1)
    return headers


def _describe_restored(state: CallState) -> dict[str, str]:
    """Return the header that names the conversation that a call was told of, or why it was told of none."""
    if state.unrestored is not None:
        told = f"no: {state.unrestored}"
    elif state.restored is None:
        return {}
    elif state.decision is not None:
        told = state.restored.block.source
    else:
        # The block is put in by what the decision comes to.
        told = "no: a fault in the gateway" if state.failed else "no: the call ended before it was looked at"
    return {"x-conversation-restored": _to_header(told)}


def _describe_told(state: CallState) -> dict[str, str]:
    """Return the header that says what becomes of the work that a client tells of."""
    told, faults = state.told
    if told is None and not faults:
        return {}
    decision = state.decision
    if told is None:
        said = "no"
    elif not isinstance(decision, Planned):
        said, faults = "no", ("this call is not recorded", *faults)
    elif decision.policy.storage.content == "none":
        said, faults = "no", ("storage.content is none", *faults)
    else:
        said = "kept"
    return {STATE_HEADER: _to_header(": ".join([said, "; ".join(faults)]) if faults else said)}


def describe_call(call: Any, covered: Sequence[str]) -> dict[str, str] | None:
    """Return the headers for what the hooks know of a call; None says that it met no hook.

    A client that finds no header cannot tell a call that needed nothing from one that never came past.
    """
    if isinstance(call, CallState):
        return build_response_headers(call)
    if call is None:
        # Its key was refused, or LiteLLM refused the request, before any hook was called.
        return dict(ENDED_BEFORE)
    if isinstance(call, EmptyCall):
        return {"x-compaction": "none", "x-compaction-reason": "the request holds no messages"}
    if not isinstance(call, UncoveredCall):
        return None
    reason = f"calls of {call.door} are not covered; those of {', '.join(covered)} are"
    return {"x-compaction": "uncovered", "x-compaction-reason": reason}


def set_span_attributes(state: CallState) -> None:
    """Say the same on the request's span, where LiteLLM's OpenTelemetry callback has started one."""
    span, decision = getattr(state.auth, "parent_otel_span", None), state.decision
    if span is None or decision is None:
        return
    attributes = {"outcome": decision.outcome, "policy": decision.policy.name, **_describe(decision)}
    span.set_attributes({f"{KEY}.{name}": v for name, v in attributes.items() if v not in (None, "")})


def set_spend_metadata(state: CallState, data: Mapping[str, Any]) -> None:
    """Say in the call's metadata what was saved, for LiteLLM's own pages."""
    decision = state.decision
    metadata = data.get(metadata_field(data))
    if decision is None or decision.tokens_before is None or not isinstance(metadata, dict):
        return
    before, after = decision.tokens_before, decision.tokens_after or 0
    metadata["compression_savings"] = {
        "tokens_before": before,
        "tokens_after": after,
        "tokens_saved": max(0, before - after),
        "source": "gateway_compaction",
    }


def _describe(decision: Decision) -> dict[str, Any]:
    """Return what clients and traces are told of a decision besides its outcome.

    A new entry becomes a response header and a span attribute: README.md and docs/metrics.md list them. Its
    value must be an attribute of all three decisions of ``engine.request``; headers leave out 0, empty and
    None.
    """
    return {
        "reason": decision.reason,
        "level": decision.level,
        "tokens_before": decision.tokens_before,
        "tokens_after": decision.tokens_after,
        "version": decision.version,
        "session": decision.session.session_id if decision.session else None,
    }


def _to_header(value: Any) -> str:
    # Reasons may quote other people's words: a header is one line of ASCII.
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in str(value))[:LONGEST_HEADER]


def _decode_header(value: str) -> str:
    """Decode a header's text: servers take each byte for a character (Latin-1), clients mostly mean UTF-8."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _block(metadata: Any) -> Mapping[str, Any] | None:
    block = metadata.get(BLOCK) if isinstance(metadata, Mapping) else None
    return block if isinstance(block, Mapping) else None


def _body_labels(body: Any) -> tuple[str, ...]:
    if not isinstance(body, Mapping):
        return ()
    metadata = body.get("metadata")
    places = (body, metadata) if isinstance(metadata, Mapping) else (body,)
    values = (place.get(name) for place in places for name in BODY_LABELS)
    return tuple(str(value) for value in values if isinstance(value, (str, int)))
