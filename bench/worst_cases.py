"""How the work of a request grows with hostile texts: every function that sees message text, every odd text.

A growth of 1 is linear, of 10 quadratic. Run: python -m bench.worst_cases [name of a function ...]
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from gateway_compaction.core.conversation.digest import digest_message
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import compute_user_weight
from gateway_compaction.core.extractive.extract import build_extract
from gateway_compaction.core.pins.anchors import Scoring, choose_anchors
from gateway_compaction.core.pins.pins import collect_pins
from gateway_compaction.core.recall.index import build_index, build_query
from gateway_compaction.core.recall.passages import split_into_passages
from gateway_compaction.core.recall.recall import AlreadySent, find_quote, render_all_lines
from gateway_compaction.core.summary.acceptance import accept_summary
from gateway_compaction.core.summary.block import FrameSettings, build_frame, build_summary_message
from gateway_compaction.core.summary.identifier_check import check_identifiers
from gateway_compaction.core.summary.prompts import ShownLimit, render_messages
from gateway_compaction.core.text.calls_in_text import calls_tool
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.identifiers import find_identifiers, forget_identifiers, is_spelled_in
from gateway_compaction.core.text.language import detect_language, get_phrases
from gateway_compaction.core.text.provenance import find_brought_in
from gateway_compaction.core.text.sentences import find_sentence_spans
from gateway_compaction.core.text.shorten import clear_result, shorten
from gateway_compaction.core.text.terms import extract_terms, forget_terms
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.errors import SummaryRejected
from gateway_compaction.ports import SummaryAnswer
from gateway_compaction.runtime import use_bundled_encodings
from tests.core.hostile import KEYS, texts

MODEL = "gpt-4o"
SMALL, LARGE = 10_000, 100_000
# A single measurement that takes longer is given up: the text is then worse than any number tells.
PATIENCE = 4.0
# Below this many milliseconds for the large text, growth is noise.
NOTICED = 4.0
Work = Callable[[str], object]


class _TooLong(Exception):
    """A measurement was given up."""


def _rough(text: str) -> int:
    return len(text) // 4


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _tool(text: str) -> Message:
    return {"role": "tool", "tool_call_id": "1", "content": text}


def _talk(text: str) -> list[Message]:
    return [_user(text), {"role": "assistant", "content": text}, _tool(text)]


def _quoted(text: str) -> object:
    index = build_index([_user(text)], [split_into_passages(_user(text))])
    render_all_lines(index, ["user"], _rough)
    query = build_query(_user(text[:2_000] + "?"), KEYS)
    return find_quote(index, query, AlreadySent(text[:16_000]), 2_000, get_phrases("en"), _rough)


def _framed(text: str) -> object:
    settings = FrameSettings(rule_tokens=400, wants_json=True, max_anchors=5, scoring=Scoring(keys=KEYS))
    frame = build_frame(_talk(text), 2_000, settings, _rough)
    return build_summary_message(text, frame, _rough)


def _accepted(text: str) -> object:
    try:
        return accept_summary(SummaryAnswer(text, "stop", MODEL), len(text), 1_000, _rough)
    except SummaryRejected:
        return None


def _counted(text: str) -> int:
    return TokenCounter().calibrated_tokens(_user(text), MODEL)


def _shortened(text: str) -> str:
    counter = TokenCounter()
    return shorten(text, 1_000, lambda t: counter.raw_tokens(t, MODEL))


WORKS: dict[str, Work] = {
    "digest": lambda t: digest_message(_user(t)),
    "digest of a part": lambda t: digest_message({"role": "user", "content": [{"type": "x", "x": t}]}),
    "bound": lambda t: TokenCounter().upper_bound([_user(t)], {}, MODEL, 10**9),
    "count": _counted,
    "sentences": find_sentence_spans,
    "terms": extract_terms,
    "identifiers": find_identifiers,
    "spelled in": lambda t: is_spelled_in(t[10:40], t),
    "language": lambda t: detect_language([t]),
    "passages": lambda t: split_into_passages(_user(t)),
    "query": lambda t: build_query(_user(t), KEYS),
    "user weight": lambda t: compute_user_weight(_talk(t)),
    "recall": _quoted,
    "provenance": find_brought_in,
    "calls in text": calls_tool,
    "pins": lambda t: collect_pins(_talk(t), 300, 400, _rough),
    "anchors": lambda t: choose_anchors(_talk(t), 5, 400, Scoring(keys=KEYS), _rough),
    "shorten": _shortened,
    "clear": lambda t: clear_result(_tool(t), _rough),
    "defuse": escape_markup,
    "extract": lambda t: build_extract(_talk(t), 2_000, _rough),
    "frame": _framed,
    "transcript": lambda t: render_messages(_talk(t), 0, ShownLimit(2_000), _rough),
    "accept": _accepted,
    "accuracy": lambda t: check_identifiers(t[:8_000], [_user(t)], "", 2_000, _rough),
}


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise _TooLong


@contextmanager
def _patience() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def milliseconds(work: Work, text: str) -> float:
    """Milliseconds of CPU, the better of two runs with nothing remembered; infinite where it was given up."""
    best = float("inf")
    for _ in range(2):
        forget_identifiers()
        forget_terms()
        start = time.process_time()
        try:
            with _patience():
                work(text)
        except _TooLong:
            return float("inf")
        best = min(best, (time.process_time() - start) * 1000)
        if best > 200:
            break
    return best


def main(names: list[str]) -> None:
    """For each function its slowest texts and those that grow most."""
    use_bundled_encodings()
    small, large = texts(SMALL), texts(LARGE)
    _counted("warm")
    print(f"{'function':18}{'text':24}{'ms per 10k at 10k':>20}{'at 100k':>10}{'growth':>9}")
    for name in names or WORKS:
        rows = []
        for text in small:
            first = milliseconds(WORKS[name], small[text])
            last = milliseconds(WORKS[name], large[text]) if first < PATIENCE * 100 else float("inf")
            rows.append((text, first, last / 10, last / 10 / max(first, NOTICED / 10)))
        slowest = sorted(rows, key=lambda r: -r[2])[:3]
        growing = [r for r in sorted(rows, key=lambda r: -r[3]) if r[3] > 1.5][:6]
        for text, first, last, growth in dict.fromkeys([*slowest, *growing]):
            print(f"{name:18}{text:24}{first:20.2f}{last:10.2f}{growth:9.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
