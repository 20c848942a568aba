"""The keys of messages are known in ``core/conversation``, and in the readers of other endpoints, alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gateway_compaction

PACKAGE = Path(gateway_compaction.__file__).parent
SCANNED = ("core", "engine")
# Messages are read in the first; the second makes such messages of other endpoints' bodies.
READERS = frozenset({PACKAGE / "core" / "conversation", PACKAGE / "core" / "endpoints"})
# Words that mean nothing but a key or a type of the wire form: not even written down elsewhere.
UNMISTAKABLE = frozenset(
    "content tool_calls function_call tool_use tool_result tool_call_id thinking redacted_thinking"
    " thinking_blocks reasoning_content image_url input_image input_audio input_file input_text output_text"
    " cache_control refusal file_data response_format max_tokens max_completion_tokens".split()
)
# Words that mean other things too: never the key of anything that is looked into.
KEYS = frozenset({"role", "arguments", "function", "custom", "text", "type", "name", "url", "input"})
# A policy's document and the stored records have keys of their own; reasons for an answer's end are no keys.
OTHER_FORMS = ("core/policy", "core/records", "core/text/lexicon")
ELSEWHERE = {
    ("core/summary/acceptance.py", "tool_calls"),
    ("core/summary/acceptance.py", "function_call"),
    ("core/summary/acceptance.py", "max_tokens"),
    ("engine/summary_pipeline.py", "max_tokens"),
}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def modules() -> list[Path]:
    return [
        path
        for room in SCANNED
        for path in sorted((PACKAGE / room).rglob("*.py"))
        if READERS.isdisjoint(path.parents) and not name_of(path).startswith(OTHER_FORMS)
    ]


def mentions(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Words of the wire form in a module: the unmistakable anywhere, the others where something is read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in UNMISTAKABLE:
            yield node.lineno, node.value
        for key in keys_of(node):
            if isinstance(key, ast.Constant) and key.value in KEYS:
                yield key.lineno, key.value


def keys_of(node: ast.AST) -> list[ast.expr | None]:
    """What is used as a key: ``m["role"]``, ``m.get("role")``, ``{"role": ...}``, ``"role" in m``."""
    match node:
        case ast.Subscript(slice=key):
            return [key]
        case ast.Call(func=ast.Attribute(attr="get" | "pop" | "setdefault"), args=[key, *_]):
            return [key]
        case ast.Dict(keys=keys):
            return list(keys)
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name()]):
            return [key]
    return []


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_no_other_module_takes_messages_apart(path: Path) -> None:
    name = name_of(path)
    found = [
        (line, word) for line, word in mentions(ast.parse(path.read_text())) if (name, word) not in ELSEWHERE
    ]
    assert found == [], f"{name} reads the wire form: ask core/conversation"


CALL_WORDS = frozenset({"tool_calls", "function_call", "tool_use", "tool_result"})
# The reason for which an answer ended, and the kinds of message that the demo model makes.
NO_CALLS = {"core/summary/acceptance.py", "adapters/litellm/demo_model.py"}


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_no_module_of_the_package_takes_calls_apart(path: Path) -> None:
    """Whoever reads one form of calls himself does not read the others."""
    if not READERS.isdisjoint(path.parents) or str(path.relative_to(PACKAGE)) in NO_CALLS:
        return
    nodes = ast.walk(ast.parse(path.read_text()))
    found = [n.lineno for n in nodes if isinstance(n, ast.Constant) and n.value in CALL_WORDS]
    assert found == [], "ask calls_of and told_text_of of core/conversation/messages.py"


@pytest.mark.parametrize(
    "source",
    [
        'message["role"]',
        'message.get("role", "user")',
        '{"role": "user"}',
        '"name" in message',
        'for field in ("tool_calls", "id"): pass',
        'kind == "tool_result"',
        'Literal["thinking"]',
    ],
)
def test_what_takes_messages_apart_is_seen(source: str) -> None:
    assert list(mentions(ast.parse(source)))


@pytest.mark.parametrize("source", ['role = "user"', '"type"', 'words["said"]', "message.role", '"a name"'])
def test_what_does_not_is_not(source: str) -> None:
    assert not list(mentions(ast.parse(source)))
