"""The answer of a call, as LiteLLM logs it, by which a later call is known."""

from __future__ import annotations

from typing import Any

import pytest

from gateway_compaction.core.endpoints.logged_answer import name_answer, read_logged_answer


def says(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"at": "a.py"}'}}


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"choices": [{"message": says("hi")}]}, "hi"),
        ({"output": [{"type": "message", **says([{"type": "output_text", "text": "hi"}])}]}, "hi"),
        ({"content": [{"type": "text", "text": "hi"}]}, "hi"),
        ({"choices": []}, None),
        ({"choices": ["x"]}, None),
        ({"other": 1}, None),
        ("text", None),
        (None, None),
    ],
)  # fmt: skip
def test_an_answer_is_read_in_every_endpoints_form(response: Any, text: str | None) -> None:
    answer = read_logged_answer(response)
    assert (answer is None) == (text is None)
    if answer is not None:
        assert name_answer(answer) == name_answer(says(text)) != name_answer(says(text, tool_calls=[CALL]))
