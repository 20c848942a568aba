"""Whether what reaches the upstream keeps the rules of providers that its client kept.

Clients of the laboratory say what they send, and the upstream asks about every body that reaches it. The one
belongs to the other by its last message, which nobody rewrites but for a quote before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from gateway_compaction.core.conversation.messages import written_text_of
from gateway_compaction.core.conversation.provider_rules import find_broken, newly_broken

__all__ = ["broken_by_gateway", "remember"]

Body = Mapping[str, Any]
# The clients' last requests; an upstream sees each within seconds.
SENT: deque[Body] = deque(maxlen=500)
SUMMARISERS_MESSAGES = 2
# LiteLLM moves the images of a result into a user's message of its own, which begins so.
MOVED_IMAGES = "[The following images are tool output"


def remember(body: Body) -> None:
    """Note what a client is about to send; what is no list of messages is nothing to compare with."""
    if isinstance(body.get("messages"), list):
        SENT.appendleft(body)


def broken_by_gateway(body: Body) -> list[str]:
    """What a body breaks that its client kept; of a summariser's, which is nobody's, whatever it breaks."""
    messages = [m for m in body.get("messages") or [] if not written_text_of(m).startswith(MOVED_IMAGES)]
    body = {**body, "messages": messages}
    senders = [sent for sent in [*SENT] if _ends_alike(messages, sent.get("messages") or [])]
    if any(_says_the_same(messages, sent["messages"]) for sent in senders):
        # Nothing was rewritten; what LiteLLM itself does to roles is not the gateway's doing.
        return []
    if senders:
        # The same words may have been sent before, and one of the requests is what this came of.
        fewest: list[str] | None = None
        for sent in senders:
            found = newly_broken(body, sent)
            if not found:
                return []
            fewest = found if fewest is None or len(found) < len(fewest) else fewest
        return fewest or []
    broken = find_broken(body) if len(messages) == SUMMARISERS_MESSAGES else {}
    return [f"{name}: {places[0]}" for name, places in broken.items()]


def _says_the_same(messages: Sequence[Any], sent: Sequence[Any]) -> bool:
    return [*map(written_text_of, messages)] == [*map(written_text_of, sent)]


def _ends_alike(messages: Sequence[Any], sent: Sequence[Any]) -> bool:
    """Whether the last messages say the same, but for a quote before it and marks that LiteLLM takes away."""
    if not (messages and sent and isinstance(sent[-1], Mapping)):
        return False
    now, own = written_text_of(messages[-1]), written_text_of(sent[-1])
    alike = now.endswith(own) if own else not now
    return alike and messages[-1].get("role") == sent[-1].get("role")
