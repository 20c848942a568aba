"""How well standing rules are found, on labelled texts of fourteen languages; sentences that misled."""

from __future__ import annotations

import pytest

from gateway_compaction.core.pins.pins import find_rules
from gateway_compaction.core.pins.rules import KNOWN, _grammar_of, compile_grammars, is_rule
from scripts.rule_precision import Figures, figures
from tests.core.lexicon import CLAIMED, LATER, SKETCHED, labelled

# On all labelled texts, whose half was never looked at while the patterns were written.
FLOORS = {
    "en": (0.92, 0.93),
    "de": (0.95, 0.84),
    "fr": (0.95, 0.86),
    "es": (0.95, 0.89),
    "ko": (0.90, 0.93),
    "ja": (0.91, 0.95),
    "zh": (0.87, 0.89),
    "it": (0.97, 0.88),
    "pt": (0.97, 0.92),
    "nl": (0.92, 0.88),
    # No half of these was left unseen.
    "ru": (0.95, 0.95),
    "pl": (0.95, 0.95),
    "tr": (0.95, 0.95),
    "ar": (0.95, 0.95),
}


def found_in(text: str) -> tuple[str, ...]:
    """Return the texts of the rules that a user's message lays down."""
    return tuple(rule.text for rule in find_rules({"role": "user", "content": text}))


@pytest.mark.parametrize("language", [*CLAIMED, *LATER, *SKETCHED])
def test_precision_and_recall(language: str) -> None:
    told = figures(labelled(language))
    precision, recall = FLOORS[language]
    assert told.precision >= precision, told.false
    assert told.recall >= recall, told.missed


def test_precision_and_recall_on_texts_that_nobody_looked_at() -> None:
    told = Figures()
    for language in CLAIMED:
        told.add(figures(text for text in labelled(language) if text.split == "held"))
    assert told.precision >= 0.87 and told.recall >= 0.83, (told.false, told.missed)


@pytest.mark.parametrize(
    "text",
    [
        "Explain why cats always land on their feet.",
        "Tell me why it never works.",
        "Zeige mir alle Dateien, die nicht getestet sind.",
        "Can you rewrite the last answer in Spanish?",
        "Make the headline shorter.",
        "Write the report in German.",
        "If the build fails, tell me which step.",
        "Add tests for every function in utils.py.",
        "I'll send the message now and wait for their response.",
        "Hi, I need to cancel a flight that I booked, please.",
        "Summarize everything in one sentence.",
        "Utilise la deuxième solution.",
        "제목을 더 짧게 고쳐 줘.",
        "タイトルをもっと短くして。",
        "把标题改短一点。",
        "Please don't cancel my booking yet.",
        "Don't send it before Monday.",
        "Tell her I never said that.",
        "Schreibe eine Funktion, die immer True zurückgibt.",
        "In der Anleitung steht: Deckel nie öffnen.",
        "N'annule pas encore ma réservation.",
        "No olvides la leche.",
        "Non ti preoccupare.",
        "Adicione uma coluna para o preço em euros.",
        "Maak je geen zorgen.",
        "항상 True를 반환하는 함수를 작성해 줘.",
        "우리 사장님은 항상 시간을 지키라고 해.",
        "まだ予約をキャンセルしないで。",
        "説明書には、絶対に蓋を開けないでくださいと書いてある。",
        "我每次去都要排队。",
        "写一个总是返回True的函数。",
    ],
)
def test_what_is_about_one_thing_or_asks_is_none(text: str) -> None:
    assert not is_rule(text)


@pytest.mark.parametrize(
    "text",
    [
        "Use metric units.",
        "Verzichte auf Anglizismen.",
        "Usa il sistema metrico.",
        "Evite anglicismos.",
        "Gebruik het metrieke stelsel.",
        "When you quote the law, give the paragraph number too.",
        "I'd rather you didn't use that word in anything you write for me.",
        "Sofern ich nicht ausdrücklich mehr verlange, reicht mir ein Beispiel pro Antwort.",
        "À la fin de chaque réponse, liste les points ouverts.",
        "Le ruego que emplee un registro formal en toda nuestra correspondencia.",
        "내가 코드를 붙여 넣으면 먼저 시간 복잡도를 알려 줘.",
        "コードを貼ったら、まず計算量を教えて。",
        "我贴代码的时候，先告诉我时间复杂度。",
        "Llámame Jule.",
        "Times always in Vienna time, ok?",
        "Cite page numbers when you quote the report.",
        "Ask me one question at a time.",
        "Run the linter before every commit.",
        "Every function needs a docstring.",
        "I only eat halal food.",
        "Unter keinen Umständen darfst du meinen Vermieter anschreiben.",
        "Entschuldige dich nicht ständig.",
        "Trois puces au maximum par réponse.",
        "Queda prohibido modificar la base de datos.",
        "Consiglia solo ristoranti vegetariani.",
        "Em hipótese alguma contate meu senhorio.",
        "Push nooit rechtstreeks naar main.",
        "금액은 소수점 둘째 자리까지 반올림해.",
        "時刻はすべて日本時間でお願いします。",
        "代码注释用英文写。",
    ],
)
def test_an_order_that_lasts_is_one(text: str) -> None:
    assert is_rule(text)


def test_foreign_words_are_no_orders_of_a_language_whose_verb_comes_last() -> None:
    assert is_rule("Emoji kullanma.")
    assert not is_rule("Awesome, xyzzy me.")


def test_a_very_long_sentence_is_none() -> None:
    assert is_rule("Always answer in French" + " and in short words" * 10 + ".")
    assert not is_rule("Always answer in French" + " and in short words" * 40 + ".")


def test_only_users_lay_down_rules() -> None:
    said = "Always answer in French."
    assert [len(find_rules({"role": role, "content": said})) for role in ("user", "assistant", "tool")] == [
        1,
        0,
        0,
    ]


def test_items_under_a_heading_of_rules_are_rules() -> None:
    text = "House style for this chat:\n- headings in sentence case\n- numbers spelled out\n\nSteps:\n- wash"
    assert found_in(text) == (
        "headings in sentence case",
        "numbers spelled out",
    )


def test_what_a_request_points_to_is_quoted_however_short_it_is() -> None:
    text = "Translate this e-mail into French.\n\nAlways lock the gate."
    assert found_in(text) == ()


def test_the_verb_and_its_adverb_stand_in_one_clause() -> None:
    assert is_rule("Always show the sources.")
    assert not is_rule("Show me the sources, because they always help.")


def test_grammars_are_compiled_before_they_are_needed() -> None:
    """A request that is the first in its language would wait for them."""
    compile_grammars()
    before = _grammar_of.cache_info()
    compile_grammars()
    assert before.currsize == len(KNOWN) == len((*CLAIMED, *LATER, *SKETCHED))
    assert _grammar_of.cache_info().misses == before.misses
