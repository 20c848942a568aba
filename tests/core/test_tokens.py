"""Counting: the rules, the bound that needs no tokeniser, and the cache."""

from __future__ import annotations

import copy
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.digest import digest_message
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.tokens.counter import TokenCounter, output_reserve
from tests.core.cases import MODELS
from tests.core.scripts import CALL, script
from tests.core.search import search
from tests.core.strategies import MARK, PIXEL, Json, Talk, odd_messages, plain_talks, resent, talks, texts

GPT, CLAUDE = "gpt-4o", "claude-sonnet-4-5"
BODY: Json = {"tools": [{"type": "function", "function": {"name": "run", "parameters": {}}}], "max_tokens": 5}
models = st.sampled_from(MODELS)


def raw(content: Any, **more: Any) -> int:
    """Tokens of a user message with this content, the framing taken off."""
    return TokenCounter().raw_message_tokens({"role": "user", "content": content, **more}, GPT) - 4


def total(messages: list[Any], model: str, body: Json, counter: TokenCounter | None = None) -> int:
    """Tokens of a whole request."""
    return (counter or TokenCounter()).measure(parse_transcript(messages), body, model, 0).total


class TestRules:
    """What a message weighs."""

    @pytest.mark.parametrize(
        ("content", "tokens"),
        [
            (None, 0),
            ("", 0),
            ([], 0),
            ("Hello world", 2),
            ([{"type": "text", "text": "Hello"}, {"type": "text", "text": " world"}], 2),
            (["Hello", None, " world"], 2),
            ([{"type": "image_url", "image_url": {"url": "https://x.y/a.png"}}], 1105),
            ([{"type": "image_url", "image_url": {"url": "https://x.y/a.png", "detail": "low"}}], 85),
            ([{"type": "image_url", "image_url": f"data:image/png;base64,{PIXEL * 500}"}], 85 + 170),
            ([{"type": "image_url", "image_url": f"data:image/png;base64,{'A' * 50_000}"}], 1105),
            ([{"type": "input_image", "detail": "low"}], 85),
            ([{"type": "input_audio", "input_audio": {"data": "A" * 6400}}], 1 + 4800 // 1600),
            ([{"type": "input_audio", "input_audio": None}], 1),
            ([{"type": "file", "file": {"file_data": PIXEL}}], 1500),
            ([{"type": "file", "file": {"file_data": "A" * 400_000}}], 300_000 // 20),
            ([{"type": "file", "file": {"file_id": "file-1"}}], 1500),
            ([{"type": "document", "source": {"data": "A" * 400_000}}], 300_000 // 20),
            ([{"type": "document", "source": {"data": 7}}], 1500),
        ],
    )
    def test_of_content(self, content: Any, tokens: int) -> None:
        assert raw(content) == tokens

    def test_of_a_name_a_refusal_and_thoughts(self) -> None:
        assert raw("", name="ann") == raw("ann")
        assert raw("", refusal="I will not.") == raw("I will not.")
        assert raw("", reasoning_content="Let me think.") == raw("Let me think.")
        assert raw("", thinking_blocks=[{"type": "thinking", "thinking": "Let me think."}]) > 3

    @pytest.mark.parametrize(
        "name", ["reasoning", "reasoning_content", "reasoning_text", "thought_summary", "a_name_of_tomorrow"]
    )
    def test_of_thoughts_under_any_name(self, name: str) -> None:
        thought = "Let me think about the museum labels first. " * 30
        assert raw("", **{name: thought}) == raw(thought)
        assert raw("", **{name: [{"type": "reasoning.text", "text": thought}]}) == raw(thought)
        assert raw("", **{name: {"steps": [[thought]]}}) == raw(thought)

    def test_a_thought_under_two_names_is_paid_once(self) -> None:
        thought = "Let me think about the museum labels first. " * 30
        details = [{"type": "reasoning.text", "text": thought, "format": "some-v1", "index": 0}]
        assert raw("", reasoning=thought, reasoning_details=details) == raw(thought)

    def test_of_an_encrypted_thought_is_what_its_length_says(self) -> None:
        sealed = "gAAAAA" * 1_000
        assert raw("", reasoning_details=[{"type": "reasoning.encrypted", "data": sealed}]) == 6_000 * 3 // 16

    @pytest.mark.parametrize(
        "beside",
        [
            {"tool_call_id": "call_2b1c9d3e4f5a6b7c8d9e0f1a2b3c4d5e" * 2},
            {"id": "msg_0123456789abcdef", "timestamp": "2026-11-28T16:05:44Z", "index": 7},
            {"cache_control": {"type": "ephemeral", "ttl": "1h"}},
            {"reasoning": None, "thinking_blocks": [], "annotations": {}},
            {"audio": {"id": "audio_1", "data": "A" * 100_000}},
        ],
    )
    def test_ids_marks_and_what_is_empty_are_free(self, beside: Json) -> None:
        assert raw("Hello", **beside) == raw("Hello")

    def test_thoughts_in_no_end_of_lists_stop_nobody(self) -> None:
        deep: Any = "two words"
        for _ in range(900):
            deep = [deep]
        assert raw("Hello", reasoning=deep) == raw("Hello")

    def test_of_unknown_content_is_that_of_its_json(self) -> None:
        assert raw({"a": [1, 2]}) == raw('{"a": [1, 2]}')
        assert raw([{"type": "text", "text": 3}]) == raw('{"type": "text", "text": 3}')

    @pytest.mark.parametrize(
        "call",
        [
            {"tool_calls": [CALL]},
            {"tool_calls": [{"name": "run", "arguments": '{"n": 1}'}]},
            {"tool_calls": [{"type": "custom", "custom": {"name": "run", "input": '{"n": 1}'}}]},
            {"function_call": {"name": "run", "arguments": '{"n": 1}'}},
            {"function_call": {"name": "run", "arguments": {"n": 1}}},
        ],
    )
    def test_of_a_call_are_its_name_its_arguments_and_eight(self, call: Json) -> None:
        assert raw(None, **call) == 8 + raw("run") + raw('{"n": 1}')

    def test_of_odd_calls_is_never_nothing(self) -> None:
        assert raw(None, tool_calls=["run it"]) > 8
        assert raw(None, tool_calls=[{"function": "run it"}]) > 8
        assert raw(None, tool_calls=[{"function": {"name": None}}]) == 8
        assert raw(None, tool_calls="run it") == 0

    def test_special_tokens_are_plain_text(self) -> None:
        assert raw("<|endoftext|>") > 3

    def test_half_a_character_counts_as_one(self) -> None:
        assert raw("\ud83d") == raw("?")

    def test_calibration_scales_each_message_up(self) -> None:
        counter, message = TokenCounter(), script("user")[0]
        assert counter.calibrated_tokens(message, CLAUDE) == math.ceil(
            counter.raw_message_tokens(message, CLAUDE) * 1.2
        )


class TestMeasure:
    """A request as a whole."""

    def test_its_parts_add_up(self) -> None:
        messages = script("sys user text user")
        counter = TokenCounter()
        measure = counter.measure(parse_transcript(messages), BODY, GPT, 100)
        weights = [counter.calibrated_tokens(m, GPT) for m in messages]
        assert measure.preamble == weights[0]
        assert measure.history == (0, weights[1], sum(weights[1:3]), sum(weights[1:]))
        assert measure.fixed > 100 + 3
        assert measure.overhead == measure.fixed + measure.preamble
        assert measure.total == measure.overhead + sum(weights[1:])
        assert measure.between(1, 3) == weights[2] + weights[3]

    @pytest.mark.parametrize(
        "field", ["tools", "functions", "tool_choice", "function_call", "response_format"]
    )
    def test_schemas_count(self, field: str) -> None:
        messages = script("user")
        assert total(messages, GPT, {field: {"name": "a_long_name"}}) > total(messages, GPT, {})
        assert total(messages, GPT, {field: None}) == total(messages, GPT, {})

    def test_other_fields_do_not(self) -> None:
        assert total(script("user"), GPT, {"max_tokens": 5, "user": "ann"}) == total(script("user"), GPT, {})

    @pytest.mark.parametrize(
        ("content", "media"),
        [
            ("Hello", False),
            ([{"type": "text", "text": "Hello"}, {"type": "custom"}], False),
            ([{"type": "image_url", "image_url": {"url": "https://x.y/a.png"}}], True),
            ([{"type": "input_audio", "input_audio": {"data": PIXEL * 100}}], True),
            # As many tokens as a message or a call is framed with.
            ([{"type": "input_audio", "input_audio": {"data": "A" * 6_400}}], True),
            ([{"type": "input_audio", "input_audio": {"data": "A" * 15_000}}], True),
            ([{"type": "file", "file": {}}], True),
        ],
    )
    def test_media_whose_price_is_a_rule_of_thumb_are_told(self, content: Any, media: bool) -> None:
        messages = [*script("sys call res"), {"role": "user", "content": content}]
        assert TokenCounter().has_media(messages) == media

    def test_what_a_provider_reports_is_compared_uncalibrated(self) -> None:
        messages = script("sys user text user")
        assert TokenCounter().raw_prompt_tokens(messages, BODY, CLAUDE) == total(messages, GPT, BODY)

    def test_a_thought_that_was_counted_elsewhere_is_not_encoded_again(self) -> None:
        counter, thought = TokenCounter(), {"reasoning_content": "The ship lies there. " * 20}
        one = parse_transcript([*script("user"), {"role": "assistant", "content": "A.", **thought}])
        counter.measure(one, {}, GPT, 0)
        other = parse_transcript([*script("user"), {"role": "assistant", "content": "Bb.", **thought}])
        assert counter.uncached_characters(other, other.digests, GPT) == len("Bb.")

    @search
    @given(talks, models)
    def test_a_measure_tells_the_raw_tokens_of_the_prompt(self, talk: Talk, model: str) -> None:
        counter = TokenCounter()
        measure = counter.measure(parse_transcript(talk.messages), BODY, model, 100)
        assert measure.raw == counter.raw_prompt_tokens(talk.messages, BODY, model)

    @search
    @given(talks, models)
    def test_counting_again_and_in_any_order_gives_the_same(self, talk: Talk, model: str) -> None:
        counter = TokenCounter()
        backwards = [counter.calibrated_tokens(m, model) for m in reversed(talk.messages)]
        assert [TokenCounter().calibrated_tokens(m, model) for m in talk.messages] == backwards[::-1]
        assert total(talk.messages, model, {}, counter) == total(talk.messages, model, {})

    @search
    @given(talks)
    def test_messages_of_one_name_weigh_the_same(self, talk: Talk) -> None:
        for message in talk.messages:
            again = resent(message)
            assert TokenCounter().raw_message_tokens(again, GPT) == TokenCounter().raw_message_tokens(
                message, GPT
            )

    def test_thoughts_in_parts_are_not_mixed_up_with_their_lack(self) -> None:
        thought = {"type": "thinking", "thinking": "Let me think about this. " * 20}
        said = {"type": "text", "text": "Yes."}
        thinking, plain = ({"role": "assistant", "content": c} for c in ([thought, said], [said]))
        counter = TokenCounter()
        first = counter.raw_message_tokens(thinking, GPT)
        assert counter.raw_message_tokens(plain, GPT) == TokenCounter().raw_message_tokens(plain, GPT) < first

    @search
    @given(odd_messages, models)
    def test_every_json_message_can_be_counted(self, messages: list[Any], model: str) -> None:
        counter = TokenCounter()
        first = [counter.raw_message_tokens(m, model) for m in messages]
        assert [TokenCounter().raw_message_tokens(copy.deepcopy(m), model) for m in messages] == first
        assert all(tokens >= 4 for tokens in first)

    @pytest.mark.parametrize(
        "text", ["x" * 300_000, " " * 300_000, "é" * 100_000, "x y " * 50_000, "\n" * 300_000]
    )
    def test_long_runs_take_no_long_time(self, text: str) -> None:
        began = time.perf_counter()
        assert 0 < raw(text) <= len(text.encode())
        assert time.perf_counter() - began < 5


class TestBound:
    """Most requests are small, and that can be told without a tokeniser."""

    @search
    @given(talks | plain_talks, models, st.sampled_from([{}, BODY]))
    def test_it_is_never_below_the_count(self, talk: Talk, model: str, body: Json) -> None:
        assert TokenCounter().upper_bound(talk.messages, body, model, 10**9) >= total(
            talk.messages, model, body
        )

    @pytest.mark.parametrize("model", sorted(set(MODELS)))
    def test_it_holds_for_many_tiny_messages(self, model: str) -> None:
        messages = [{"role": r, "content": "1"} for r in ("user", "assistant") * 200]
        assert TokenCounter().upper_bound(messages, {}, model, 10**9) >= total(messages, model, {})

    @search
    @given(odd_messages, models)
    def test_it_holds_for_odd_messages(self, messages: list[Any], model: str) -> None:
        counter = TokenCounter()
        counted = counter.raw_prompt_tokens(messages, {}, model)
        assert counter.upper_bound(messages, {}, model, 10**9) >= counted

    def test_it_holds_for_what_stands_beside_the_content(self) -> None:
        message = {"role": "assistant", "content": "1", "reasoning": "So so. " * 99, "sealed": "x" * 999}
        assert TokenCounter().upper_bound([message], {}, GPT, 10**9) >= total([message], GPT, {}) > 400

    @search
    @given(plain_talks, st.integers(0, 5000))
    def test_it_may_stop_as_soon_as_it_is_enough(self, talk: Talk, enough: int) -> None:
        whole = TokenCounter().upper_bound(talk.messages, {}, GPT, 10**9)
        assert min(enough, whole) <= TokenCounter().upper_bound(talk.messages, {}, GPT, enough) <= whole

    def test_nothing_behind_what_is_enough_is_looked_at(self) -> None:
        class Unread(dict[str, Any]):
            def get(self, *_: Any) -> Any:
                raise AssertionError("looked at")

        large = {"role": "user", "content": "x" * 1_000}
        assert TokenCounter().upper_bound([large, Unread(large)], {}, GPT, 1_000) >= 1_000


class TestCache:
    """Each message is counted once."""

    def test_a_message_is_encoded_once_whatever_its_ids(self) -> None:
        counter = TokenCounter()
        counter.raw_message_tokens(script("call")[0], GPT)
        renamed = {**script("call")[0], "tool_calls": [{**CALL, "id": "other"}], "cache_control": MARK}
        assert counter.raw_message_tokens(renamed, GPT) == counter.raw_message_tokens(script("call")[0], GPT)
        assert counter.encodings == 1

    def test_texts_and_schemas_are_encoded_once(self) -> None:
        counter = TokenCounter()
        assert counter.raw_tokens("Hello world", GPT) == counter.raw_tokens("Hello world", GPT) == 2
        counter.raw_prompt_tokens([], BODY, GPT)
        counter.raw_prompt_tokens([], BODY, GPT)
        assert counter.encodings == 2

    def test_encodings_are_kept_apart(self) -> None:
        counter = TokenCounter()
        text = "안녕하세요, 반갑습니다. " * 5
        assert counter.raw_tokens(text, "gpt-4") != counter.raw_tokens(text, GPT)

    def test_reasoning_is_counted_though_it_has_no_part_in_the_name(self) -> None:
        counter = TokenCounter()
        plain = script("text")[0]
        thoughtful = {**plain, "reasoning_content": "Let me think about this."}
        assert digest_message(plain) == digest_message(thoughtful)
        assert counter.raw_message_tokens(plain, GPT) < counter.raw_message_tokens(thoughtful, GPT)

    def test_it_forgets_the_oldest_and_still_counts_right(self) -> None:
        counter = TokenCounter(entries=8)
        words = [f"word {i}" for i in range(20)]
        counts = [counter.raw_tokens(w, GPT) for w in words]
        assert counter.encodings == 20
        assert counter.raw_tokens(words[-1], GPT) == counts[-1] and counter.encodings == 20
        assert counter.raw_tokens(words[0], GPT) == counts[0] and counter.encodings == 21

    def test_it_tells_what_is_left_to_encode(self) -> None:
        counter = TokenCounter()
        messages = [
            *script("user text"),
            {"role": "assistant", "content": "Yes.", "reasoning_content": "So so."},
        ]
        digests = [digest_message(m) for m in messages]
        talk = parse_transcript(messages)
        assert counter.uncached_characters(talk, digests, GPT) == len("Hello?" + "Hello." + "Yes." + "So so.")
        counter.measure(talk, {}, GPT, 0)
        assert counter.uncached_characters(talk, digests, GPT) == 0
        assert counter.uncached_characters(talk, digests, "gpt-4") > 0

    @search
    @given(texts)
    def test_no_text_has_more_tokens_than_bytes(self, text: str) -> None:
        assert TokenCounter().raw_tokens(text, GPT) <= len(text.encode("utf-8", "surrogatepass"))


class TestOutputReserve:
    """Tokens kept free for the answer."""

    @pytest.mark.parametrize(
        ("body", "rule", "tokens"),
        [
            ({}, "auto", 0),
            ({"max_tokens": 100}, "auto", 100),
            ({"max_tokens": 900}, "auto", 500),
            ({"max_tokens": 900}, "request", 900),
            ({"max_tokens": 100, "max_completion_tokens": 200}, "auto", 200),
            ({"max_output_tokens": 150}, "auto", 150),
            ({"max_completion_tokens": "x", "max_tokens": 0, "max_output_tokens": 150}, "request", 150),
            ({"max_tokens": 100}, "none", 0),
            ({"max_tokens": 100}, 300, 300),
            ({}, 0, 0),
            ({"max_tokens": None}, "auto", 0),
            ({"max_tokens": "100"}, "auto", 0),
            ({"max_tokens": True}, "auto", 0),
            ({"max_tokens": -5}, "request", 0),
            ({"max_tokens": 1.5}, "request", 0),
        ],
    )
    def test_the_table(self, body: Json, rule: str | int, tokens: int) -> None:
        assert output_reserve(body, 1000, rule) == tokens


class TestEmbedded:
    """What is embedded is priced, never read as text, wherever it stands."""

    DATA = "iVBORw0KGgo" * 20_000

    @pytest.mark.parametrize(
        "part",
        [
            {
                "type": "tool_result",
                "content": [{"type": "image", "source": {"type": "base64", "data": DATA}}],
            },
            {"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{DATA}"}},
            {"type": "strange", "blob": DATA},
        ],
    )
    def test_it_is_not_read_as_text(self, part: dict[str, Any]) -> None:
        counter = TokenCounter()
        tokens = counter.calibrated_tokens({"role": "user", "content": [part]}, "gpt-4o")
        assert 500 < tokens < 20_000
        assert counter.has_media([{"role": "user", "content": [part]}])

    def test_the_words_of_a_tool_result_are(self) -> None:
        counter = TokenCounter()
        said = {"type": "tool_result", "content": [{"type": "text", "text": "one two three four " * 50}]}
        assert 200 < counter.calibrated_tokens({"role": "user", "content": [said]}, "gpt-4o") < 230

    def test_words_without_spaces_are_text(self) -> None:
        counter = TokenCounter()
        part = {"type": "strange", "note": "긴문장은공백없이도글이다" * 100}
        assert not counter.has_media([{"role": "user", "content": [part]}])
        assert counter.calibrated_tokens({"role": "user", "content": [part]}, "gpt-4o") > 400
