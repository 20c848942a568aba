"""The surplus of each conversation that this process heard a provider report of."""

from __future__ import annotations

from collections import Counter, OrderedDict

from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.tokens.session_surplus import SessionSurplus

ENTRIES = 20_000
"""Conversations that are remembered, about 17 MB (measured); those not reported of for longest go first."""


class SessionSurpluses:
    """Remembers what providers reported of conversations, by session and model.

    It is this process's own. A replica that has heard nothing of a conversation sends it as it came, hears of
    its length from that call, and does as the others from the next one on. Only the event loop writes; any
    thread may read.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self._known: OrderedDict[tuple[str, str], tuple[str, SessionSurplus, bool]] = OrderedDict()
        self._larger: Counter[str] = Counter()

    def find(self, session: SessionRef, model: str) -> SessionSurplus | None:
        """Return what is known of a session's prompts to a model, or None."""
        known = self._known.get((session.session_id, model))
        return None if known is None else known[1]

    def has_larger(self, tenant: str) -> bool:
        """Tell whether some session of a tenant is larger than we count: most tenants have none."""
        return self._larger[tenant] > 0

    def is_larger(self, session: SessionRef, model: str) -> bool:
        """Tell whether a session's prompts are larger than we count."""
        known = self._known.get((session.session_id, model))
        return known is not None and known[2]

    def keep(self, session: SessionRef, model: str, surplus: SessionSurplus, *, larger: bool) -> None:
        """Remember what is known now; ``larger``: the session's prompts are larger than we count."""
        key = (session.session_id, model)
        self._drop(key)
        self._known[key] = (session.tenant, surplus, larger)
        self._larger[session.tenant] += larger
        while len(self._known) > self._entries:
            self._drop(next(iter(self._known)))

    def _drop(self, key: tuple[str, str]) -> None:
        tenant, _, larger = self._known.pop(key, ("", None, False))
        if larger:
            self._larger[tenant] -= 1
            if not self._larger[tenant]:
                del self._larger[tenant]
