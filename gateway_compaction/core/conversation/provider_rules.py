"""The rules that providers hold a list of messages to: one table, and what breaks a rule.

A request that breaks one is refused (400), and the caller is told of messages that he never wrote. Clients
keep the rules of the provider that they talk to, and no others: nobody here knows which that is, since a
gateway in front of a gateway looks like OpenAI. So the promise is relative: a rule that the client's own
messages keep is kept by what is made of them. ``newly_broken`` tells it; the end-to-end tests ask it about
every request that reaches their upstream.

Each rule is from the provider's public documentation, or from the error that it answers with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from gateway_compaction.core.conversation.body import TOOL_FIELDS, wants_json
from gateway_compaction.core.conversation.media import read_media
from gateway_compaction.core.conversation.messages import (
    PREAMBLE_ROLES,
    THINKING_TEXT_FIELDS,
    Message,
    cache_marks_of,
    has_calls,
    has_thinking,
    parts_of,
    role_of,
    thinking_fields_of,
    told_text_of,
)
from gateway_compaction.core.conversation.parts import (
    cache_lifetime,
    cache_mark_of,
    is_call,
    is_result,
    is_text,
    part_text,
)

Body = Mapping[str, Any]
# Anthropic and Bedrock take so many marks, over tools, system and messages.
MOST_MARKS = 4


@dataclass(frozen=True, slots=True)
class ProviderRule:
    """One thing that a provider demands of a request.

    Attributes:
        name: what is demanded, in one word for reports.
        providers: who demands it.
        source: where they say so: a page of theirs, or the words of the refusal.
        find: yields a word for each place where a request breaks it.
    """

    name: str
    providers: str
    source: str
    find: Callable[[Body], Iterator[str]]


def find_broken(body: Body) -> dict[str, list[str]]:
    """Return for each rule that a request breaks the places, by the rule's name; whole requests have none."""
    found = {rule.name: list(rule.find(body)) for rule in RULES}
    return {name: places for name, places in found.items() if places}


def newly_broken(sent: Body, received: Body) -> list[str]:
    """Return what a request breaks more often than the one that it was made of, as the rule and a place."""
    before = find_broken(received)
    return [
        f"{name}: {places[-1]}"
        for name, places in find_broken(sent).items()
        if len(places) > len(before.get(name, ()))
    ]


def _messages_of(body: Body) -> Sequence[Message]:
    listed = body.get("messages")
    usable = listed if isinstance(listed, list) else []
    return [m for m in usable if isinstance(m, Mapping) and isinstance(m.get("role"), str)]


def _history_of(body: Body) -> list[tuple[int, Message]]:
    """Return the messages behind the preamble, each with its place."""
    numbered = list(enumerate(_messages_of(body)))
    while numbered and numbered[0][1]["role"] in PREAMBLE_ROLES:
        numbered.pop(0)
    return numbered


def _find_wrong_first(body: Body) -> Iterator[str]:
    history = _history_of(body)
    if history and role_of(history[0][1]) != "user":
        yield f"{history[0][0]} is of {role_of(history[0][1])}"


def _find_neighbours(body: Body) -> Iterator[str]:
    for (_, before), (place, message) in pairwise(_history_of(body)):
        role = role_of(message)
        if role == role_of(before) and role in ("user", "assistant"):
            yield f"{place} is of {role} as well"


def _find_late_instructions(body: Body) -> Iterator[str]:
    for place, message in _history_of(body):
        if message["role"] in PREAMBLE_ROLES:
            yield f"{place} is of {message['role']}"


def _find_user_behind_result(body: Body) -> Iterator[str]:
    for (_, before), (place, message) in pairwise(_history_of(body)):
        if role_of(before) == "tool" and role_of(message) == "user":
            yield f"{place} is of user"


def _find_wrong_last(body: Body) -> Iterator[str]:
    history = _history_of(body)
    if history and role_of(history[-1][1]) not in ("user", "tool"):
        yield f"{history[-1][0]} is of {role_of(history[-1][1])}"


def _find_unpaired(body: Body) -> Iterator[str]:
    """Yield calls without all of their results directly behind them, and results without their call."""
    wanted: list[str] = []
    for place, message in enumerate(_messages_of(body)):
        for name in _results_of(message):
            if name in wanted:
                wanted.remove(name)
            else:
                yield f"{place} answers {name}, which is not called before it"
        if role_of(message) != "tool" or message["role"] == "user":
            # Results of one answer come as several messages, or in one message of the user's.
            yield from (f"{name} has no result before {place}" for name in wanted)
            wanted = []
        wanted += _calls_of(message)
    yield from (f"{name} has no result" for name in wanted)


def _calls_of(message: Message) -> list[str]:
    """Return the names by which the results of a message's calls find them."""
    calls, legacy = message.get("tool_calls"), message.get("function_call")
    listed = calls if isinstance(calls, list) else []
    ids = [call.get("id") for call in listed if isinstance(call, Mapping)]
    ids += [part.get("id") for part in parts_of(message) if is_call(part)]
    names = [f"function {legacy.get('name')}"] if isinstance(legacy, Mapping) and legacy else []
    return [*map(str, ids), *names]


def _results_of(message: Message) -> list[str]:
    if message["role"] == "function":
        return [f"function {message.get('name')}"]
    if message["role"] == "tool":
        return [str(message.get("tool_call_id"))]
    return [str(part.get("tool_use_id")) for part in parts_of(message) if is_result(part)]


def _find_empty(body: Body) -> Iterator[str]:
    for place, message in enumerate(_messages_of(body)):
        content = message.get("content")
        is_empty = content is None or content == [] or (isinstance(content, str) and not content.strip())
        holds_empty = any(is_text(p) and not (part_text(p) or "").strip() for p in parts_of(message))
        if holds_empty or (is_empty and not has_calls(message)):
            yield f"{place} says nothing"


def _find_missing_thoughts(body: Body) -> Iterator[str]:
    """Yield for each field of plain thinking the first answer without it: the rule is kept whole or not."""
    answers = [(i, thinking_fields_of(m)) for i, m in _history_of(body) if m["role"] == "assistant"]
    for field in THINKING_TEXT_FIELDS:
        if any(field in fields for _, fields in answers):
            without = (f"{place} has no {field}" for place, fields in answers if field not in fields)
            yield from islice(without, 1)


def _find_divided_thinking(body: Body) -> Iterator[str]:
    """Yield turns in which the model thinks in signed blocks, but not where the turn now begins."""
    first: tuple[int, bool] | None = None
    for place, message in _history_of(body):
        if role_of(message) == "user":
            first = None
        elif message["role"] == "assistant":
            first = first or (place, has_thinking(message))
            if has_thinking(message) and not first[1]:
                yield f"{first[0]} does not begin with the thinking of its turn"
                first = (place, True)


def _marks_of(body: Body) -> list[Any]:
    """Return the cache marks of a request in the order in which providers read it: tools, system, messages.

    One of the body itself stands on the last part of all, and is no further one where that has the same.
    """
    tools = [tool for field in TOOL_FIELDS for tool in body.get(field) or () if isinstance(tool, Mapping)]
    on_tools = [cache_mark_of(tool) or cache_mark_of(tool.get("function")) for tool in tools]
    # Of Anthropic Messages: a text, or a list of parts like a message's.
    system = cache_marks_of({"role": "system", "content": body.get("system")})
    messages = _messages_of(body)
    marks = [m for m in on_tools if m] + system + [m for message in messages for m in cache_marks_of(message)]
    whole = cache_mark_of(body)
    last = next(iter(parts_of(messages[-1])[-1:]), None) if messages else None
    return [*marks, whole] if whole and whole != cache_mark_of(last) else marks


def _find_too_many_marks(body: Body) -> Iterator[str]:
    marks = _marks_of(body)
    yield from (f"mark {number} of {len(marks)}" for number in range(MOST_MARKS + 1, len(marks) + 1))


def _find_marks_out_of_order(body: Body) -> Iterator[str]:
    for number, (before, mark) in enumerate(pairwise(map(cache_lifetime, _marks_of(body))), 2):
        if mark > before:
            yield f"mark {number} lives longer than the one before it"


def _find_missing_json(body: Body) -> Iterator[str]:
    if wants_json(body) and not any("json" in told_text_of(m).lower() for m in _messages_of(body)):
        yield "no message says it"


def _find_misplaced_media(body: Body) -> Iterator[str]:
    for place, message in enumerate(_messages_of(body)):
        if message["role"] in ("assistant", *PREAMBLE_ROLES):
            yield from (f"{place} of {message['role']}" for part in parts_of(message) if read_media(part))


ANTHROPIC = "https://docs.anthropic.com/en/docs/build-with-claude"
RULES = (
    ProviderRule(
        "first_role",
        "Anthropic, Bedrock, Gemini, Perplexity",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html",
        _find_wrong_first,
    ),
    ProviderRule(
        "alternation",
        "Bedrock, Perplexity, the chat templates of Gemma and Mistral",
        "'After the optional system message, conversation roles must alternate user and assistant roles'",
        _find_neighbours,
    ),
    ProviderRule(
        "system_first",
        "the chat templates of Qwen and others",
        "'System message must be at the beginning.'",
        _find_late_instructions,
    ),
    ProviderRule(
        "no_user_behind_result",
        "Mistral",
        "'Unexpected role 'user' after role 'tool'' (3230)",
        _find_user_behind_result,
    ),
    ProviderRule(
        "last_role",
        "Mistral, Gemini, Claude 4.6",
        "'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant'",
        _find_wrong_last,
    ),
    ProviderRule(
        "pairs",
        "OpenAI, Anthropic, Gemini, Mistral, Bedrock",
        "https://platform.openai.com/docs/guides/function-calling",
        _find_unpaired,
    ),
    ProviderRule(
        "no_empty_text",
        "Anthropic, Bedrock",
        "'messages: text content blocks must be non-empty'",
        _find_empty,
    ),
    ProviderRule(
        "thinking_on_each_answer",
        "DeepSeek, Moonshot",
        "https://api-docs.deepseek.com/guides/thinking_mode",
        _find_missing_thoughts,
    ),
    ProviderRule(
        "thinking_of_whole_turns",
        "Anthropic, Bedrock",
        f"{ANTHROPIC}/extended-thinking#preserving-thinking-blocks",
        _find_divided_thinking,
    ),
    ProviderRule(
        "few_cache_marks",
        "Anthropic, Bedrock",
        f"{ANTHROPIC}/prompt-caching#cache-limitations",
        _find_too_many_marks,
    ),
    ProviderRule(
        "cache_marks_by_lifetime",
        "Anthropic, Bedrock",
        f"{ANTHROPIC}/prompt-caching#mixing-different-ttls",
        _find_marks_out_of_order,
    ),
    ProviderRule(
        "json_is_said",
        "OpenAI, Azure, DeepSeek, Groq",
        "https://platform.openai.com/docs/guides/structured-outputs#json-mode",
        _find_missing_json,
    ),
    ProviderRule(
        "media_are_users",
        "OpenAI, Gemini, Mistral",
        "'Image URLs are only allowed for messages with role 'user''",
        _find_misplaced_media,
    ),
)
"""What is demanded of a list of messages, by whom."""
