"""Everything that is kept in Redis: the request path's store and the operators' archive.

``connection`` is the only module that knows the driver: one round trip, a deadline, every failure a
``StoreError``. ``RedisStore`` (``store``) keeps the contract ``ports.Store`` on it, under a breaker;
``RedisArchive`` (``archive``) keeps ``archive.Archive``, without one. What comes in and goes out are the
records of ``core.records``; ``codec`` turns them into bytes, ``keys`` names where they stand (docs/redis.md
describes both), and the scripts in ``lua/`` do in one step what must not be interleaved. Below the archive,
``detail`` reads one session, ``rows`` and ``row_cache`` the lists, ``hours`` the counts; ``transfer`` makes a
document of a session, ``transfer_checks`` looks at one that comes in, ``importing`` stores it, and ``erase``
takes everything away.

Words: a *part* is one key of a session (``keys.SESSION_KEYS``); a *generation* changes with every action of
an operator, and what was decided under another one is refused; a *row* is a session's line in the list of its
tenant; an *index* is a set by which sessions are found and counted, written after the session itself; a
*notice* tells every process what it must not use any more. Imports nothing of the engine:
only the contracts, the records, ``fingerprint`` and one policy limit.
"""
