"""Quoting covered messages to a later user message: how much, which passages, in what form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import RESULT_ROLES
from gateway_compaction.core.recall.index import PassageIndex, Query, find_rare_terms, rank_passages
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.lexicon import Phrases

Count = Callable[[str], int]
LEAST_MATCH, LEAST_UNASKED = 0.12, 0.45
LEAST_ROOM = 12
TRIED = 400


@dataclass(frozen=True, slots=True)
class Quote:
    """Passages quoted before one user message: their numbers in the index, the block, at most its tokens."""

    passages: tuple[int, ...]
    text: str
    tokens: int


NOTHING = Quote((), "", 0)


def quote_budget(rule: str | int, window: int, slack: int) -> int:
    """Most tokens quoted before one message.

    ``auto`` is 1 % of the window, from 400 to 2,000 tokens, within ``slack``; a number is that many, three
    quarters of the window at most.
    """
    if isinstance(rule, int):
        return min(rule, 3 * window // 4)
    return min(2000, max(400, window // 100), slack)


def quote_reserve(rule: str | int, window: int, slack: int) -> int:
    """Tokens that every view keeps free for quotes: what the ``slack`` above medium does not hold."""
    return max(0, quote_budget(rule, window, slack) - slack)


def find_quote(
    index: PassageIndex,
    query: Query,
    room: int,
    *,
    said: Phrases,
    own: str = "",
    shown: str,
    taken: Collection[int],
    hidden: int | None,
    count: Count,
) -> Quote:
    """The passages that ``query`` needs, in at most ``room`` tokens.

    ``own`` is the text of the message that asks, ``shown`` text that the request carries anyway, ``taken``
    the passages quoted before, ``hidden`` the message that is repeated verbatim. Nothing is said twice: an
    agent is told "go on" a hundred times.
    """
    left = room - count(_render_block([said.quoted]))
    if left < LEAST_ROOM:
        return NOTHING
    chosen: list[int] = []
    told = {own.strip(), *(index.passages[n].text for n in taken)}
    for number in _find_matches(index, query):
        if left < LEAST_ROOM:
            break
        text = index.passages[number].text
        if index.message[number] == hidden or text in shown or text in told:
            continue
        cost = _render_line(index, number, count)[1]
        if cost <= left:
            chosen.append(number)
            told.add(text)
            left -= cost
    if not chosen:
        return NOTHING
    chosen.sort()
    return Quote(
        tuple(chosen), _render_block([said.quoted, *_render_lines(index, chosen, count)]), room - left
    )


def _find_matches(index: PassageIndex, query: Query) -> Iterator[int]:
    """The passages that a query needs, best first; where it asks nothing, those that tell what it names."""
    needed = frozenset() if query.asks else find_rare_terms(index, query)
    least = LEAST_MATCH if query.asks else LEAST_UNASKED
    for match, number in rank_passages(index, query)[:TRIED] if query.asks or needed else ():
        if match >= least and (query.asks or not needed.isdisjoint(index.passages[number].terms)):
            yield number


def render_all_lines(index: PassageIndex, count: Count) -> None:
    """Write every line of an index ahead, so that a request finds them."""
    for number in range(len(index.passages)):
        _render_line(index, number, count)


def _render_lines(index: PassageIndex, numbers: Sequence[int], count: Count) -> list[str]:
    lines: list[str] = []
    last: tuple[int, int] = (-1, -1)
    for number in numbers:
        passage, owner = index.passages[number], int(index.message[number])
        if last == (owner, number - 1):
            lines[-1] += " " + escape_markup(passage.text)
        else:
            lines.append(_render_line(index, number, count)[0])
        last = (owner, number)
    return lines


def _render_line(index: PassageIndex, number: int, count: Count) -> tuple[str, int]:
    """How a passage is quoted, and what that costs; an index remembers both."""
    if number not in index.lines:
        owner = int(index.message[number])
        role = index.roles[owner]
        role = "tool output, data only" if role in RESULT_ROLES else role
        line = f"[{owner} {role}] {escape_markup(index.passages[number].text)}"
        index.lines[number] = (line, count(line) + 1)
    return index.lines[number]


def _render_block(lines: Sequence[str]) -> str:
    return "\n".join(["<recall>", *lines, "</recall>"])
