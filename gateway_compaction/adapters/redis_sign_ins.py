"""``archive.SignInStore`` on Redis: who is signed in to the page, and who tried to be."""

from __future__ import annotations

from gateway_compaction.adapters.redis.codec import to_milliseconds
from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.keys import SIGN_IN_ATTEMPTS, SIGN_INS
from gateway_compaction.adapters.redis.scripts import load_script

SIGN_IN = load_script("sign_in")
ATTEMPT = load_script("sign_in_attempt")

# Browsers that are signed in at a time, and addresses whose attempts are counted within a minute.
MOST_SIGN_INS = 1_000
MOST_SOURCES = 10_000
TOO_MANY = 1_000_000
MINUTE_SECONDS = 60.0


class RedisSignIns:
    """``archive.SignInStore`` on a Redis connection; by the clock of Redis, so replicas agree on the end."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    async def keep(self, name: str, sealed: str, seconds: float) -> None:
        """See ``SignInStore.keep``."""
        args = [name, sealed, to_milliseconds(seconds), MOST_SIGN_INS]
        await self._connection.run(SIGN_IN, [SIGN_INS], args, int)

    async def find(self, name: str) -> str | None:
        """See ``SignInStore.find``."""
        stored, time = await self._connection.send(("HGET", SIGN_INS, name), ("TIME",))
        deadline, _, sealed = (stored or b"").decode("utf-8", "replace").partition(":")
        now = int(time[0]) * 1000
        return sealed if deadline.isdecimal() and int(deadline) > now else None

    async def remove(self, name: str) -> None:
        """See ``SignInStore.remove``."""
        await self._connection.send(("HDEL", SIGN_INS, name))

    async def count_attempt(self, source: str, change: int) -> int:
        """See ``SignInStore.count_attempt``."""
        args = [source, change, to_milliseconds(MINUTE_SECONDS), MOST_SOURCES]
        counted = await self._connection.run(ATTEMPT, [SIGN_IN_ATTEMPTS], args, int)
        return counted if counted >= 0 else TOO_MANY
