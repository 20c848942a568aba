"""Reading what a request asks for beside its messages: tools, the form of the answer, its length.

Inside ``core`` and ``engine`` the only reader of the request's body, as ``messages`` is of its messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

# Sent to the model as text, so that they take up its window.
PAID_FIELDS = ("tools", "functions", "tool_choice", "function_call", "response_format")
TOOL_FIELDS = ("tools", "functions")
# How long the answer may be, as endpoints and providers name it; of several the first sensible one counts.
OUTPUT_FIELDS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


class PlainSize(NamedTuple):
    """The size of messages that hold nothing but texts, calls and results.

    Attributes:
        messages: how many there are at most.
        calls: how many calls they make.
        bytes: the bytes of all texts, of the names of calls and of what they are made with, in UTF-8.
    """

    messages: int
    calls: int
    bytes: int


def paid_fields_of(body: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the values of a body that a model reads beside the messages, as they came."""
    return (body[name] for name in PAID_FIELDS if body.get(name))


def tools_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a body that describes tools, ready to be sent again."""
    return {name: body[name] for name in TOOL_FIELDS if body.get(name)}


def wants_json(body: Mapping[str, Any]) -> bool:
    """Tell whether a request asks for any JSON object, for which providers demand the word in a message."""
    wanted = body.get("response_format")
    return isinstance(wanted, Mapping) and wanted.get("type") == "json_object"


def requested_output(body: Mapping[str, Any]) -> int:
    """Return how many tokens a request asks for as its answer; 0 where it says nothing sensible."""
    asked = (body.get(name) for name in OUTPUT_FIELDS)
    sensible = (n for n in asked if isinstance(n, int) and not isinstance(n, bool) and n > 0)
    return next(sensible, 0)
