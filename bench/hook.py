"""CPU of the hook's work for one call of chat, beside the least that it must do and beside other tools.

"before" is what happens until the request goes to the provider, "after" what follows the answer, on all
threads of the process. What Redis itself does is not in it, nor what LiteLLM's proxy does besides.

The cases, each a conversation of so many tokens in so many messages:

- far: the window is ten times as large, so nothing is to be done.
- near: between the levels ``light`` and ``medium``, so all is counted and the store is asked.
- compacted: over ``medium``, with a stored summary and quotes for later questions.
- aggressive: over the window with nothing stored, so an extract is made while the call waits.
- cold: near, and the process has never seen any of the messages.

Each call gets its messages as new objects, as from a client. The cases and tools take turns within each
round; of all rounds the least counts, since other work on the machine only adds to it.
Run: python -m bench.hook [--full] [--json FILE] [--markdown FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import time
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from bench.hook_calls import MODEL, OneModel, PlayedCall, build_hook, play_call
from bench.hook_report import Figure, describe_machine, to_markdown
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.runtime import use_bundled_encodings
from tests.lab.redis_server import RedisServer

Talk = list[dict[str, Any]]
PLACES = ("berth", "crane", "dock", "quay", "shed", "basin", "lock", "pier")
THINGS = ("grain", "timber", "copper", "salt", "oil", "tin", "wool", "coal")
# Tokens and messages of the conversations; the full run has them all.
QUICK = ((5_000, 20), (30_000, 100), (100_000, 400), (100_000, 1_000))
FULL = ((5_000, 10), *QUICK, (100_000, 5_000))
SHARES = {"far": 0.1, "near": 0.8, "compacted": 0.93, "aggressive": 1.2, "cold": 0.8}
"""Share of the window that each case takes."""
ROUNDS, SLOW_ROUNDS = 15, 3
"""Rounds of what takes milliseconds, and of what takes tenths of a second."""
SLOW_SECONDS = 1.0
"""What takes longer is measured once."""
GIVEN_UP_SECONDS = 5.0
"""What takes longer is not measured on the sizes that follow."""


class Case(NamedTuple):
    """A conversation with what is done to it; ``name`` is one of ``SHARES``."""

    tokens: int
    messages: int
    name: str


def build_talk(tokens: int, messages: int, opening: str = "") -> Talk:
    """Build a conversation of about so many tokens that ends with a question about its middle."""
    words = max(1, int((tokens / messages - 4) * 0.75) - 8)
    talk: Talk = [{"role": "system", "content": "You look after the harbour."}]
    for number in range(messages - 2):
        role = "assistant" if number % 2 else "user"
        place, thing = PLACES[number % 8], THINGS[number // 8 % 8]
        said = itertools.islice(itertools.cycle((place, "has", thing, str(number % 97), "tons;")), words)
        talk.append(
            {
                "role": role,
                "content": f"{opening}Ship_{number} lies there: {' '.join(said)}. And Ship_{number // 4}?",
            }
        )
    return [*talk, {"role": "user", "content": f"Where does Ship_{messages // 4} lie?"}]


def count_tokens(talk: Talk) -> int:
    """Return the tokens of a conversation, as the product counts them."""
    counter = TokenCounter()
    return sum(counter.raw_message_tokens(message, MODEL) for message in talk)


def hash_texts(talk: Talk) -> None:
    """Hash all texts: whoever compares a conversation with an earlier one does no less."""
    hashed = blake2b(digest_size=16)
    for message in talk:
        hashed.update(message["content"].encode())


def list_peers(window: int) -> dict[str, Callable[[Talk], object]]:
    """List what other tools do with the same messages; those that are not installed are left out."""
    import litellm
    from litellm.utils import trim_messages

    room = int(window * 0.75)
    peers: dict[str, Callable[[Talk], object]] = {
        "floor: blake2b of the texts": hash_texts,
        "litellm.token_counter": lambda talk: litellm.token_counter(MODEL, messages=talk),
        "litellm.trim_messages": lambda talk: trim_messages(talk, MODEL, max_tokens=room),
    }
    if hasattr(litellm, "compress"):
        peers["litellm.compress"] = lambda talk: litellm.compress(
            talk, MODEL, compression_trigger=room, compression_target=room // 2
        )
    try:
        from langchain_core.messages import convert_to_messages
        from langchain_core.messages import trim_messages as trim
    except ImportError:
        return peers
    peers["LangChain trim_messages, approximate"] = lambda talk: trim(
        convert_to_messages(talk), max_tokens=room, token_counter="approximate"
    )
    return peers


class Bench:
    """The plugin in this process, and the conversations that are sent through it."""

    def __init__(self, redis_url: str) -> None:
        self.models = OneModel(128_000)
        self.runtime, self.hook = build_hook(self.models, redis_url)
        self._nonces = itertools.count()
        self._warm: dict[Case, str] = {}
        self._sizes: dict[tuple[int, int], int] = {}

    async def play(self, case: Case) -> PlayedCall:
        """Send one call of a case, and return its outcome and CPU before and after, in seconds."""
        talk = json.loads(json.dumps(self._build(case)))
        self._set_window(case)
        return await play_call(self.runtime, self.hook, "chat", {"messages": talk, "max_tokens": 16})

    def _set_window(self, case: Case) -> None:
        size = case.tokens, case.messages
        if size not in self._sizes:
            self._sizes[size] = count_tokens(build_talk(*size))
        self.models.window = int(self._sizes[size] / SHARES[case.name])

    def _build(self, case: Case) -> Talk:
        if case.name == "cold":
            return build_talk(case.tokens, case.messages, f"{next(self._nonces)}: ")
        talk = build_talk(case.tokens, case.messages)
        name = case.name if case.name != "aggressive" else f"{case.name} {next(self._nonces)}"
        # A conversation is known by its opening: each case has its own.
        talk[1]["content"] = f"{name}. {talk[1]['content']}"
        return talk

    async def warm(self, case: Case) -> str:
        """Send what comes before the calls that are measured, and return the outcome of these."""
        if case.name == "compacted":
            # The extract of a call that had to be made fit; what is later is asked about it.
            talk = self._build(case)
            self._set_window(case)
            for end in (len(talk) - 3, len(talk) - 1):
                body = {"messages": [*talk[: end - 1], talk[-1]], "max_tokens": 16}
                await play_call(self.runtime, self.hook, "chat", body)
        outcome = ""
        for _ in range(1 if case.name in ("cold", "aggressive") else 3):
            outcome = (await self.play(case))[0]
        return outcome


async def measure_cases(bench: Bench, sizes: tuple[tuple[int, int], ...]) -> list[Figure]:
    """Measure the plugin in every case of every size."""
    cases = [Case(*size, name) for size in sizes for name in SHARES]
    outcomes = {case: await bench.warm(case) for case in cases}
    gc.freeze()
    least: dict[Case, list[float]] = {case: [float("inf"), float("inf")] for case in cases}
    for number in range(ROUNDS):
        for case in cases:
            if number >= SLOW_ROUNDS and case.name in ("cold", "aggressive"):
                continue
            _, before, after = await bench.play(case)
            least[case] = [min(least[case][0], before), min(least[case][1], after)]
    return [
        Figure(case.tokens, case.messages, case.name, outcomes[case] or "none", *least[case])
        for case in cases
    ]


def measure_peers(sizes: tuple[tuple[int, int], ...]) -> list[Figure]:
    """Measure the other tools, made to bring each conversation below three quarters of the same window."""
    figures: list[Figure] = []
    for tokens, messages in sizes:
        talk = build_talk(tokens, messages)
        least: dict[str, float] = {}
        given_up = {figure.name for figure in figures if figure.before > GIVEN_UP_SECONDS}
        peers: Mapping[str, Callable[[Talk], object]] = list_peers(count_tokens(talk))
        for number in range(SLOW_ROUNDS):
            for name, work in peers.items():
                if name in given_up or (number and least[name] > SLOW_SECONDS):
                    continue
                fresh = json.loads(json.dumps(talk))
                started = time.process_time()
                work(fresh)
                least[name] = min(least.get(name, float("inf")), time.process_time() - started)
        figures += [Figure(tokens, messages, name, "", spent, 0.0) for name, spent in least.items()]
    return figures


def main() -> None:
    """Print the table, and write it where the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all sizes, in about six minutes")
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--markdown", type=Path, help="write the table into this page")
    arguments = parser.parse_args()
    use_bundled_encodings()
    sizes = FULL if arguments.full else QUICK
    with RedisServer() as server:

        async def run() -> list[Figure]:
            bench = Bench(server.url)
            try:
                return await measure_cases(bench, sizes)
            finally:
                await bench.runtime.aclose()

        figures = asyncio.run(run())
    figures += measure_peers(sizes)
    machine = describe_machine()
    print(to_markdown(figures, machine))
    if arguments.json:
        report = {"machine": machine, "figures": [figure._asdict() for figure in figures]}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    if arguments.markdown:
        write_section(arguments.markdown, to_markdown(figures, machine))


def write_section(page: Path, section: str) -> None:
    """Put the section in the place of the one with the same heading, or at the page's end."""
    heading, text = section.splitlines()[0], page.read_text() if page.exists() else "# Benchmarks\n"
    before, found, rest = text.partition(f"{heading}\n")
    _, next_heading, later = rest.partition("\n## ")
    page.write_text(
        f"{before.rstrip()}\n\n{section}\n" + (f"{next_heading}{later}" if found and later else "")
    )


if __name__ == "__main__":
    main()
