"""Facts that a conversation itself tells of its work: task, rules, decisions, files and identifiers.

A client that tells nothing of its work shall still find it again in a later conversation. It is looked for in
the messages that the store keeps, and where a policy lets it keep none, in the summary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway_compaction.core.conversation.messages import (
    PREAMBLE_ROLES,
    Message,
    declared_role,
    text_of,
    written_text_of,
)
from gateway_compaction.core.extractive.extract import build_extract, read_message
from gateway_compaction.core.extractive.identifier_ledger import weigh_identifiers
from gateway_compaction.core.pins.anchors import Scoring, choose_anchors
from gateway_compaction.core.pins.pins import collect_pins
from gateway_compaction.core.records.restore_point import FoundFacts, keep_last
from gateway_compaction.core.text.shorten import shorten

# Characters of the last messages that are read, some tenths of a second: of earlier ones the summary tells.
READ_CHARS = 300_000
BYTES_PER_TOKEN = 4
# Tokens of each kind of fact.
PREAMBLE_TOKENS = 80
TASK_TOKENS = 120
RULE_TOKENS = 300
DECISION_TOKENS = 1_200
EXTRACT_TOKENS = 900
# The last decisions and the weightiest names that are kept.
MOST_DECISIONS = 12
MOST_FILES = 20
MOST_IDENTIFIERS = 20
# Decisions alone: neither what a tool printed nor a wish to remember is one.
DECISIONS = Scoring(explicit=0.0, decision=1.0, tool_result=0.0, keyword=0.0)
LEAST_SCORE = 0.9
# An extension, and the most letters of one that needs no path to prove it: ``node.value`` is no file.
EXTENSION = re.compile(r"[^/\s]\.([A-Za-z][A-Za-z0-9]{0,7})$")
PLAIN_EXTENSION = 3
ADDRESS = re.compile(r"^(?:https?://|www\.)|@")


def find_facts(messages: Sequence[Message], *, with_extract: bool = False) -> FoundFacts:
    """Find what a conversation tells of its work.

    Args:
        messages: the conversation with its preamble, or as much as is known of it.
        with_extract: no summary stands for its beginning, so an extract of it is made too.
    """
    preamble = [m for m in messages if declared_role(m) in PREAMBLE_ROLES]
    history = [m for m in messages if declared_role(m) not in PREAMBLE_ROLES]
    lately = history[len(history) - len(keep_last([written_text_of(m) for m in history], READ_CHARS, len)) :]
    readings = [read_message(message) for message in lately]
    pins = collect_pins((*history[:1], *lately), TASK_TOKENS, RULE_TOKENS, estimate_tokens)
    anchors = choose_anchors(lately, len(lately), DECISION_TOKENS, DECISIONS, estimate_tokens)
    decisions = tuple(dict.fromkeys(a.text for a in anchors if a.score >= LEAST_SCORE))
    weights = weigh_identifiers([reading.texts for reading in readings])
    ranked = sorted(weights, key=lambda name: (-weights[name], name))
    files = find_file_names(ranked)
    instructions = "\n".join(map(text_of, preamble)).strip()
    return FoundFacts(
        preamble=shorten(instructions, PREAMBLE_TOKENS, estimate_tokens, "[…]"),
        task=pins.task,
        rules=pins.rules,
        decisions=decisions[-MOST_DECISIONS:],
        files=files[:MOST_FILES],
        identifiers=tuple([name for name in ranked if name not in files][:MOST_IDENTIFIERS]),
        extract=build_extract(lately, EXTRACT_TOKENS, estimate_tokens, readings) if with_extract else "",
    )


def estimate_tokens(text: str) -> int:
    """Return about the tokens of a text: what is found shall not depend on the model that reads it."""
    return len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 1


def find_file_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return those of some identifiers that name files or directories, rather than addresses or symbols.

    A path does. A name with an extension does where a path has the same one, or where that is as short as
    extensions mostly are: ``node.value`` is an attribute.
    """
    paths = {name for name in names if "/" in name and not ADDRESS.search(name)}
    known = {found[1] for name in paths if (found := EXTENSION.search(name))}

    def is_file(name: str) -> bool:
        found = EXTENSION.search(name)
        return found is not None and (found[1] in known or len(found[1]) <= PLAIN_EXTENSION)

    return tuple(name for name in names if name in paths or (is_file(name) and not ADDRESS.search(name)))
