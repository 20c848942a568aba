"""``ports.ConversationStore`` on Redis: conversations that the gateway keeps, each a key of its session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from gateway_compaction.adapters.redis.breaker import Breaker
from gateway_compaction.adapters.redis.codec import to_milliseconds
from gateway_compaction.adapters.redis.connection import BACKGROUND_SECONDS, RedisConnection
from gateway_compaction.adapters.redis.keys import session_keys
from gateway_compaction.adapters.redis.scripts import load_script
from gateway_compaction.adapters.redis.sealing import (
    EXCHANGE_FIELD,
    decode_session,
    open_exchange,
    seal_exchange,
)
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.exchange import Exchange, KeptConversation
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Addition, Appended, Buffer, OpenedConversation

OPEN = load_script("kept_open", "read_session")
LEASE = load_script("kept_lease")
APPEND = load_script("kept_append")

# A larger conversation is decoded on a thread, so that other requests go on.
LARGE_BYTES = 200_000

# A session of more compactions is not read with its conversation: all of them would travel for the one or two
# that fit. Most have fewer than twenty.
MOST_COMPACTIONS = 64

# What an answer that somebody tampered with may raise when it is read.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError)

# A conversation that no call has ended in is kept so long at most: most begin with a call that failed.
EMPTY_SECONDS = 3_600.0


class RedisConversations:
    """``ports.ConversationStore`` on a Redis connection; of the request path, with a breaker of its own.

    A call waits longer for its conversation than for a compaction: without that it is sent as it came,
    without the conversation it cannot be answered.
    """

    def __init__(self, connection: RedisConnection, *, seconds: float = BACKGROUND_SECONDS) -> None:
        self._connection, self._seconds, self._breaker = connection, seconds, Breaker()

    async def open(
        self, session: SessionRef, *, token: str, seconds: float, begin: float | None = None
    ) -> OpenedConversation:
        """See ``ConversationStore.open``."""
        life = "" if begin is None else to_milliseconds(min(begin, EMPTY_SECONDS))
        keys = session_keys(session, "kept", "compactions", "claims", "session")
        args = [token, to_milliseconds(seconds), life, MOST_COMPACTIONS]
        status, fields, known = await self._run(OPEN, keys, args, _read_opened)
        if sum(map(len, fields)) < LARGE_BYTES:
            kept = self._decode(fields, session)
        else:
            kept = await asyncio.to_thread(self._decode, fields, session)
        return OpenedConversation(status, kept, partial(self._load, known, session) if known else None)

    async def hold(self, session: SessionRef, token: str, seconds: float) -> bool:
        """See ``ConversationStore.hold``."""
        length = to_milliseconds(seconds) if seconds else 0
        return bool(await self._run(LEASE, session_keys(session, "kept"), [token, length], int))

    async def append(
        self, session: SessionRef, addition: Addition, *, token: str, ttl: float
    ) -> Appended | None:
        """See ``ConversationStore.append``."""
        text = seal_exchange(encode_exchange(addition.exchange), session, self._connection.vault)
        args: list[Any] = [token, addition.version, text, len(text), addition.replaces, addition.form]
        args += [to_milliseconds(ttl), "branch" if addition.branch else "", addition.begun]
        answer = await self._run(APPEND, session_keys(session, "kept"), args, list)
        return Appended(int(answer[0]), int(answer[1])) if answer else None

    def _load(self, known: Any, session: SessionRef, digests: Sequence[str]) -> Buffer:
        try:
            return decode_session(known, session, frozenset(digests), self._connection.vault)
        except UNREADABLE as error:
            raise StoreError(f"a session cannot be read: {type(error).__name__}") from error

    def _decode(self, fields: Sequence[bytes], session: SessionRef) -> KeptConversation:
        opened = [open_exchange(value, session, self._connection.vault) for value in fields]
        if None in opened:
            raise StoreError("a kept conversation cannot be opened: it was sealed with another key")
        return decode_kept([value for value in opened if value is not None])

    async def _run(self, script: Any, keys: Sequence[str], args: Sequence[Any], decode: Any) -> Any:
        return await self._connection.run(
            script, keys, args, decode, seconds=self._seconds, breaker=self._breaker
        )


def _read_opened(answer: Any) -> tuple[str, Sequence[bytes], Any]:
    status, fields, known = answer
    return status.decode(), fields, known


def encode_exchange(exchange: Exchange) -> bytes:
    """Return an exchange as bytes; a lone surrogate, which a client may send, survives."""
    return exchange.encode().encode("utf-8", "surrogatepass")


def decode_kept(fields: Sequence[bytes]) -> KeptConversation:
    """Return a conversation from the alternating names and values of its fields.

    Raises:
        StoreError: an exchange cannot be read: the conversation must not go on without it.
    """
    texts = {
        name.decode("utf-8", "replace"): value.decode("utf-8", "surrogatepass")
        for name, value in zip(fields[::2], fields[1::2], strict=True)
    }
    try:
        exchanges = {
            int(name.removeprefix(EXCHANGE_FIELD)): Exchange.decode(text)
            for name, text in texts.items()
            if name.startswith(EXCHANGE_FIELD)
        }
        return KeptConversation(
            form=texts.get("form", ""),
            version=int(texts.get("version", 0)),
            head=int(texts.get("head", 0)),
            size=int(texts.get("size", 0)),
            exchanges=dict(sorted(exchanges.items())),
            created=float(texts.get("created", 0)),
            begun=texts.get("begun", ""),
        )
    except ValueError as error:
        raise StoreError(f"a kept conversation cannot be read: {error}") from error
