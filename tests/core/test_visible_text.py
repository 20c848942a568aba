"""Thinking between tags and embedded data are no part of what a message says."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.messages import text_of, written_text_of
from gateway_compaction.core.conversation.visible_text import remove_thinking, replace_embedded_data
from gateway_compaction.core.extractive.extract import build_extract
from gateway_compaction.core.pins.anchors import Scoring, choose_anchors
from gateway_compaction.core.recall.passages import split_into_passages
from gateway_compaction.core.summary.prompts import ShownLimit, render_messages
from gateway_compaction.core.text.shorten import clear_result, is_clearable
from gateway_compaction.core.tokens.counter import TokenCounter
from tests.core.search import search
from tests.core.strategies import texts

GUESS = "We agreed, or maybe not, that REF-8800 was cancelled and the refund is 300 euros."
SAID = "Parcel 0 is PK-100 and leaves on Monday."
# Each form as its model, server or prompt writes it.
FORMS = {
    "DeepSeek, Qwen, GLM, MiniMax": ("<think>\n", "\n</think>\n\n"),
    "no space": ("<think>", "</think>"),
    "Nova, Claude, agents' prompts": ("<thinking>", "</thinking>\n"),
    "in capitals": ("<Thought>", "</Thought>"),
    "Gemini": ("<thought>\n", "\n</thought>"),
    "with attributes": ('<think time="3s">', "</think>"),
    "Open WebUI": (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n> ',
        "\n</details>\n",
    ),
    "Open WebUI, another order": ("<details done='true' type='reasoning'>", "</details>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "reason": ("<reason>", "</reason>"),
    "artifacts": ("<antThinking>", "</antThinking>"),
    "scratchpad": ("<scratchpad>\n", "\n</scratchpad>\n"),
    "agents": ("<inner_thoughts>", "</inner_thoughts>"),
    "monologue": ("<inner_monologue>", "</inner_monologue>"),
    "Reflection": ("<reflection>", "</reflection>"),
    "Seed-OSS": ("<seed:think>", "</seed:think>"),
    "Magistral": ("[THINK]", "[/THINK]"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "OpenThinker": ("<|begin_of_thought|>\n", "\n<|end_of_thought|>"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "gpt-oss": ("<|channel|>analysis<|message|>", "<|end|>"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "mixed names": ("<think>\n", "\n</thinking>\n"),
    "pipes": ("<|think|>", "<|/think|>"),
    "gpt-oss, whole": (
        "<|start|>assistant<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "gpt-oss, commentary": ("<|channel|>commentary<|message|>", "<|channel|>final<|message|>"),
    "German": ("<denken>\n", "\n</denken>\n"),
    "French": ("<réflexion>", "</réflexion>"),
    "Russian": ("<размышление>", "</размышление>"),
    "Chinese": ("<思考>", "</思考>"),
}
# What begins a text, and is none without its end.
AT_START = {
    "Granite": ("Here is my thought process:\n", "\nHere is my response:\n"),
    "Granite, short": ("Here's my thought process: ", "\n\nHere's my response: "),
    "gpt-oss, without signs": ("analysis", "assistantfinal"),
    "a folded block": ("<details>\n<summary>Thought for 3 seconds</summary>\n\n> ", "\n</details>\n\n"),
    "brackets": ("[thinking]", "[/thinking]\n"),
    "brackets, German": ("[gedanken]\n", "\n[/gedanken]"),
    "a fence": ("```thinking\n", "\n```\n"),
    "a fence that is indented": ("  ```reasoning\n", "\n  ```\n\n"),
    "Poe": ("*Thinking...*\n\n> ", "\n\n"),
    "Poe, another word": ("_Thoughts_\n> ", "\n>\n> And so on.\n\n"),
}
# Of these the closing tag alone tells that what stands before it was thought.
UNOPENED = [name for name in FORMS if not name.startswith(("Open WebUI", "gpt-oss", "Gemma", "pipes"))]
NO_THOUGHTS = [
    SAID,
    "",
    "I think we should go. <b>Think</b> about it.",
    "Write `<think>` and then `</think>` into the template.",
    "The parser looks for `<think>`; what follows is dropped.\nThat is all.",
    "The tag is <think> in Qwen. It has no end here.",
    "```xml\n<think>\nnot mine\n</think>\n```\nThat is the format.",
    "~~~\n<thinking>\n~~~\nis how it begins.",
    "<details><summary>The log</summary>\nall green\n</details>",
    "<reasonable>offer</reasonable> <thinkpad>X1</thinkpad>",
    "if a < b and think > 3: [thinking]",
    "Close it with `</think>`\nand go on.",
    "Use the <think> tag to plan, and </think> to end it.",
    "The model thinks between <think> and </think>. Do not show it.",
    "Close it with </think> and go on.",
    "Close it with </think>\nand go on.",
    'It ends with "</think>" always.',
    "<think> is what Qwen opens with, and it ends with </think>, as GLM does.",
    "<think> tags are stripped by the server.",
    "- <think>: it begins\n- </think>: it ends",
    "| <think> | begins |\n| </think> | ends |",
    "Wrap it in <think>...</think> tags, please.",
    "用<think>标签来思考，用</think>结束。",
    "The end of it:\n```\n</think>\n```\nThat is all.",
    "Here is my thought process: I compared both, and the second is cheaper.",
    "analysis of the log: all green.",
    "Call it:\n```python\nthink()\n```\nIt thinks.",
    "```thinking\nnever closed",
    "See [reasoning](https://x.example/r) for more.",
    "*Thinking* is hard.\n\n> He said so.",
    "**Reasoning:** the gate is old.\n\n**Answer:** it must go.",
    "<details><summary>Thoughts</summary>never closed",
]


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def words(text: str) -> int:
    return len(text.split())


class TestThinking:
    """Thinking aloud in an assistant's text is counted, and never told."""

    @pytest.mark.parametrize("form", FORMS)
    def test_every_form_is_seen(self, form: str) -> None:
        opening, closing = FORMS[form]
        assert remove_thinking(f"{opening}{GUESS}{closing}{SAID}") == SAID
        assert remove_thinking(f"{SAID}\n{opening}{GUESS}{closing}") == SAID
        both = remove_thinking(f"{opening}{GUESS}{closing}{SAID}\n\n{opening}{GUESS}{closing}{SAID}")
        assert both.split() == f"{SAID} {SAID}".split()

    @pytest.mark.parametrize("form", FORMS)
    def test_what_is_not_closed_goes_on_to_the_end(self, form: str) -> None:
        opening, _ = FORMS[form]
        assert remove_thinking(f"{opening}{GUESS}\n{GUESS}") == ""
        assert remove_thinking(f"{SAID}\n\n{opening}{GUESS}") == SAID

    @pytest.mark.parametrize("form", UNOPENED)
    def test_what_the_template_opened_is_seen_by_its_end(self, form: str) -> None:
        closing = FORMS[form][1].strip()
        assert remove_thinking(f"{GUESS}\n{closing}\n\n{SAID}") == SAID

    @pytest.mark.parametrize("form", AT_START)
    def test_what_begins_a_text_is_seen(self, form: str) -> None:
        opening, closing = AT_START[form]
        assert remove_thinking(f"{opening}{GUESS}{closing}{SAID}") == SAID

    @pytest.mark.parametrize(
        "text",
        [
            f"{GUESS}</think> {SAID}",
            f"{GUESS} </think>{SAID}",
            f"I guess REF-8800 it is</think>{SAID}",
            f"I guess REF-8800 it is</think>\n\n{SAID}",
            f"{GUESS}\n```\nx = 1\n```\nSo be it.\n</think>\n{SAID}",
            f"Close with </think> or not?\n{GUESS}\n</think>\n{SAID}",
            f"<think>{GUESS} It ends with </think> and so on.\n</think>{SAID}",
            f"<think>{GUESS}</thinking>{SAID}",
            f"<thinking>So <think>{GUESS}</think> it is.</thinking>{SAID}",
            f"<|channel|>analysis<|message|>{GUESS}<|end|><|start|>assistant<|channel|>final<|message|>{SAID}<|return|>",
            f"<|channel|>commentary to=functions.f <|constrain|>json<|message|>{GUESS}<|call|>{SAID}",
        ],
    )
    def test_where_it_ends(self, text: str) -> None:
        assert remove_thinking(text) == SAID

    def test_a_tag_is_named_beside_one_that_is_meant(self) -> None:
        text = f"Use the <think> tag.\n<think>{GUESS}</think>\n{SAID}"
        assert remove_thinking(text) == f"Use the <think> tag.\n\n{SAID}"

    @pytest.mark.parametrize("text", NO_THOUGHTS)
    def test_who_writes_about_it_is_left_in_peace(self, text: str) -> None:
        assert remove_thinking(text) is text

    def test_code_in_the_thinking_ends_with_it(self) -> None:
        text = f"<think>\n```python\nx = 1\n</think>\n{SAID}\n<think>{GUESS}</think>"
        assert remove_thinking(text) == SAID

    def test_only_an_assistant_thinks(self) -> None:
        text = f"<think>{GUESS}</think>{SAID}"
        assert text_of({"role": "user", "content": text}) == text
        assert text_of(assistant(text)) == SAID

    @pytest.mark.parametrize("form", FORMS)
    def test_nobody_is_told(self, form: str) -> None:
        opening, closing = FORMS[form]
        messages = [assistant(f"{opening}{GUESS} {i}{closing}{SAID} {i}") for i in range(3)]
        told = [
            build_extract(messages, 200, words),
            render_messages(messages, 0, ShownLimit(10_000), words),
            *(p.text for m in messages for p in split_into_passages(m)),
            *(a.text for a in choose_anchors(messages, 5, 500, Scoring(), words)),
        ]
        assert "PK-100" in told[0] and "PK-100" in told[1]
        assert not [text for text in told if "8800" in text or "300 euros" in text]

    @pytest.mark.parametrize("form", FORMS)
    def test_it_is_counted(self, form: str) -> None:
        opening, closing = FORMS[form]
        counter, plain = TokenCounter(), assistant(SAID)
        thought = assistant(f"{opening}{GUESS}{closing}{SAID}")
        more = counter.calibrated_tokens(thought, "gpt-4o") - counter.calibrated_tokens(plain, "gpt-4o")
        assert more >= counter.raw_tokens(GUESS, "gpt-4o")

    @search
    @given(
        st.lists(st.sampled_from([*sum(FORMS.values(), ()), "```\n", "`", "\n", SAID, "x"]), max_size=12),
        texts,
    )
    def test_any_text_is_read_and_read_once(self, pieces: list[str], text: str) -> None:
        mixed = text.join(pieces)
        left = remove_thinking(mixed)
        assert len(left) <= len(mixed)
        assert remove_thinking(mixed) == left


NOISE = random.Random(7).randbytes(3_000)
BASE64 = base64.b64encode(NOISE).decode()
DATA = {
    "data URL": f"data:image/png;base64,{BASE64}",
    "data URL, short": "data:image/png;base64,iVBORw0KGgo=",
    "data URL, with parameters": f"data:text/plain;charset=utf-8;base64,{BASE64}",
    "data URL, no type": f"data:;base64,{BASE64}",
    "data URL, slashes escaped": f"data:image/png;base64,{BASE64}".replace("/", "\\/"),
    "data URL, percent-encoded": "data:image/svg+xml;utf8," + "%3Csvg%20xmlns%3D%22" * 20,
    "bare": BASE64,
    "bare, for URLs": base64.urlsafe_b64encode(NOISE).decode(),
    "hexadecimal": NOISE.hex(),
    "in lines": base64.encodebytes(NOISE).decode().strip(),
    "a certificate's lines": "\n".join(BASE64[i : i + 64] for i in range(0, 2_000, 64)) + "==",
}
NO_DATA = [
    "",
    "See data: the numbers, data:10,20 and the metadata:base64 field.",
    "=" * 300,
    "-" * 100 + "_" * 200,
    "a" * 300,
    "/".join(["packages", "gateway", "src", "components"] * 12) + "/index2.tsx",
    "_".join(["very", "long", "snake", "case", "name", "2"] * 12),
    NOISE[:64].hex(),
    "https://example.org/a?token=" + BASE64[:100],
    "\n".join(["word " * 12] * 5),
    "語" * 400 + "1",
]


class TestEmbeddedData:
    """Pictures, files and keys within a text."""

    @pytest.mark.parametrize("form", DATA)
    def test_every_form_is_seen(self, form: str) -> None:
        text = f"Here is picture 1: ![p1]({DATA[form]}) It shows the bridge."
        if "\n" in DATA[form]:
            text = f"Here is picture 1:\n{DATA[form]}\nIt shows the bridge."
        found = replace_embedded_data(text)
        assert "[embedded data]" in found and len(found) < 100
        assert found.startswith("Here is picture 1:") and found.endswith("It shows the bridge.")

    @pytest.mark.parametrize("text", NO_DATA, ids=lambda text: text[:20])
    def test_long_words_and_lines_are_none(self, text: str) -> None:
        assert replace_embedded_data(text) == text

    @pytest.mark.parametrize("form", DATA)
    @pytest.mark.parametrize("role", ["user", "assistant", "tool"])
    def test_nobody_is_told(self, form: str, role: str) -> None:
        message = {
            "role": role,
            "content": f"The bridge of Lund is shown here:\n{DATA[form]}\nNice, is it not?",
        }
        told = [
            build_extract([message, assistant("Yes.")], 400, words),
            render_messages([message], 0, ShownLimit(10_000), words),
            *(p.text for p in split_into_passages(message)),
        ]
        assert not [text for text in told if DATA[form][30:60] in text or DATA[form][-30:] in text]

    def test_a_result_that_holds_it_can_be_cleared(self) -> None:
        """What is not told is paid for all the same."""
        result = {"role": "tool", "tool_call_id": "c", "content": f"screenshot: {DATA['bare']}"}
        tokens = TokenCounter().raw_tokens(written_text_of(result), "gpt-4o")
        assert is_clearable(result, lambda text: TokenCounter().raw_tokens(text, "gpt-4o"))
        cleared = text_of(clear_result(result, lambda text: TokenCounter().raw_tokens(text, "gpt-4o")))
        assert f"{tokens} tokens" in cleared and "screenshot: [embedded data]" in cleared
