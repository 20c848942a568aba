"""Who speaks in messages of the role ``user`` where several do: the person, or other agents of a harness.

A harness with several agents sends what the others said as a user's messages. It names them in the field
``name``, or in a label at the beginning of the text: ``[Critic]: ...``. Without this an order that one agent
gives another would become a standing rule of the person's.

A group of people is named in the same way, and what any of them lays down is a rule. What tells them apart: a
harness names all its agents, the assistant too, or names all but the person. The person is who speaks first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import regex

from gateway_compaction.core.conversation.messages import (
    Message,
    declared_role,
    is_restored,
    name_of,
    text_of,
)
from gateway_compaction.core.text.own_labels import OWN_TAG, RULES_HEAD

# In characters: the label of a speaker ends sooner.
LONGEST_LABEL = 60
# One message alone that begins with a name in brackets may be about a topic of the person's.
LEAST_LABELLED = 2
BRACKETED = regex.compile(r"\s{0,8}\*{0,2}\[([^\[\]\n:]{1,40})\](?::\*{0,2}|\*{0,2}:)(?:\s|$)")
PLAIN = regex.compile(
    r"\s{0,8}\*{0,2}(\p{Lu}[\w.\-]{0,20}(?: \p{Lu}[\w.\-]{0,20}){0,2})(?::\*{0,2}|\*{0,2}:)(?:\s|$)"
)

Names = Mapping[int, str | None]


def find_other_speakers(messages: Sequence[Message]) -> frozenset[int]:
    """Return the indexes of the users' messages that another agent wrote, as far as that can be told.

    The time is linear in the number of the messages; of each text only the beginning is read.
    """
    users = [i for i, m in enumerate(messages) if declared_role(m) == "user" and not is_restored(m)]
    if len(users) < LEAST_LABELLED:
        return frozenset()
    answers = [i for i, m in enumerate(messages) if declared_role(m) == "assistant"]
    named = {i: name_of(messages[i]) for i in users}
    others: set[int] = set()
    if any(named.values()):
        first = named[users[0]]
        if first is None or any(name_of(messages[i]) for i in answers):
            others.update(_find_others(named, first))
    starts = {i: text_of(messages[i])[:LONGEST_LABEL] for i in (*users, *answers)}
    if not any(":" in starts[i] for i in users):
        return frozenset(others)
    for shape in (BRACKETED, PLAIN):
        labels = {i: _find_label(start, shape) for i, start in starts.items()}
        of_users = {i: labels[i] for i in users}
        first = labels[users[0]]
        found = _find_others(of_users, first)
        of_answers = [labels[i] for i in answers if starts[i].strip()]
        is_answer_named = bool(of_answers) and 2 * sum(map(bool, of_answers)) >= len(of_answers)
        if shape is BRACKETED and first is None:
            is_harness = is_answer_named or len(found) >= LEAST_LABELLED
        else:
            is_harness = is_answer_named and first is not None
        if is_harness:
            others.update(found)
    return frozenset(others)


def _find_others(names: Names, first: str | None) -> list[int]:
    """Return the messages of those who bear a name that is neither the person's nor that of any user."""
    return [i for i, name in names.items() if name and name != first and not OWN_TAG.search(name)]


def _find_label(start: str, shape: regex.Pattern[str]) -> str | None:
    """Return who speaks by the label that a text begins with; None where it has none, or it heads rules."""
    found = shape.match(start) if ":" in start else None
    if found is None or OWN_TAG.search(found[1]) or RULES_HEAD.search(found[1]):
        return None
    return str(found[1])
