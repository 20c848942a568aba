"""Placing a call's messages in a kept conversation, or telling why they belong nowhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.conversation.messages import PREAMBLE_ROLES, is_by
from gateway_compaction.core.records.exchange import Item, KeptConversation
from gateway_compaction.errors import ConversationRefused

ID_HEADER = "x-conversation-id"
VERSION_HEADER = "x-conversation-version"
IF_VERSION_HEADER = "x-conversation-if-version"
AT_HEADER = "x-conversation-at"
BRANCH_HEADER = "x-conversation-branch"
KEY_HEADER = "idempotency-key"
# The SDKs of OpenAI and Anthropic count in it how often they have sent a call again.
RETRY_HEADER = "x-stainless-retry-count"

# Longest idempotency key, in characters.
LONGEST_KEY = 255


@dataclass(frozen=True, slots=True)
class ConversationWish:
    """The demands of a call on the conversations that are kept.

    Attributes:
        conversation: the id, as the client sent it; empty to begin a new one.
        at: the number of messages after which the call goes on; None for the end.
        branch: the exchange at whose end it goes on; None for the head.
        if_version: the version that the conversation must have, or None.
        key: name of its idempotency key, empty for none.
        is_retry: the SDK says that it sends the call again.
    """

    conversation: str = ""
    at: int | None = None
    branch: int | None = None
    if_version: int | None = None
    key: str = ""
    is_retry: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that a kept conversation may hold: messages of one branch, and bytes of all of them."""

    messages: int
    size: int


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a call's messages in a kept conversation.

    Attributes:
        parent: the exchange that the call goes on from, 0 for none.
        start: the number of messages that stand before the call's.
        replaces: the exchange that the call repeats, and takes the place of; 0 for none.
        preamble: what is sent first: the call's own, else the one that was sent last.
        own_preamble: the call's own; None where it has none.
        before: the messages that stand before the call's.
        new: the call's.
        digest: name of what the client sent.
    """

    parent: int
    start: int
    replaces: int
    preamble: tuple[Item, ...]
    own_preamble: tuple[Item, ...] | None
    before: tuple[Item, ...]
    new: tuple[Item, ...]
    digest: str

    @property
    def sent(self) -> list[Item]:
        """All that the model is sent: what a client would send that keeps the conversation itself."""
        return [*self.preamble, *self.before, *self.new]

    def read_brought(self, sent: Sequence[Item]) -> tuple[tuple[Item, ...] | None, tuple[Item, ...]]:
        """Return the call's own preamble and its new messages out of what was sent in the end.

        A guardrail may have masked them since: what it left is kept. One that adds messages adds them at
        the beginning, so the new ones are counted from the end.
        """
        own = None if self.own_preamble is None else tuple(sent[: len(self.own_preamble)])
        return own, tuple(sent[-len(self.new) :])


def read_wish(headers: Mapping[str, str], metadata_id: str, tenant: str) -> ConversationWish:
    """Read what a call asks for.

    Args:
        headers: the client's, with names in lower case.
        metadata_id: the id in the body's metadata, which the header's goes before.
        tenant: the hashed name of who is calling.

    Raises:
        ConversationRefused: a header holds no number.
    """
    key = headers.get(KEY_HEADER, "")
    if len(key) > LONGEST_KEY:
        raise ConversationRefused(400, "invalid_header", f"{KEY_HEADER} is longer than {LONGEST_KEY}")
    return ConversationWish(
        conversation=headers.get(ID_HEADER, "").strip() or metadata_id,
        at=_read_number(headers, AT_HEADER),
        branch=_read_number(headers, BRANCH_HEADER),
        if_version=_read_number(headers, IF_VERSION_HEADER),
        key=name_key(tenant, key) if key else "",
        is_retry=headers.get(RETRY_HEADER, "0").strip() not in ("", "0"),
    )


def place_call(
    kept: KeptConversation, wish: ConversationWish, items: Sequence[Item], form: str, bounds: Bounds
) -> Placement:
    """Decide where a call's messages belong.

    Raises:
        ConversationRefused: they belong nowhere; says why.
    """
    if kept.form and kept.form != form:
        raise ConversationRefused(
            400, "conversation_form", f"the conversation is kept in the form of {kept.form}, not of {form}"
        )
    preamble, new = split_preamble(items)
    if not new:
        raise ConversationRefused(400, "no_new_message", "the call brings no message beside its preamble")
    digest = digest_items(new)
    parent, start, replaces = _find_place(kept, wish, digest)
    before = tuple(kept.list_messages(parent, start))
    if len(before) + len(new) + 1 > bounds.messages:
        problem = f"the conversation would have more than {bounds.messages} messages (storage.max_messages)"
        raise ConversationRefused(400, "conversation_full", problem)
    if kept.size > bounds.size:
        problem = f"the conversation holds more than {bounds.size} bytes (storage.max_bytes)"
        raise ConversationRefused(400, "conversation_full", problem)
    return Placement(
        parent=parent,
        start=start,
        replaces=replaces,
        preamble=preamble or kept.find_preamble(parent),
        own_preamble=preamble or None,
        before=before,
        new=new,
        digest=digest,
    )


def _find_place(kept: KeptConversation, wish: ConversationWish, digest: str) -> tuple[int, int, int]:
    """Return the exchange to go on from, the messages before, and the exchange that is repeated."""
    repeated = _find_repeated(kept, wish, digest)
    if repeated:
        exchange = kept.exchanges[repeated]
        return exchange.parent, exchange.start, repeated
    if wish.if_version is not None and wish.if_version != kept.version:
        raise ConversationRefused(
            409, "version_mismatch", f"the conversation has version {kept.version}, not {wish.if_version}"
        )
    tip = kept.head if wish.branch is None else wish.branch
    if tip != 0 and tip not in kept.exchanges:
        raise ConversationRefused(404, "branch_not_found", f"the conversation has no exchange {tip}")
    end = kept.exchanges[tip].end if tip else 0
    if wish.at is None:
        return tip, end, 0
    if wish.at > end:
        problem = f"{AT_HEADER} is {wish.at}, but there are {end} messages"
        raise ConversationRefused(400, "message_not_found", problem)
    # The last that begins before: an earlier one may go on beyond the place where this branch leaves it.
    holder = next((n for n in reversed(kept.find_path(tip)) if kept.exchanges[n].start < wish.at), 0)
    return holder, wish.at, 0


def _find_repeated(kept: KeptConversation, wish: ConversationWish, digest: str) -> int:
    """Return the exchange that a call repeats, 0 for none.

    An idempotency key tells a repetition for certain. Without one, only a call that its SDK sends again
    (it timed out there, while we answered) and that brings the same as the last one counts: a client may
    well say "yes" twice.
    """
    last = kept.exchanges.get(kept.head)
    if wish.key:
        known = [number for number, exchange in kept.exchanges.items() if exchange.key == wish.key]
        if not known:
            return 0
        if known[-1] != kept.head or last is None or last.digest != digest:
            problem = "the idempotency key was used for another call of this conversation"
            raise ConversationRefused(409, "idempotency_key_reused", problem)
        return kept.head
    is_again = wish.is_retry and last is not None and last.digest == digest
    return kept.head if is_again and wish.at is None and wish.branch is None else 0


def _read_number(headers: Mapping[str, str], name: str) -> int | None:
    text = headers.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ConversationRefused(400, "invalid_header", f"{name} must be a whole number")
    return int(text)


def split_preamble(items: Sequence[Item]) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Divide what a call sent into the leading system and developer messages, and the new ones."""
    count = 0
    while count < len(items) and _is_preamble(items[count]):
        count += 1
    return tuple(items[:count]), tuple(items[count:])


def digest_items(items: Sequence[Item]) -> str:
    """Return a short name for what a call sent, in which the order of fields does not count."""
    return fingerprint("kept", json.dumps(items, sort_keys=True, default=str))


def name_key(tenant: str, key: str) -> str:
    """Return a short name for an idempotency key of a tenant, as long as the digits of an id."""
    return fingerprint("idempotency", tenant, key)


def _is_preamble(item: Item) -> bool:
    return any(is_by(item, role) for role in PREAMBLE_ROLES)
