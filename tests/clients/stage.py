"""One client as a program, its conversation with the gateway, and what must hold of it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clients.steering import Model
from tests.clients.tap import Tap
from tests.lab import RedisServer, Seen, Summariser, Upstream, violations
from tests.lab.endpoints import anthropic_violations, responses_violations
from tests.lab.proxy import Proxy

__all__ = ["DEPLOYMENTS", "KEY", "TURNS", "WINDOW", "Played", "Stage", "broken_rules", "check", "environment"]

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
KEY = "sk-a-1"
WINDOW = 6000
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


@dataclass(slots=True)
class Stage:
    """The gateway with its upstream, emptied for each client."""

    proxy: Proxy
    upstream: Upstream
    summariser: Summariser
    redis_server: RedisServer
    home: Path
    python: str = sys.executable
    steering: Mapping[str, Any] = field(default_factory=dict)

    async def play(self, door: str, mark: str, program: str, *arguments: str) -> Played:
        """Run one of ``programs/`` until it has ended."""
        interpreter = {".py": self.python, ".mjs": shutil.which("node") or "node"}[Path(program).suffix]
        return await self.run(door, mark, [interpreter, str(PROGRAMS / program), *arguments])

    async def run(
        self, door: str, mark: str, command: list[str], env: Mapping[str, str] | None = None
    ) -> Played:
        """Run a command in an empty home until it has ended; the model that it talks to is scripted."""
        name, served = DEPLOYMENTS[door]
        async with Tap(self.proxy.port) as tap:
            model = Model(WINDOW, self.summariser, self.redis_server, tap.outcomes, **self.steering)
            self.upstream.scripts[served] = model
            told = {**environment(tap.url, mark, name, self.home), **(env or {})}
            process = await asyncio.create_subprocess_exec(
                *command,
                env=told,
                cwd=self.home,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                output, errors = await asyncio.wait_for(process.communicate(), SECONDS)
            except TimeoutError:
                process.kill()
                output, errors = await process.communicate()
        text = output.decode(errors="replace")
        lines = [json.loads(line) for line in text.splitlines() if line.startswith('{"text"')]
        code = process.returncode or 0
        whole = f"{text}\n{errors.decode(errors='replace')}"
        return Played(code, lines, whole, model, tap.outcomes, tap.reasons, tap.statuses, [*tap.agents])


def check(
    played: Played, door: str, *, images: bool = True, streamed: Sequence[bool] = (False, True)
) -> None:
    """The client was answered all along, every level came up, and its provider would take what it was sent.

    ``streamed`` says of which kinds its calls must have been: whole, streamed, or both.
    """
    assert played.code == 0, played.output[-3000:]
    assert set(played.statuses) == {200}, (played.statuses, played.output[-3000:])
    assert {"none", "prepared", "applied"} <= set(played.outcomes), played.told
    sent = played.model.seen
    assert len(sent) == len(played.outcomes), "a call reached the upstream twice, or never"
    assert played.model.jumped_at is not None, played.told
    assert "fallback" in played.outcomes[played.model.jumped_at :], (played.model.jumped_at, played.told)
    for seen in sent:
        assert seen.path.endswith(PATHS[door]), seen.path
        assert seen.tokens <= played.model.window and not broken_rules(seen), (
            seen.tokens,
            broken_rules(seen),
        )
    assert {bool(seen.body.get("stream")) for seen in sent} == set(streamed)
    assert any(IMAGE in seen.raw.decode() for seen in sent) == images
    assert played.model.parallel, "no parallel calls were asked for"
