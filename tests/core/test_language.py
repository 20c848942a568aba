"""The language of a conversation, and what the gateway says in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.summary.block import FrameSettings, build_frame
from gateway_compaction.core.summary.prompts import ShownLimit, SummaryBrief, build_prompt
from gateway_compaction.core.text.language import (
    NAMES,
    detect_conversation_language,
    detect_language,
    get_phrases,
    is_foreign_script,
)
from gateway_compaction.core.text.lexicon import LEXICONS
from tests.core.search import search
from tests.core.strategies import odd_messages, texts


def user(text: str) -> Message:
    """What a user says."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    """What an assistant says."""
    return {"role": "assistant", "content": text}


def asked_about(talk: list[Message]) -> str:
    """What a summariser is asked about a conversation."""
    return build_prompt(talk, "", 0, SummaryBrief("all", 50), ShownLimit(90), len)[1]


SAID = {
    "en": "Please tell me what is the best way to do this for my friend and for you.",
    "ko": "주문하신 상품은 내일 도착할 예정입니다.",
    "ja": "次の会議は来週の月曜日です。資料を確認してください。",
    "zh": "请把报告发给我,谢谢。会议在下周一。",
    "ru": "Пожалуйста, проверьте отчёт ещё раз.",
    "ar": "هل يمكنك مراجعة التقرير مرة أخرى؟",
    "he": "האם תוכל לבדוק שוב את הדוח?",
    "th": "ช่วยตรวจสอบรายงานอีกครั้งได้ไหม",
    "hi": "क्या आप रिपोर्ट फिर से देख सकते हैं?",
    "el": "Μπορείς να ελέγξεις ξανά την αναφορά;",
    "de": "Ich habe das nicht verstanden, und die Rechnung ist mit der Post für mich gekommen.",
    "fr": "Je ne sais pas si vous avez reçu les documents pour le dossier que une amie des enfants a.",
    "es": "No se si el informe es para los clientes y las tiendas que están por el centro.",
    "pt": "Não sei se os documentos são para uma empresa e que da conta é.",
    "it": "Non so se il documento è per una cliente che sono con gli amici della scuola.",
    "nl": "Ik heb het niet gezien en de rekening is van een vriend voor je.",
    "tr": "Bu bir sorun mu, ne zaman gibi ve için çok daha var.",
    "pl": "Nie wiem czy to jest dla mnie i co się z tym do jutra na pewno w pracy.",
    "vi": "Tôi không có một bản báo cáo cho bạn và các tài liệu này là của công ty.",
}


PRINTED = {
    "fence": (
        "```python\ndef handler(request, response, context):\n"
        "    # the answer is in the body and it is for you\n"
        "    return process_request(request.body, context.user, timeout=3)\n```"
    ),
    "code": (
        "def handler(request, response, context):\n"
        "    for item in request.items():\n"
        "        if item is not None and item.is_for(context.user):\n"
        "            return process_request(request.body, context.user, timeout=3)\n"
    ),
    "inline": "`what is in this and how do I do it for you` https://example.com/what/is/in/this-and-that-for-you",
    "log": "\n".join(
        ["ERROR 2026-01-01 connection refused at the host, and the retry is not possible for this"] * 2
    ),
    "times": "[2026-01-01 10:00:00] the worker is not able to do what it is asked for and that is it\n" * 3,
    "trace": (
        "Traceback (most recent call last):\n"
        '  File "/srv/app/what_is_it.py", line 3, in this_is_for_you\n'
        "    raise ValueError(the_value_is)\nValueError: the value is not what it is for you and that is it"
    ),
}
"""What is pasted into a chat."""

ORDINARY = {
    "fr": (
        "Bonjour, peux-tu m'aider à corriger le bug de connexion ?",
        "Quel est le prix de ce billet de train de Paris à Lyon ?",
        "Merci de ne pas modifier le fichier de configuration.",
    ),
    "es": (
        "¿Puedes ayudarme a corregir el error de la página de pago?",
        "El vuelo de Madrid a Lima sale a las ocho de la mañana.",
        "Necesito un resumen de los gastos de este mes.",
    ),
    "pt": (
        "Você pode me ajudar a corrigir o erro de login?",
        "Qual é o preço da passagem de trem de Lisboa ao Porto?",
        "Preciso de um resumo dos gastos deste mês.",
    ),
    "it": (
        "Puoi aiutarmi a correggere l'errore di accesso?",
        "Il treno per Roma parte alle otto di mattina.",
    ),
    "de": ("Kannst du mir helfen, den Fehler zu beheben?", "Wie viel kostet die Fahrkarte nach Berlin?"),
    "nl": ("Kun je me helpen met het oplossen van de fout?", "De trein naar Utrecht vertrekt om acht uur."),
}


class TestLanguageOf:
    """Most of the text decides."""

    @pytest.mark.parametrize("code", SAID)
    def test_every_language_that_has_a_name_is_told(self, code: str) -> None:
        assert detect_language([SAID[code]]) == code
        assert code in NAMES

    @pytest.mark.parametrize("code", ORDINARY)
    def test_ordinary_questions_are_enough(self, code: str) -> None:
        assert detect_language(ORDINARY[code]) == code

    def test_every_language_of_the_lexicon_is_told(self) -> None:
        assert set(SAID) == {lexicon.code for lexicon in LEXICONS}

    @pytest.mark.parametrize(
        "said", [[], [""], ["12345 !!! ..."], ["x" * 500], ["\ud83d"], ["😀 👍"], ["ok"]]
    )
    def test_in_doubt_it_is_none(self, said: list[str]) -> None:
        assert detect_language(said) is None

    def test_code_in_between_does_not_change_it(self) -> None:
        assert detect_language([SAID["ko"], "def f(x): return x", SAID["ko"]]) == "ko"
        assert detect_language([SAID["de"], "pip install foo", SAID["de"]]) == "de"

    def test_one_foreign_quote_does_not_change_it(self) -> None:
        assert detect_language([SAID["en"] * 5, SAID["ja"]]) == "en"

    def test_a_long_message_does_not_drown_the_others(self) -> None:
        assert detect_language(["log line " * 50_000, *[SAID["ko"] * 60] * 4]) == "ko"

    @pytest.mark.parametrize("code", ["ko", "ja", "zh", "ru", "de", "fr"])
    @pytest.mark.parametrize("printed", PRINTED)
    def test_what_is_pasted_does_not_decide(self, code: str, printed: str) -> None:
        assert detect_language([f"{SAID[code]}\n{PRINTED[printed]}"] * 5) == code
        assert detect_language([f"{PRINTED[printed]}\n{SAID[code]}"] * 5) == code

    @pytest.mark.parametrize("code", ["ko", "zh", "ar"])
    def test_a_tenth_in_a_script_of_its_own_is_enough(self, code: str) -> None:
        lines = "\n".join(["the pump is at the end of the pier and it has to be seen"] * 5)
        assert detect_language([f"{SAID[code] * 2}\n{lines}"]) == code
        assert detect_language([f"{SAID[code]}\n{lines}\n{lines}\n{lines}\n{lines}"]) == "en"

    @pytest.mark.parametrize(
        "text",
        [
            "What is σ, and where do they use it?",
            "What does 你好 mean in the end, please?",
            "Is ありがとう what you say to them for it when you are asked in the shop?",
        ],
    )
    def test_a_word_in_a_sentence_does_not_make_it_foreign(self, text: str) -> None:
        assert detect_language([text]) == "en"

    def test_a_text_of_nothing_but_code_is_told_by_what_there_is(self) -> None:
        assert detect_language(["```\n# 보고서를 전달합니다\n```"]) == "ko"
        assert detect_language([PRINTED["code"]]) == "en"

    def test_code_without_end_is_read_to_a_bound(self) -> None:
        read = []

        def said() -> Iterator[str]:
            for _ in range(1_000):
                read.append(1)
                yield "```\n" + "x = 1\n" * 20_000

        assert detect_language(said()) is None
        assert len(read) < 10

    def test_what_follows_much_code_is_found(self) -> None:
        assert detect_language(["```\n" + "the_value = and_is(to)\n" * 400 + "```\n" + SAID["de"]]) == "de"

    @search
    @given(st.lists(texts, max_size=4))
    def test_it_is_always_one_of_the_named_or_none(self, said: list[str]) -> None:
        assert detect_language(said) in {*NAMES, None}


class TestTalk:
    """Users are heard first."""

    def test_the_users_language_is_the_conversations(self) -> None:
        talk = [user(SAID["de"]), assistant(SAID["en"] * 9)] * 4
        assert detect_conversation_language(talk) == "de"
        assert detect_conversation_language([user(SAID["en"]), assistant(SAID["de"] * 9)] * 4) == "en"

    def test_where_they_say_too_little_the_assistants_counts(self) -> None:
        assert detect_conversation_language([user("ok, do it"), assistant(SAID["de"])]) == "de"
        assert detect_conversation_language([user("ok"), assistant(SAID["ko"])]) == "ko"
        assert detect_conversation_language([user("네, 해 주세요"), assistant(SAID["en"] * 9)]) == "ko"

    def test_nobody_else_is_heard(self) -> None:
        others: list[Message] = [
            {"role": role, "content": SAID["ko"] * 9} for role in ("system", "developer", "tool", "function")
        ]
        result = {"type": "tool_result", "tool_use_id": "1", "content": SAID["ko"]}
        others.append({"role": "user", "content": [result, {"type": "text", "text": "and on it goes"}]})
        assert detect_conversation_language([*others, user("ok"), assistant(SAID["de"])]) == "de"

    @pytest.mark.parametrize("code", ["ko", "zh", "de"])
    def test_a_chat_about_code_is_in_the_language_that_is_spoken(self, code: str) -> None:
        asked, told = f"{SAID[code]}\n{PRINTED['fence']}", f"{SAID[code]}\n{PRINTED['fence']}"
        talk = [user(asked), assistant(told)] * 20
        around = build_frame(talk, 600, FrameSettings(rule_tokens=0), len)
        assert around.lines[0] == get_phrases(code).note
        assert f"Write in {NAMES[code]}," in asked_about(talk)

    @search
    @given(odd_messages)
    def test_it_is_one_of_the_named_or_none_for_every_message(self, messages: list[Any]) -> None:
        assert detect_conversation_language(messages) in {*NAMES, None}


class TestForeign:
    """A script that nobody used."""

    @pytest.mark.parametrize("code", ["ko", "ja", "zh", "ru", "ar", "he", "th", "hi", "el"])
    def test_it_is_foreign_where_nobody_wrote_in_it(self, code: str) -> None:
        assert is_foreign_script(SAID[code], [SAID["en"], SAID["de"]] * 9)
        assert not is_foreign_script(SAID[code], [SAID["en"], SAID[code]])
        assert not is_foreign_script(SAID[code], [SAID["en"]] * 500 + [SAID[code] * 20])

    def test_a_name_is_no_conversation(self) -> None:
        assert is_foreign_script(SAID["ko"], [*[SAID["en"]] * 9, "김철수 signed it."])

    @pytest.mark.parametrize("code", ["en", "de", "vi"])
    def test_latin_never_is(self, code: str) -> None:
        assert not is_foreign_script(SAID[code], [SAID["ko"]])

    def test_what_is_mostly_latin_never_is(self) -> None:
        assert not is_foreign_script(f"{SAID['en']} {SAID['ja']}", [SAID["en"]])

    @pytest.mark.parametrize("said", [[], [""], ["", ""]])
    def test_where_nothing_was_said_nothing_is(self, said: list[str]) -> None:
        assert not is_foreign_script(SAID["ru"], said)


class TestPhrases:
    """What the gateway says, in the language of the conversation."""

    @pytest.mark.parametrize("code", NAMES)
    def test_nothing_is_left_unsaid(self, code: str) -> None:
        said = get_phrases(code)
        texts = [getattr(said, field.name) for field in fields(said)]
        assert all(texts) and "\n" not in "".join(texts)
        assert len(set(texts)) == len(texts)

    def test_where_there_are_some_they_are_nobody_elses(self) -> None:
        notes = [get_phrases(code).note for code in ("de", "fr", "es", "ko", "ja", "zh", "en")]
        assert len(set(notes)) == len(notes)

    def test_where_there_is_none_it_is_english(self) -> None:
        assert get_phrases("pl") == get_phrases("en") == get_phrases("xx")
