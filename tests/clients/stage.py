"""One client as a program, its conversation with the gateway, and what must hold of it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.steering import Model
from tests.clients.tap import Tap
from tests.lab import RedisServer, Seen, Summariser, Upstream, violations
from tests.lab.endpoints import anthropic_violations, responses_violations
from tests.lab.proxy import Proxy

__all__ = [
    "DEPLOYMENTS",
    "KEY",
    "LARGE",
    "SIZES",
    "TURNS",
    "WINDOW",
    "Played",
    "Stage",
    "broken_rules",
    "check",
    "environment",
    "installed",
]

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
KEY = "sk-a-1"
WINDOW = 6000
# For agents whose own instructions are long.
LARGE = 64_000
SIZES = {WINDOW: "", LARGE: "-large"}
TURNS = 16
SECONDS = 300
# The picture of `programs/talk.py`.
IMAGE = "iVBORw0KGgo"
PATHS = {"chat": "/chat/completions", "messages": "/messages", "responses": "/responses"}
# The deployment of each door's own provider: the group, and the name that the upstream sees.
DEPLOYMENTS = {
    "chat": ("clients-openai", "gpt-4o-clients"),
    "responses": ("clients-openai", "gpt-4o-clients"),
    "messages": ("clients-anthropic", "claude-clients"),
}


@dataclass(slots=True)
class Played:
    """What a client did and was told.

    Attributes:
        lines: the JSON lines that the program printed, one for each turn.
        output: all that it printed.
    """

    code: int
    lines: list[dict[str, Any]]
    output: str
    model: Model
    outcomes: list[str]
    reasons: list[str]
    statuses: list[int]
    agents: list[str]

    @property
    def told(self) -> list[str]:
        """Outcome and reason of each answer, with the share of the window that the upstream received."""
        shares = [f"{seen.tokens / self.model.window:.2f}" for seen in self.model.seen]
        return [" ".join(words) for words in zip(self.outcomes, shares, self.reasons, strict=False)]


def broken_rules(seen: Seen) -> list[str]:
    """The rules of its own provider that a body breaks which the upstream received."""
    if seen.path.endswith("/messages"):
        return anthropic_violations(seen.body)
    return responses_violations(seen.body) if seen.path.endswith("/responses") else violations(seen.messages)


def environment(url: str, mark: str, model: str, home: Path) -> dict[str, str]:
    """The base URL and the key, by every name that clients read; of the rest only the path."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "PYENV_ROOT") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "NO_PROXY": "*",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLIENT_URL": url,
        "CLIENT_KEY": KEY,
        "CLIENT_MODEL": model,
        "CLIENT_MARK": mark,
        "CLIENT_TURNS": str(TURNS),
    }


def installed(home: str, program: str) -> list[str]:
    """The command of a program of ``programs/`` in one of the environments that `make clients` sets up."""
    root = Path(os.environ["CLIENTS_HOME"]).resolve() / home
    if home == "node":
        # Node looks for packages beside the file that asks for them.
        return [shutil.which("node") or "node", str(root / "programs" / program)]
    return [str(root / "bin" / "python"), str(PROGRAMS / program)]


@dataclass(slots=True)
class Stage:
    """The gateway with its upstream, emptied for each client."""

    proxy: Proxy
    upstream: Upstream
    summariser: Summariser
    redis_server: RedisServer
    home: Path

    async def play(self, door: str, mark: str, program: str, *arguments: str) -> Played:
        """Run one of ``programs/`` until it has ended."""
        return await self.run(door, mark, [sys.executable, str(PROGRAMS / program), *arguments])

    async def run(
        self,
        door: str,
        mark: str,
        command: Sequence[str],
        *,
        window: int = WINDOW,
        typed: str | None = None,
        env: Mapping[str, str] | None = None,
        **steering: Any,
    ) -> Played:
        """Run a command in an empty home until it has ended.

        Args:
            door: the endpoint; it chooses the deployment.
            mark: what tells this conversation from others.
            command: the program; ``{model}`` and ``{url}`` in its arguments and environment are filled in.
            window: ``WINDOW`` or ``LARGE``.
            typed: what it reads from its standard input.
            env: further environment variables.
            steering: how the scripted ``Model`` differs.
        """
        name, served = (f"{kind}{SIZES[window]}" for kind in DEPLOYMENTS[door])
        async with Tap(self.proxy.port) as tap:
            model = Model(window, self.summariser, self.redis_server, tap.outcomes, mark, **steering)
            self.upstream.scripts[served] = model

            def fill(part: str) -> str:
                return part.replace("{model}", name).replace("{url}", tap.url)

            filled = [fill(part) for part in command]
            own = {key: fill(value) for key, value in (env or {}).items()}
            told = {**environment(tap.url, mark, name, self.home), **own}
            process = await asyncio.create_subprocess_exec(
                *filled,
                env=told,
                cwd=self.home,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            spoken = process.communicate((typed or "").encode())
            try:
                output, errors = await asyncio.wait_for(spoken, SECONDS)
            except TimeoutError:
                process.kill()
                output, errors = await process.communicate()
        text = output.decode(errors="replace")
        lines = [json.loads(line) for line in text.splitlines() if line.startswith('{"text"')]
        code = process.returncode or 0
        whole = f"{text}\n{errors.decode(errors='replace')}"
        return Played(code, lines, whole, model, tap.outcomes, tap.reasons, tap.statuses, [*tap.agents])


def check(
    played: Played,
    door: str,
    *,
    images: bool = True,
    streamed: Sequence[bool] = (False, True),
    parallel: bool = True,
    own: Sequence[str] = (),
) -> None:
    """The client was answered all along, every level came up, and its provider would take what it was sent.

    ``streamed`` says of which kinds its calls must have been: whole, streamed, or both; ``own`` what it
    breaks itself.
    """
    assert played.code == 0, played.output[-3000:]
    assert set(played.statuses) == {200}, (played.statuses, played.output[-3000:])
    assert {"none", "applied"} <= set(played.outcomes), played.told
    # Where one turn is the whole conversation, a summary may be possible only from `medium` on.
    assert any("prepared" in told or "being made" in told for told in played.told), played.told
    sent = played.model.seen
    assert len(sent) == len(played.outcomes), "a call reached the upstream twice, or never"
    assert played.model.jumped_at is not None, played.told
    assert "fallback" in played.outcomes[played.model.jumped_at :], (played.model.jumped_at, played.told)
    for seen in sent:
        assert seen.path.endswith(PATHS[door]), seen.path
        broken = [rule for rule in broken_rules(seen) if not rule.endswith(tuple(own))]
        assert seen.tokens <= played.model.window and not broken, (seen.tokens, broken)
    assert {bool(seen.body.get("stream")) for seen in sent} == set(streamed)
    assert any(IMAGE in seen.raw.decode() for seen in sent) == images
    assert bool(played.model.parallel) == parallel
