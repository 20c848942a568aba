"""Agents as programs, each some dozen steps of its own loop; `make clients` sets up what they need."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.clients.stage import KEY, LARGE, Stage, check
from tests.lab.skips import skip_loudly

TASK = "Find out where the ships lie. {mark}"
STEPS = 30


def program(home: str, name: str) -> str:
    """An installed program."""
    folder = {"node": "node_modules/.bin"}.get(home, "bin")
    return str(Path(os.environ["CLIENTS_HOME"]).resolve() / home / folder / name)


def printing(number: int, words: int) -> str:
    """A shell command that prints so many words."""
    return f"seq -s ' berth ' {number * 1000} {number * 1000 + words // 3}"


@pytest.fixture
def mark() -> str:
    """A word of this conversation alone."""
    return f"mark-{uuid.uuid4().hex[:8]}"


async def test_mini_swe_agent(stage: Stage, mark: str) -> None:
    def bash(number: int, words: int) -> tuple[str, Mapping[str, Any]]:
        return "bash", {"command": printing(number, words)}

    def submit(number: int, words: int) -> tuple[str, Mapping[str, Any]]:
        return "bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}

    command = [program("openai2", "mini"), "--yolo", "--exit-immediately", "--cost-limit", "0"]
    command += ["--model", "openai/{model}", "--task", TASK.format(mark=mark), "--output", "run.json"]
    env = {"MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors"}
    played = await stage.run(
        "chat", mark, command, env=env, called=bash, ending=submit, loop=STEPS, largest=1500
    )
    check(played, "chat", images=False, streamed=[False])


async def test_aider(stage: Stage, mark: str) -> None:
    asked = "".join(f"Where does ship {turn} of {mark} lie?\n" for turn in range(14)) + "/exit\n"
    command = [program("aider", "aider"), "--model", "openai/{model}", "--no-git", "--yes-always"]
    command += ["--no-fancy-input", "--no-pretty", "--no-check-update", "--no-show-model-warnings"]
    command += ["--analytics-disable", "--chat-mode", "ask", "--map-tokens", "0"]
    # Its own summaries of the chat.
    command += ["--max-chat-history-tokens", "1000000"]
    played = await stage.run("chat", mark, command, typed=asked, texts=True)
    check(played, "chat", images=False, streamed=[True], parallel=False)


async def test_codex(stage: Stage, mark: str) -> None:
    def shell(number: int, words: int) -> tuple[str, Mapping[str, Any]]:
        return "exec_command", {"cmd": printing(number, words), "max_output_tokens": 20_000}

    provider = 'model_providers.gateway={name="gateway",base_url="{url}/v1",env_key="CLIENT_KEY",'
    provider += 'wire_api="responses"}'
    command = [program("node", "codex"), "exec", "--skip-git-repo-check", "-c", provider]
    command += ["-c", 'model_provider="gateway"', "--model", "{model}"]
    command += ["--dangerously-bypass-approvals-and-sandbox", TASK.format(mark=mark)]
    played = await stage.run("responses", mark, command, window=LARGE, called=shell, loop=STEPS, largest=6000)
    check(played, "responses", images=False, streamed=[True])


async def test_claude_code(stage: Stage, mark: str) -> None:
    def bash(number: int, words: int) -> tuple[str, Mapping[str, Any]]:
        return "Bash", {"command": printing(number, words), "description": "Look."}

    command = [program("node", "claude"), "--print", "--model", "{model}", "--permission-mode"]
    command += ["bypassPermissions", TASK.format(mark=mark)]
    env = {"DISABLE_AUTO_COMPACT": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"}
    env |= {"ANTHROPIC_SMALL_FAST_MODEL": "small", "ANTHROPIC_DEFAULT_HAIKU_MODEL": "small"}
    played = await stage.run(
        "messages", mark, command, env=env, window=LARGE, called=bash, loop=STEPS, largest=6000
    )
    # It says some of its instructions in messages of the role `system` behind the first.
    check(played, "messages", images=False, streamed=[True], own=["unknown role (system)"])


async def test_opencode(stage: Stage, mark: str) -> None:
    def bash(number: int, words: int) -> tuple[str, Mapping[str, Any]]:
        return "bash", {"command": printing(number, words), "description": "Look."}

    settings = {
        "provider": {
            "gateway": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": KEY},
                "models": {"clients-openai-large": {"limit": {"context": 1_000_000, "output": 8000}}},
            }
        },
        "small_model": "gateway/clients-openai-large",
        "autoupdate": False,
        "compaction": {"auto": False, "prune": False},
        "permission": "allow",
    }
    (stage.home / "opencode.json").write_text(json.dumps(settings))
    command = [program("node", "opencode"), "run", "--model", "gateway/{model}", TASK.format(mark=mark)]
    env = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    played = await stage.run(
        "chat", mark, command, env=env, window=LARGE, called=bash, loop=STEPS, largest=6000
    )
    check(played, "chat", images=False, streamed=[True])


async def test_openhands(stage: Stage, mark: str) -> None:
    if shutil.which(program("openhands", "openhands")) is None:
        skip_loudly("OpenHands: it needs `make clients PYTHON312=…`")

    def terminal(number: int, words: int) -> tuple[str, Mapping[str, Any]]:
        return "terminal", {"command": printing(number, words), "security_risk": "LOW", "summary": "Look."}

    def finish(number: int, words: int) -> tuple[str, Mapping[str, Any]]:
        return "finish", {"message": "They lie there.", "security_risk": "LOW", "summary": "Done."}

    command = [program("openhands", "openhands"), "--headless", "--override-with-envs", "--json"]
    command += ["--task", TASK.format(mark=mark)]
    env = {"LLM_BASE_URL": "{url}/v1", "LLM_API_KEY": KEY, "LLM_MODEL": "openai/{model}"}
    played = await stage.run(
        "chat", mark, command, env=env, window=LARGE, called=terminal, ending=finish, loop=STEPS, largest=5000
    )
    check(played, "chat", images=False, streamed=[False])
