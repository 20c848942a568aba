"""What is played: recorded conversations, and the bodies that a client of each endpoint sends for them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from tests.lab.counting import count_request
from tests.lab.data import load
from tests.lab.endpoints import to_anthropic, to_responses

__all__ = [
    "BODY_SETS",
    "CHAT_SETS",
    "FIELDS",
    "WINDOWS",
    "Recording",
    "choose",
    "interleave",
    "join",
    "load_bodies",
    "load_chats",
]

Item = dict[str, Any]
FIELDS: Mapping[str, str] = {"chat": "messages", "messages": "messages", "responses": "input"}
# Conversations in the form of chats, and how many calls of one are played at most.
CHAT_SETS: Mapping[str, int] = {
    "tau_bench_airline": 12,
    "swe_mini_agent_tools": 16,
    "swe_mini_agent": 16,
    "coding_agents_tools": 8,
    "locomo": 24,
    "beam_100k": 24,
    "korean": 10,
    "multilingual_short": 12,
    "mt_bench_101": 4,
    "dialogstudio": 4,
}
# Whole bodies, by the endpoint whose form they have.
BODY_SETS: Mapping[str, tuple[str, ...]] = {
    "chat": ("request_shapes", "edge_hand"),
    "messages": ("anthropic_bodies",),
    "responses": ("responses_bodies",),
}
WINDOWS = (2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000, 32_000, 48_000, 64_000)
# Of what a whole conversation has beside tools and instructions so much fits; so it crosses every level.
SHARE = 0.45
# And so many times what is never left out of a call.
ROOM = 1.4
# So many calls in a row are chosen.
ROW = 3
WRITERS: Mapping[str, Callable[[Sequence[Item]], dict[str, Any]]] = {
    "chat": lambda messages: {"messages": [*messages], "max_tokens": 512},
    "messages": to_anthropic,
    "responses": to_responses,
}
RESULTS = ("tool", "function")


@dataclass(frozen=True, slots=True)
class Recording:
    """One conversation.

    Attributes:
        form: the endpoint whose items ``items`` are; those of chats are translated for the other two.
        items: all of them.
        rest: what else the body has, such as tools, in the form of that endpoint.
        most: how many of its calls are played.
        window: the window that it is played with; None for one that everything fits.
    """

    name: str
    source: str
    form: str
    items: Sequence[Item]
    rest: Mapping[str, Any] = field(default_factory=dict)
    most: int = 1
    window: int | None = None

    @property
    def doors(self) -> tuple[str, ...]:
        """The endpoints that it can be sent through."""
        return tuple(FIELDS) if self.form == "chat" else (self.form,)

    @property
    def ends(self) -> list[int]:
        """Where each of its calls ends: before an answer to a user or to a result, and at its own end."""
        found = [i for i in range(1, len(self.items)) if _answers(self.items[i]) and _asks(self.items[i - 1])]
        return [*found, len(self.items)] if self.items and _asks(self.items[-1]) else found

    @property
    def histories(self) -> list[Sequence[Item]]:
        """What a client sends, call by call: an even choice of at most ``most``, the last call among them.

        Behind the first they are neighbours in threes: what goes on from one another is among them.
        """
        ends = self.ends or [len(self.items)]
        if len(ends) > self.most:
            rows = [ends[i : i + ROW] for i in range(1 + (len(ends) - 1) % ROW, len(ends), ROW)]
            chosen = choose(rows, max(1, (self.most - 1) // ROW))
            ends = [ends[0], *(end for row in chosen for end in row)]
        return [self.items[:end] for end in ends]

    def body(self, door: str, history: Sequence[Item]) -> dict[str, Any]:
        """What a client of an endpoint sends for a history; without model and stream."""
        if door == self.form != "chat":
            return copy.deepcopy({**self.rest, FIELDS[door]: [*history]})
        written = WRITERS[door](history)
        tools = self.rest.get("tools") or tools_of(self.items)
        more = {"tools": [translate_tool(door, tool) for tool in tools]} if tools else {}
        rest = {k: v for k, v in self.rest.items() if k != "tools"} if door == "chat" else {}
        return copy.deepcopy({**written, **rest, **more})

    def least(self, door: str, history: Sequence[Item]) -> dict[str, Any]:
        """The body of what is never left out: instructions, the last user's message, the last four items."""
        start = max(0, len(history) - 4)
        while start and _is_result(history[start]):
            start -= 1
        kept = [*history[: min(start, _preamble_of(history))]]
        users = [i for i, item in enumerate(history) if item.get("role") == "user" and not _is_result(item)]
        if users and users[-1] < start:
            kept.append(history[users[-1]])
        return self.body(door, [*kept, *history[start:]])


def choose(items: Sequence[Any], most: int) -> list[Any]:
    """An even choice of at most so many, the last among them."""
    if len(items) <= most:
        return [*items]
    step = len(items) / most
    return [items[len(items) - 1 - int(step * place)] for place in reversed(range(most))]


def load_chats(name: str) -> list[Recording]:
    """The conversations of one file that have the form of chats."""
    found = []
    for record in load(name):
        rest = {"tools": record["tools"]} if record.get("tools") else {}
        one = Recording(record["id"], name, "chat", record["messages"], rest, CHAT_SETS[name])
        if one.ends:
            found.append(_with_window(one))
    return found


def load_bodies(form: str, names: Sequence[str] = ()) -> list[Recording]:
    """Whole bodies in the form of an endpoint, of some files or of all; each is one call that has room."""
    found = []
    for name in (name for name in BODY_SETS[form] if not names or name in names):
        for record in load(name):
            body = record.get("body") or {**_chat_rest(record), "messages": record["messages"]}
            items = body[FIELDS[form]]
            if isinstance(items, list) and items:
                rest = {k: v for k, v in body.items() if k not in (FIELDS[form], "model", "stream")}
                found.append(Recording(record["id"], name, form, items, rest))
    return found


def join(recordings: Sequence[Recording], name: str, most: int) -> Recording:
    """One long conversation of several: each goes on where the one before was answered.

    It has the tools of all. Marks for caches are left out: a client has four, and moves them.
    """
    form = recordings[0].form
    items: list[Item] = []
    tools: dict[str, Item] = {}
    rest: dict[str, Any] = {}
    for one in recordings:
        if items and _asks(items[-1]):
            items.append(_answer(form))
        items += one.items[_preamble_of(one.items) :] if items else one.items
        for tool in one.rest.get("tools") or ():
            tools.setdefault(str(tool.get("name") or tool.get("function") or tool.get("type")), tool)
        rest = {**{k: v for k, v in one.rest.items() if k in JOINED}, **rest}
    rest |= {"tools": [*tools.values()]} if tools else {}
    source = f"{recordings[0].source}, joined"
    items, rest = without_marks(items), without_marks(rest)
    return _with_window(Recording(name, source, form, items, rest, most))


# What a joined body takes from the bodies that it is made of, beside items and tools.
JOINED = ("system", "instructions", "max_tokens", "mcp_servers", "include", "store")


def without_marks(value: Any) -> Any:
    """A value without the marks for caches in it."""
    if isinstance(value, Mapping):
        return {name: without_marks(inner) for name, inner in value.items() if name != "cache_control"}
    return [without_marks(inner) for inner in value] if isinstance(value, list) else value


def _with_window(one: Recording) -> Recording:
    """Let a recording have a window that it crosses every level of, where it is long enough for the least."""
    whole, fixed = one.body(one.form, one.items), one.body(one.form, [])
    leading = [*one.items[: _preamble_of(one.items)]]
    beside = count_request(fixed) + count_request({FIELDS[one.form]: leading})
    least = max((count_request(one.least(one.form, history)) for history in one.histories), default=0)
    wanted = max(beside + SHARE * (count_request(whole) - beside), ROOM * least)
    window = min(WINDOWS, key=lambda tokens: abs(tokens - wanted))
    return Recording(one.name, one.source, one.form, one.items, one.rest, one.most, window)


def _chat_rest(record: Mapping[str, Any]) -> dict[str, Any]:
    params = {
        k: v for k, v in (record.get("params") or {}).items() if k in ("tools", "tool_choice", "functions")
    }
    return {**({"tools": record["tools"]} if record.get("tools") else {}), **params}


def _preamble_of(items: Sequence[Item]) -> int:
    """How many leading items are instructions."""
    roles = (item.get("role") for item in items)
    return sum(1 for _ in takewhile(lambda role: role in ("system", "developer"), roles))


def _answer(form: str) -> Item:
    said = {"chat": "Done.", "messages": [{"type": "text", "text": "Done."}]}
    part = [{"type": "output_text", "text": "Done.", "annotations": []}]
    content = said.get(form, part)
    return {"role": "assistant", "content": content, **({"type": "message"} if form == "responses" else {})}


def _is_result(item: Item) -> bool:
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    held = any(isinstance(p, Mapping) and p.get("type") == "tool_result" for p in parts)
    return item.get("role") in RESULTS or str(item.get("type")).endswith("_output") or held


def _asks(item: Item) -> bool:
    return item.get("role") == "user" or _is_result(item)


def _answers(item: Item) -> bool:
    kind = str(item.get("type"))
    return item.get("role") == "assistant" or kind == "reasoning" or kind.endswith("_call")


def tools_of(history: Sequence[Item]) -> list[Item]:
    """Tools that a chat's calls name: a provider refuses calls of a request that has none."""
    names = {
        c["function"]["name"]: None for m in history for c in m.get("tool_calls") or () if "function" in c
    }
    parameters = {"type": "object", "properties": {}}
    return [{"type": "function", "function": {"name": name, "parameters": parameters}} for name in names]


def translate_tool(door: str, tool: Item) -> Item:
    """A tool of Chat Completions in the form of an endpoint."""
    function = tool.get("function") or {}
    if door == "chat" or not function:
        return tool
    if door == "responses":
        return {"type": "function", **function}
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    told = {"description": function["description"]} if function.get("description") else {}
    return {"name": function["name"], **told, "input_schema": schema}


def interleave(sets: Sequence[Sequence[Recording]]) -> list[Recording]:
    """Conversations of several sets by turns, so that a run that ends early has played some of each."""
    placed = [
        (place / len(one), number, place) for number, one in enumerate(sets) for place in range(len(one))
    ]
    return [sets[number][place] for _, number, place in sorted(placed)]
