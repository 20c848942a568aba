"""Plays what docs/presets.md shows: conversations with each preset, through the code that serves requests.

``python -m tests.seeds.page`` writes the page's blocks anew.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gateway_compaction.adapters.policy_file import load_policy_file
from gateway_compaction.core.conversation.messages import text_of
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.summary.block import TAG
from gateway_compaction.ports import SummaryAnswer, SummaryRequest
from gateway_compaction.replay import Call, FixedModels, build_replay_runtime, replay_conversation

__all__ = ["BLOCK", "PAGE", "written"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "presets.md"
EXAMPLE = ROOT / "docs" / "examples" / "support_chat.json"
FENCED = r"(?:(?!```)[^\n]*\n)*"
BLOCK = re.compile(rf"(?m)^```yaml\n(?P<policy>{FENCED})```\n\n```replay (?P<options>.*)\n{FENCED}```$")
WIDTH, SHOWN = 90, 3
LENGTH = re.compile(r"in about (\d+) characters|in at most (\d+) words")
REPORT = """<summary>
**Task Overview**
- Wanted: a command-line calculator in /work/calc, tested with pytest; unittest is not wanted
**Work Completed**
- /work/calc/calculator.py written: add, subtract, multiply, divide; /work/calc/test_calculator.py written
- `pytest -q` run after each step; the last run passed
**Important Context**
- divide() raises ValueError for zero, message "cannot divide by zero"
- An ImportError was solved by adding /work/calc/__init__.py
**Current State**
- All operations are done; the command line is next
</summary>"""


class StandIn:
    """In the place of a model: the first words of what it is to summarise, or the report of an agent."""

    def __init__(self, report: str | None) -> None:
        self.report = report

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        found = LENGTH.search(request.user)
        chars = int(found[1] or 6 * int(found[2])) if found else 300
        shown = request.user.split("<transcript>\n")[1].split("\n</transcript>")[0]
        words = re.sub(r"(?m)^\[\d+\] (?:(\w+) wrote: )?", r"", shown).split()
        text = " ".join(words)[: min(chars, 400)].rsplit(" ", 1)[0]
        return SummaryAnswer(self.report or f"<summary>{text}</summary>", "stop", "stand-in")


def agent() -> list[dict[str, Any]]:
    """A coding agent at work: one task, then calls and results."""
    task = "Write a command-line calculator in /work/calc and test it with pytest. Do not use unittest."
    said: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a coding agent. Work step by step."},
        {"role": "user", "content": task},
    ]
    for step in range(1, 37):
        operation = ("add", "subtract", "multiply", "divide")[step % 4]
        arguments = {"command": f"cd /work/calc && pytest -q -k {operation} # step {step}"}
        call = {"name": "bash", "arguments": json.dumps(arguments)}
        said.append(
            {
                "role": "assistant",
                "content": f"Step {step}: I extend {operation}() and run its tests.",
                "tool_calls": [{"id": f"call_{step}", "type": "function", "function": call}],
            }
        )
        lines = [f"test_calculator.py::test_{operation}_{n} PASSED" for n in range(6)]
        result = "\n".join([*lines, f"6 passed in 0.{step:02d}s"])
        said.append({"role": "tool", "tool_call_id": f"call_{step}", "content": result})
    return said


def calls(name: str) -> Iterator[tuple[Any, ...]]:
    """The calls of a client in one of the two conversations."""
    messages = agent() if name == "agent" else json.loads(EXAMPLE.read_text(encoding="utf-8"))
    for end, message in enumerate(messages, 1):
        if message["role"] in ("user", "tool"):
            yield tuple(messages[:end])


async def played(policy: str, window: int, talk: str, shown: Sequence[int], whole: int) -> str:
    """What became of some calls, and the whole of one."""
    path = ROOT / "docs" / "presets.yaml"
    book = _book(policy, path, window)
    summarizer = StandIn(REPORT if talk == "agent" else None)
    runtime = build_replay_runtime(FixedModels(window, "gpt-4o"), summarizer, book)
    lines = []
    try:
        async for call in replay_conversation(runtime, calls(talk), {}, Identity(model="gpt-4o"), "page"):
            if call.number in shown:
                lines.append(_row(call))
            if call.number == whole:
                told = _told(call)
    finally:
        await runtime.aclose()
    came = _shorten(list(calls(talk))[whole - 1])
    parts = [
        *lines,
        "",
        f"call {whole}, as it came:",
        *came,
        "",
        f"call {whole}, as it went upstream:",
        *told,
    ]
    return "\n".join(parts) + "\n"


def _book(policy: str, path: Path, window: int) -> PolicyBook:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path.name
        file.write_text(policy, encoding="utf-8")
        # Quotes are left out: the page is about what stands for earlier messages.
        return load_policy_file(file, {"context_window": window, "recall": {"max_tokens": 0}})


def _row(call: Call) -> str:
    client = f"{call.messages_client:3} messages, {call.tokens_client:5,} tokens"
    if call.messages_upstream == call.messages_client:
        return f"call {call.number:2}: {client}   sent as it came ({call.outcome})"
    if not call.covers:
        return f"call {call.number:2}: {client} → {call.messages_upstream:3} messages, one of the user"
    sent = f"{call.messages_upstream:3} messages, {call.tokens_upstream:5,} tokens"
    return f"call {call.number:2}: {client} → {sent}   summary {call.version} of {call.covers} messages"


def _told(call: Call) -> list[str]:
    """All of the block, and of what came as it is the first line of each message but those in the middle."""
    block = next(i for i, m in enumerate(call.upstream) if f"<{TAG}>" in text_of(m))
    before = [line for message in call.upstream[:block] for line in _lines(message)[:1]]
    return [*before, *_lines(call.upstream[block]), *_shorten(call.upstream[block + 1 :])]


def _shorten(messages: Sequence[Any]) -> list[str]:
    """The first line of each message; where they are many, those in the middle are left out."""
    lines = [_lines(message)[0] for message in messages]
    rest = len(lines) - 2 * SHOWN
    if rest <= 0:
        return lines
    return [*lines[:SHOWN], f"… {rest} more messages, as they came", *lines[-SHOWN:]]


def _lines(message: Any) -> list[str]:
    calls = message.get("tool_calls") or ()
    text = text_of(message) or ", ".join(c["function"]["arguments"] for c in calls)
    roles = [str(message["role"]), *[""] * text.count("\n")]
    return [f"{role:10} {_short(line)}".rstrip() for role, line in zip(roles, text.split("\n"), strict=True)]


def _short(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 2]} …"


def written(page: str) -> str:
    """The page with every block played anew.

    A block's options: window=TOKENS, talk=chat or agent, calls=NUMBERS to list, whole=the call to show.
    """

    def anew(block: re.Match[str]) -> str:
        options = dict(part.split("=") for part in block["options"].split())
        listed = [int(n) for n in options["calls"].split(",")]
        made = asyncio.run(
            played(block["policy"], int(options["window"]), options["talk"], listed, int(options["whole"]))
        )
        return f"```yaml\n{block['policy']}```\n\n```replay {block['options']}\n{made}```"

    return BLOCK.sub(anew, page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
