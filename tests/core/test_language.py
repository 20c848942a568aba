"""The language of a conversation, and what the gateway says in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.language import NAMES, language_of, phrases
from tests.core.search import search
from tests.core.strategies import texts

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
        assert language_of([SAID[code]]) == code
        assert code in NAMES

    @pytest.mark.parametrize("code", ORDINARY)
    def test_ordinary_questions_are_enough(self, code: str) -> None:
        assert language_of(ORDINARY[code]) == code

    def test_no_language_is_left_out(self) -> None:
        assert set(SAID) == set(NAMES)

    @pytest.mark.parametrize("said", [[], [""], ["12345 !!! ..."], ["x" * 500], ["\ud83d"], ["😀 👍"]])
    def test_in_doubt_it_is_english(self, said: list[str]) -> None:
        assert language_of(said) == "en"

    def test_code_in_between_does_not_change_it(self) -> None:
        assert language_of([SAID["ko"], "def f(x): return x", SAID["ko"]]) == "ko"
        assert language_of([SAID["de"], "pip install foo", SAID["de"]]) == "de"

    def test_one_foreign_quote_does_not_change_it(self) -> None:
        assert language_of([SAID["en"] * 5, SAID["ja"]]) == "en"

    def test_a_long_message_does_not_drown_the_others(self) -> None:
        assert language_of(["log line " * 50_000, *[SAID["ko"] * 60] * 4]) == "ko"

    @search
    @given(st.lists(texts, max_size=4))
    def test_it_is_always_one_of_the_named(self, said: list[str]) -> None:
        assert language_of(said) in NAMES


class TestPhrases:
    """What the gateway says, in the language of the conversation."""

    @pytest.mark.parametrize("code", NAMES)
    def test_nothing_is_left_unsaid(self, code: str) -> None:
        said = phrases(code)
        assert said.note and said.gone and said.quoted
        assert "\n" not in said.note + said.gone + said.quoted

    def test_where_there_are_some_they_are_nobody_elses(self) -> None:
        notes = [phrases(code).note for code in ("de", "fr", "es", "ko", "ja", "zh", "en")]
        assert len(set(notes)) == len(notes)

    def test_where_there_is_none_it_is_english(self) -> None:
        assert phrases("pl") == phrases("en") == phrases("xx")
