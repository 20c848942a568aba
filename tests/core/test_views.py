"""Views rendered as messages: what is left out, what is put in, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.planning.views import View, ViewBuilder, render
from gateway_compaction.core.summary.block import ACKNOWLEDGEMENT
from tests.core.builders import Bench, stored
from tests.core.scripts import script


def rendered(words: str, covers: int) -> tuple[list[Message], list[dict[str, Any]]]:
    """What is sent when so many messages are covered, and what came."""
    messages = script(f"sys {words}")
    context = Bench(1000).context(messages)
    view = ViewBuilder(context).build_view(stored(context, covers))
    return render(view, context), messages


def test_a_raw_view_are_the_messages_themselves() -> None:
    messages = script("sys user text user")
    sent = render(View(0), Bench(1000).context(messages))
    assert all(a is b for a, b in zip(sent, messages, strict=True))


@pytest.mark.parametrize(
    ("words", "covers", "head", "tail"),
    [
        # The tail begins with a user message: an acknowledgement keeps the roles in turn.
        ("user text user text user", 2, 2, 3),
        # The tail begins inside a turn: its user message is said again.
        ("user call res call res", 3, 3, 2),
        # There is no user message: the summary stands before the assistant's.
        ("call res call res", 2, 1, 2),
    ],
)
def test_summary_acknowledgement_opener_and_tail(words: str, covers: int, head: int, tail: int) -> None:
    sent, messages = rendered(words, covers)
    assert len(sent) == 1 + head + tail
    assert sent[0] is messages[0] and sent[1]["role"] == "user"
    assert (sent[2] is ACKNOWLEDGEMENT) == (head > 1)
    assert (head == 3) == (sent[3 if head > 1 else 2] is messages[1] and covers == 3)
    assert all(a is b for a, b in zip(sent[-tail:], messages[-tail:], strict=True))


def test_where_nobody_has_answered_yet_the_word_between_is_plain() -> None:
    context = Bench(1000).context(script("user user user user"))
    sent = render(ViewBuilder(context).build_view(stored(context, 2)), context)
    assert ACKNOWLEDGEMENT in sent
