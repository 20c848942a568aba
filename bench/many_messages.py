"""How the work of a plan grows with the number of messages: talks of odd shapes, nothing remembered.

A growth of 1 is linear. Run: python -m bench.many_messages
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.runtime import use_bundled_encodings
from tests.core.builders import Bench, policy, sent_by, stored

SMALL, LARGE = 2_000, 8_000
# Both sizes of every talk but the empty one are over either window.
WINDOWS = (2_000, 8_000)
Talk = list[dict[str, Any]]


def _chat(size: int) -> Talk:
    said = (f"note {i}: report_{i} failed again" for i in range(size))
    return [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(said)]


def _rules(size: int) -> Talk:
    return [{"role": "user", "content": f"Please always keep note {i}."} for i in range(size)]


def _instructions(size: int) -> Talk:
    roles = ("user", "system")
    return [{"role": roles[i % 2], "content": f"Do step {i}."} for i in range(size)]


def _questions(size: int) -> Talk:
    return [{"role": "user", "content": f"What was report_{i % 50} about?"} for i in range(size)]


def _call(number: int) -> dict[str, Any]:
    function = {"name": "run", "arguments": f'{{"step": {number}}}'}
    return {"id": f"call{number}", "type": "function", "function": function}


def _result(number: int) -> dict[str, Any]:
    text = f"error in file_{number}.py, line {number}"
    return {"role": "tool", "tool_call_id": f"call{number}", "content": text}


def _tool_loop(size: int) -> Talk:
    steps: Talk = [{"role": "user", "content": "Go on."}]
    for number in range(size // 2):
        steps += [{"role": "assistant", "content": None, "tool_calls": [_call(number)]}, _result(number)]
    return steps


def _parallel(size: int) -> Talk:
    calls = {"role": "assistant", "content": None, "tool_calls": [_call(n) for n in range(size)]}
    asked = {"role": "user", "content": "Go on."}
    return [asked, calls, *(_result(n) for n in range(size)), asked]


def _parts(size: int) -> Talk:
    parts = [{"type": "text", "text": f"part {n}"} for n in range(size)]
    return [{"role": role, "content": parts} for role in ("user", "assistant", "user")]


def _empty(size: int) -> Talk:
    return [{"role": "user", "content": ""} for _ in range(size)]


SHAPES: Mapping[str, Callable[[int], Talk]] = {
    "chat": _chat,
    "rules": _rules,
    "instructions": _instructions,
    "questions": _questions,
    "tool loop": _tool_loop,
    "parallel calls": _parallel,
    "parts": _parts,
    "empty": _empty,
}


def milliseconds(talk: Talk, window: int) -> tuple[float, float, float]:
    """Milliseconds of CPU to measure, to plan and render, and to do that with half of it covered."""
    bench = Bench(window, policy(triggers__then="apply"))
    times = [time.process_time()]
    context = bench.context(talk)
    times.append(time.process_time())
    sent_by(make_plan(context), context)
    times.append(time.process_time())
    cuts = context.transcript.cuts
    kept = [stored(context, cuts[len(cuts) // 2], "model")] if cuts else []
    context = bench.context(talk, kept)
    start = time.process_time()
    sent_by(make_plan(context), context)
    return (times[1] - times[0]) * 1000, (times[2] - times[1]) * 1000, (time.process_time() - start) * 1000


def main() -> None:
    """One line for each shape and window."""
    use_bundled_encodings()
    Bench(1_000).raw_tokens("warm")
    print(f"{'shape':16}{'window':>8}{'measure':>10}{'plan':>10}{'stored':>10}   growth of each")
    for window in WINDOWS:
        for name, shape in SHAPES.items():
            first, last = (milliseconds(shape(size), window) for size in (SMALL, LARGE))
            growth = "  ".join(
                f"{b / max(a, 5.0) / (LARGE / SMALL):.1f}" for a, b in zip(first, last, strict=True)
            )
            print(f"{name:16}{window:8}" + "".join(f"{ms:10.0f}" for ms in last) + "   " + growth, flush=True)


if __name__ == "__main__":
    main()
