"""The fifth seed's story, end to end: work on day one, on day two a new conversation with another model.

docs/restore.md shows the body that the provider gets on day two. With ``WRITE_PAGES=1`` in the environment
this test writes it anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.fleet import Fleet, served
from tests.e2e.runs import queued
from tests.lab import Client, Proxy, Reply, Summariser, Upstream
from tests.lab.proxy import MASTER_KEY
from tests.lab.waiting import until

PAGE = Path(__file__).parents[2] / "docs" / "restore.md"
BLOCK = re.compile(r"(?s)(?<=```json day two\n).*?(?=\n```)")
DAY_ONE, DAY_TWO = "chat-2k", "agent-16k"
KEY, LABEL = "sk-days", {"x-session-id": "flow-day-1"}
FIRST_PLAN = {"project": "Flow", "plan": "Find the fault", "task": "read app/workflow.py", "cwd": "/repo"}
PLAN = {
    "project": "Flow",
    "plan": "Restore sessions",
    "task": "write docs/cli.md",
    "decisions": ["The API stays compatible.", "The command is singular: /flow."],
    "files": ["app/workflow.py", "docs/cli.md"],
    "cwd": "/repo",
}
STEPS = (
    "the reader of context.json, which now returns defaults for a missing file",
    "the lock around save(), since two editors wrote at once",
    "hydrate_prompt(), which puts project, plan and task first",
    "the recent window, which is trimmed by tokens and no longer by lines",
    "the tests of the command line, of which two still fail on Windows paths",
    "the migration of old files, which keeps a copy beside each",
)
SYSTEM = {"role": "system", "content": "You are the engineer of project Flow."}
QUESTION = {"role": "user", "content": "Where were we yesterday?"}


def say(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def talk() -> list[dict[str, str]]:
    """What is said on day one: a plan, six steps, and the last word. It fills the window of 2,000 tokens."""
    said = [
        SYSTEM,
        say("user", "Find out why sessions are not restored."),
        say("assistant", "The cause is in app/workflow.py: context.json is read before it is written."),
        say("user", "Then restore them. Always answer in one sentence."),
        say("assistant", "We decided to keep the API compatible, so save() stays as it is."),
    ]
    for number, step in enumerate(STEPS, 1):
        said.append(
            say("user", f"Step {number}: go on with {step}. Tell what you change and what is left. " * 6)
        )
        said.append(
            say("assistant", f"Step {number} is done: I changed {step}, and all its tests pass. " * 6)
        )
    return [*said, say("user", "That is all for today; docs/cli.md comes next.")]


async def play_day_one(client: Client, url: str) -> None:
    """All calls of day one, of which the first tells another plan.

    Each is sent when all that follows the one before is done, as by somebody who writes its text: which
    summary is there at a call is no matter of how busy the machine is.
    """
    said = talk()
    ends = [4, *range(6, len(said) + 1, 2)]
    key = {"Authorization": f"Bearer {MASTER_KEY}"}
    async with httpx.AsyncClient(base_url=url, headers=key, trust_env=False) as http:

        async def is_done() -> bool:
            found = await http.get("/compaction/sessions", params={"text": LABEL["x-session-id"]})
            rows = found.json()["rows"]
            # The first call is of three messages, by which no conversation is known yet.
            return (rows[0]["calls"] if rows else 0) == number and await queued(url) == 0

        for number, end in enumerate(ends):
            told = {"session_state": FIRST_PLAN if end <= 6 else PLAN}
            answer = await client.chat(DAY_ONE, said[:end], headers=LABEL, metadata=told)
            assert answer.status == 200, answer.body
            await until(is_done, f"call {number} of day one to be recorded, and its summary to be made")
    assert answer.headers["x-session-state"] == "kept" and answer.outcome in ("applied", "fallback")


def show(body: dict[str, Any]) -> str:
    """A body as the page shows it: without the day and the name of the session."""
    messages = json.dumps(
        {"model": body["model"], "messages": body["messages"]}, indent=2, ensure_ascii=False
    )
    named = re.sub(
        r"conversation [0-9a-f]{12}, [0-9-]{10} [0-9:]{5} UTC", "conversation 2f1c…, day one", messages
    )
    # A long text stands on lines of its own.
    return named.replace("\\n", "\n")


async def test_work_on_day_one_is_known_on_day_two(
    fleet: Fleet, second: Proxy, upstream: Upstream, summariser: Summariser
) -> None:
    upstream.scripts[served(DAY_TWO)] = lambda seen: Reply(text="At docs/cli.md.")
    async with Client(fleet.first, KEY) as first, Client(second, KEY) as other:
        await play_day_one(first, fleet.first.url)
        messages = [SYSTEM, QUESTION]
        answer = await other.chat(
            DAY_TWO, messages, headers={"x-conversation-restore": LABEL["x-session-id"]}
        )
        assert answer.status == 200 and answer.headers["x-conversation-restored"].startswith("conversation ")
        sent = upstream.seen(served(DAY_TWO))[-1].body
        # The client sends its own messages alone; the provider reads the same beginning.
        later = [*messages, say("assistant", "At docs/cli.md."), say("user", "Go on.")]

        async def goes_on() -> bool:
            await other.chat(DAY_TWO, later)
            body = upstream.seen(served(DAY_TWO))[-1].body
            return bool(body["messages"] == [*sent["messages"], *later[2:]])

        await until(goes_on, "the later call to begin with the same bytes")
    told = sent["messages"][1]["content"]
    summary = told.partition("<summary>\n")[2].partition("\n</summary>")[0]
    recent = told.partition("<recent_dialog>\n")[2].partition("\n</recent_dialog>")[0]
    assert sent["messages"][0] == SYSTEM and sent["messages"][2:] == [say("assistant", "OK."), QUESTION]
    # The checklist: summary, recent window, plan and task, decisions, files and path, roll-up, priming.
    assert 0 < len(summary) <= 700 and recent.endswith("USER: That is all for today; docs/cli.md comes next.")
    for part in ("ACTIVE PLAN (told): Restore sessions", "ACTIVE TASK (told): write docs/cli.md"):
        assert part in told
    for part in ("- The API stays compatible.", "- app/workflow.py", "WORKING DIRECTORY (told): /repo"):
        assert part in told
    assert "- Always answer in one sentence." in told and "Find the fault" not in told
    shown, page = show(sent), PAGE.read_text("utf-8")
    if os.environ.get("WRITE_PAGES"):
        PAGE.write_text(BLOCK.sub(lambda _: shown, page), "utf-8")
    else:
        assert BLOCK.findall(page) == [shown], "write it anew: WRITE_PAGES=1 pytest tests/e2e/test_day_two.py"
