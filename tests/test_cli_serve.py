"""``gateway-compaction serve``: the running gateway, with the repository's own config and demo model."""

from __future__ import annotations

import asyncio
import re
import signal
from pathlib import Path

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam
from typer.testing import CliRunner

from gateway_compaction.cli.main import app
from tests.lab import Client
from tests.served import Gateway, served

KEYS = ("GATEWAY_COMPACTION_KEY", "LITELLM_MASTER_KEY", "OPENAI_API_KEY")


class TestServing:
    """A real LiteLLM with the demo model."""

    def test_says_what_it_serves(self, open_gateway: Gateway) -> None:
        for part in (
            "demo (4,000 tokens by the policy)",
            str(open_gateway.port),
            "everybody",
            "in this process",
        ):
            assert part in open_gateway.output
        assert f"{open_gateway.url}/compaction/ui" in open_gateway.output
        assert "compaction is off" not in open_gateway.output and "unknown" not in open_gateway.output

    def test_needs_no_key_and_takes_any(self, open_gateway: Gateway) -> None:
        for key in (None, "sk-whatever", "not-even-a-key"):
            answer = open_gateway.ask(key)
            assert answer.status_code == 200, answer.text
            assert "1 message," in answer.json()["choices"][0]["message"]["content"]

    async def test_the_openai_sdk(self, open_gateway: Gateway) -> None:
        question: list[ChatCompletionMessageParam] = [{"role": "user", "content": "First line\nsecond line"}]
        async with AsyncOpenAI(base_url=f"{open_gateway.url}/v1", api_key="unused") as client:
            whole = await client.chat.completions.create(model="demo", messages=question)
            stream = await client.chat.completions.create(
                model="demo",
                messages=question,
                stream=True,
                stream_options={"include_usage": True},
            )
            chunks = [chunk async for chunk in stream]
        text = whole.choices[0].message.content
        assert text is not None
        assert text.endswith("First line")
        assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == text
        assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason] == [
            "stop"
        ]
        assert len(chunks) > 10
        assert whole.usage is not None
        assert whole.usage.prompt_tokens > 0
        assert [c.usage.prompt_tokens for c in chunks if c.usage] == [whole.usage.prompt_tokens]

    async def test_the_demo_model_writes_summaries(self, open_gateway: Gateway) -> None:
        order = (
            "<transcript>\n[0] user wrote: Book a table in Lyon. For two.\n[1] assistant wrote: Done.\n"
            "</transcript>\n\nAnswer with the summary inside <summary> </summary> tags."
        )
        async with AsyncOpenAI(base_url=f"{open_gateway.url}/v1", api_key="unused") as client:
            answer = await client.chat.completions.create(
                model="demo", messages=[{"role": "user", "content": order}], max_tokens=200
            )
        assert answer.choices[0].finish_reason == "stop"
        text = answer.choices[0].message.content or ""
        assert re.fullmatch(r"(?s)<summary>.*Book a table in Lyon\..*</summary>", text)

    async def test_a_long_talk_is_compacted(self, open_gateway: Gateway) -> None:
        line = "Please note this detail about the delivery and the colour of the third parcel. " * 10
        talk = [
            message
            for n in range(22)
            for message in (
                {"role": "user", "content": f"{n}: {line}"},
                {"role": "assistant", "content": "Ok."},
            )
        ]
        question = talk[:-1]
        async with Client(open_gateway.url) as client:
            for _ in range(100):
                answer = await client.chat("demo", question)
                if answer.outcome == "applied":
                    break
                await asyncio.sleep(0.1)
        assert "1 of them a summary of earlier ones" in answer.text

    def test_makes_a_key_where_none_is_set_and_stops_on_ctrl_c(self, tmp_path: Path) -> None:
        with served(tmp_path) as gateway:
            key = re.search(r"Key for this run: (sk-[\w-]{40,})", gateway.output)
            assert key is not None
            assert gateway.ask().status_code == 401
            demo = CliRunner().invoke(app, ["demo", "--url", gateway.url], env=dict.fromkeys(KEYS))
            assert demo.exit_code == 1 and demo.stderr.endswith("Name a key with --key.\n")
            assert gateway.ask("sk-another").status_code in (400, 401)
            assert gateway.ask(key.group(1)).status_code == 200
            before = len(gateway.output)
            gateway.process.send_signal(signal.SIGINT)
            assert gateway.process.wait(20) in (0, -signal.SIGINT, 128 + signal.SIGINT)
            assert "Traceback" not in gateway.output[before:]
