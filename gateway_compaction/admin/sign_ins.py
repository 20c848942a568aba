"""Sign-ins to the page: what a browser holds in its cookie stands for a key and is none.

The cookie holds a random secret. The store holds the key, sealed with that secret, for all replicas: who
reads the store has no key, who takes a cookie has one that ends within hours, or as soon as its owner signs
out. LiteLLM judges the key with every request, so one that is taken back there opens nothing here.
"""

from __future__ import annotations

import re
import secrets

from gateway_compaction.adapters.vault import name_sign_in, open_sign_in, seal_sign_in
from gateway_compaction.archive import SignInStore
from gateway_compaction.core.conversation.digest import fingerprint

SIGN_IN_SECONDS = 4 * 3600
"""Seconds after which a browser has to sign in again, whatever it did meanwhile."""
MOST_FAILURES = 10
"""Keys that are not accepted, from one address in a minute, before no more are tried."""
SECRET_BYTES = 32
SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


class SignIns:
    """Who is signed in, over all replicas. Every method raises ``StoreError`` when the store is down."""

    def __init__(self, store: SignInStore) -> None:
        self._store = store

    async def begin(self, key: str) -> str:
        """Return the secret that stands for a key from now on."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        await self._store.keep(name_sign_in(secret), seal_sign_in(secret, key), SIGN_IN_SECONDS)
        return secret

    async def find_key(self, secret: str) -> str | None:
        """Return the key that a secret stands for; None where it stands for none, or no longer."""
        if SECRET.fullmatch(secret) is None:
            return None
        sealed = await self._store.find(name_sign_in(secret))
        return None if sealed is None else open_sign_in(secret, sealed)

    async def end(self, secret: str) -> None:
        """Let a secret stand for nothing, on every replica at once."""
        if SECRET.fullmatch(secret) is not None:
            await self._store.remove(name_sign_in(secret))

    async def may_try(self, address: str) -> bool:
        """Count an attempt, and tell whether it is within the limit of its address.

        It is counted before the key is tried, so that many at once do not get past the limit.
        """
        return await self._store.count_attempt(_source_of(address), 1) <= MOST_FAILURES

    async def forgive(self, address: str) -> None:
        """Take the count of an attempt back: its key was accepted."""
        await self._store.count_attempt(_source_of(address), -1)


def _source_of(address: str) -> str:
    """Return the name by which an address is counted: the store holds none in clear."""
    return fingerprint("sign-in", address)
