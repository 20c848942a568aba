"""Which answers of a model are believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.summary.acceptance import accept_summary
from gateway_compaction.errors import SummaryRejected
from gateway_compaction.ports import SummaryAnswer
from tests.core.search import search
from tests.core.strategies import texts

GOOD = "The user asked for a report on harbour lights; the assistant counted 14 of them."


def accept_text(text: str, reason: str | None = "stop", *, calls: bool = False, source: int = 10_000) -> str:
    """What is made of an answer, with characters for tokens."""
    return accept_summary(SummaryAnswer(text, reason, "m", has_tool_calls=calls), source, 1000, len)


HONEST = (
    GOOD,
    "The build ended with error: exit code 1; the user asked why.",
    "The assistant said: I'm sorry, and offered a refund.",
    "User reported that an Internal Server Error appears on login; a rate limit was suspected.",
    "Errors in the login form were fixed; tests pass.",
    "Error handling was moved to one place.",
    "They discussed whether an AI can be sorry.",
    "- error budget: 3 %\n- traceback was read",
    "Sorry state of the harbour: 3 lights are broken.",
    "The user cannot log in; the traceback ends in auth.py.",
    "사용자가 오류 보고서를 요청했습니다. error 500 이 원인입니다.",
    '{"lights": 14, "note": "error in row 3"}',
    "Rate limiting was added to the API gateway: 100 requests a minute for each key.",
    "Rate limits of the export job were doubled to 40 a minute.",
    "Rate limit exceeded errors of the export job were traced to a loop in client.py.",
    "Traceback analysis showed that the crash comes from cart.py, line 88.",
    "Tracebacks are to be written to logs/app.log from now on.",
    "Internal server errors on /login were traced to a missing index.",
    "Internal server error on /login: cause found, an index was missing.",
    "As an AI engineer, Priya wants evaluation scripts; the assistant wrote eval.py.",
    "As an AI researcher the user compared three papers.",
    "Unfortunately the ferry of 14 March was full; they booked the one at 7:45.",
    "I/O limits of the server were raised to 400 MB/s.",
    "Failed payments are retried three times; the limit is 210 euros.",
    "Service availability was 99.2 % in March.",
    "Nothing of the budget is left; the user will ask Ingrid for 300 euros.",
    "Okay was given by Ingrid on 3 May; pier 12 is to be used.",
    "Connection pooling was switched on; 20 connections at most.",
    "Der Fehler in cart.py wurde behoben; die Tests laufen.",
    "Fehlerquote: 3 %. Der Nutzer möchte bis Mai unter 1 % kommen.",
    "L'erreur vient de auth.py ; l'utilisateur veut la corriger avant le 14 mars.",
    "El error estaba en auth.py; el usuario pidió una prueba nueva.",
    "사용자는 파일을 처리할 수 없다고 했고, 원인은 권한 문제였습니다.",
    "죄수의 딜레마에 대해 이야기했고 보고서는 3월 14일까지입니다.",
    "エラーの原因は auth.py の 88 行目で、利用者は修正を頼んだ。",
    "错误出在 auth.py 第 88 行，用户要求修复并补充测试。",
    "用户无法登录，原因是缺少索引；助手已经修复。",
    "The assistant could not process the refund, then Ingrid did it by hand.",
    "The assistant cannot help with this request before 14 March, when pier 12 opens.",
    "The model was unable to answer this; the user then gave it the report of 3 May.",
    "The request was blocked by the firewall until port 8443 was opened.",
    "The request to summarise the report was declined by Ingrid, who wants figures first.",
    "Content filters of the search page were rebuilt: price, size and colour.",
    "None of the above offers was taken; the user waits for one from Bremen.",
    "Yes was the answer of the carrier; the pump leaves on 3 May.",
    "No replacement has been sent yet; case C-9912 is open.",
    "Noted: the user must not be called before 10.",
    "TODO: index on orders, key of the export job, test of cart.py.",
    "Your Name, the film, was recommended to the user by Ingrid.",
    "What the user wants: a pump by 14 March. What is open: who pays?",
    "The user asked twice: why is the build red? It was cart.py.",
    "Order PX-4471 arrived broken, case C-9912 is open. Still to be decided: replacement or refund?",
    "The user wants to know which of the three offers is the cheapest. Which is it?",
    'The assistant asked: "Would you like a replacement?"',
    "Das kann Ingrid leider nicht vor dem 3. Mai entscheiden.",
    "사용자는 교체품을 원합니다. 환불은 가능한가?",
)
LONG = (
    " ## Task\nMove the shop to the new gateway before 14 March. ## Done\ncart.py and auth.py were moved, 41"
    " tests pass, the index on orders was added. ## Open\nThe export job still needs a key of its own; Ingrid"
    " decides on 3 May whether pier 12 is used. The budget is 210 euros, of which 90 are spent."
)
OPENINGS = (
    "Rate limit exceeded was what the client saw at first.",
    "Traceback (most recent call last): KeyError in cart.py was what the user pasted.",
    "Internal server error: that is what the user saw.",
    "As an AI model, the assistant was asked to stay neutral.",
    "Unfortunately I could not reach the supplier, the user wrote.",
    "I'm sorry was all that the carrier answered.",
    "An error occurred in the nightly export.",
    "Error: orders are missing, so began the report.",
    "Es tut mir leid, schrieb der Lieferant.",
    "Lo siento, escribió el proveedor.",
    "죄송하다는 답만 왔습니다.",
    "申し訳ないという返事だけだった。",
    "很抱歉，供应商这样回复。",
)
"""How a long summary may begin in its tags."""
NO_SUMMARY = (
    "Error generating summary: timeout",
    "error creating summary",
    "Error: the model is overloaded",
    "ERROR 503 upstream",
    "Exception: boom",
    "RuntimeError: CUDA out of memory",
    "Traceback (most recent call last):",
    'Traceback (most recent call last):\n  File "main.py", line 3, in <module>',
    "I'm sorry, but I can't help with that.",
    "I’m sorry, I cannot do that.",
    "I am sorry.",
    "Sorry, I can't.",
    "I can't summarise this.",
    "I cannot assist with that request.",
    "I'm unable to do so.",
    "I am unable to help.",
    "As an AI language model I have no access.",
    "As an AI assistant, I cannot read files.",
    "Internal Server Error",
    "500 Internal Server Error",
    "Rate limit exceeded, try again",
    "Rate limit reached for gpt-4o in organization org-1. Please try again in 2s.",
    '{"error": {"message": "overloaded"}}',
    '{"name": "look_up", "arguments": {}}',
    '  { "tool": "run" }',
    "**Error:** something broke",
    '"Error: quoted"',
    "An error occurred while processing your request.",
    "An unexpected error has occurred. Please try again later.",
    "Error",
    "error.",
    "**Error**",
    "I apologize, but I can't summarize this conversation.",
    "I sincerely apologise for the inconvenience.",
    "My apologies, I cannot continue.",
    "Apologies, but that is not something I can do.",
    "I'm afraid I can't do that.",
    "I regret that I can't comply with this request.",
    "Unfortunately, I can't provide a summary of this.",
    "Unfortunately I am not able to help.",
    "I don't have access to the conversation.",
    "I must decline to summarise this content.",
    "There is nothing to summarize.",
    "No transcript was provided.",
    "It seems that you did not include a transcript.",
    "Something went wrong.",
    "Failed to generate summary",
    "Request timed out.",
    "Too many requests",
    "Service temporarily unavailable",
    "You exceeded your current quota, please check your plan.",
    "The model is currently overloaded.",
    "<!DOCTYPE html><html><body>502</body></html>",
    "N/A",
    "OK.",
    "None",
    "...",
    "Es tut mir leid, aber ich kann dieses Gespräch nicht zusammenfassen.",
    "Leider kann ich dabei nicht helfen.",
    "Ich kann diese Anfrage leider nicht bearbeiten.",
    "Ein Fehler ist aufgetreten.",
    "Fehler: Zeitüberschreitung",
    "Je suis désolé, mais je ne peux pas résumer cette conversation.",
    "Malheureusement, je ne peux pas vous aider.",
    "Une erreur est survenue.",
    "Lo siento, pero no puedo ayudar con eso.",
    "No puedo resumir esta conversación.",
    "Se ha producido un error.",
    "Desculpe, não posso ajudar com isso.",
    "Mi dispiace, non posso aiutarti.",
    "Het spijt me, dat kan ik niet.",
    "Üzgünüm, bu konuda yardımcı olamam.",
    "Przepraszam, nie mogę w tym pomóc.",
    "Xin lỗi, tôi không thể giúp.",
    "Извините, я не могу помочь с этим.",
    "Λυπάμαι, δεν μπορώ να βοηθήσω.",
    "عذرًا، لا أستطيع المساعدة في ذلك.",
    "מצטער, אני לא יכול לעזור בזה.",
    "क्षमा करें, मैं इसमें मदद नहीं कर सकता।",
    "ขออภัย ฉันไม่สามารถช่วยได้",
    "죄송하지만 이 대화를 요약할 수 없습니다.",
    "요약할 수 없습니다.",
    "오류가 발생했습니다.",
    "申し訳ありませんが、要約できません。",
    "エラーが発生しました。",
    "抱歉，我无法总结这段对话。",
    "很抱歉，我不能帮助您。",
    "发生错误，请稍后再试。",
    "Yes.",
    "No",
    "Understood.",
    "Got it!",
    "TODO",
    "To do",
    "TBD",
    "Summary unavailable.",
    "The summary is not available.",
    "**None of the above**",
    "Verstanden.",
    "D'accord.",
    "Entendido.",
    "Понятно.",
    "알겠습니다.",
    "承知しました。",
    "好的。",
    "明白了。",
    "The assistant cannot help with this request.",
    "The assistant is unable to summarise this conversation because it violates the usage policy.",
    "The model declined to answer.",
    "This assistant can't comply with that.",
    "I must refuse to process this.",
    "I have to respectfully decline.",
    "I refuse.",
    "I understand. I have read the conversation and will keep it in mind.",
    "I'm ready to continue.",
    "I'd be happy to help with that.",
    "Your request was blocked by the content filter.",
    "Your prompt has been flagged as potentially violating our usage policy.",
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    "Request blocked by moderation.",
    "Content blocked.",
    "Content filter triggered",
    "Das kann ich leider nicht zusammenfassen.",
    "Diese Anfrage kann ich nicht bearbeiten.",
    "Dabei kann ich Ihnen leider nicht helfen.",
    "Leider ist das nicht möglich.",
    "Eine Zusammenfassung ist leider nicht möglich.",
    "Cela m'est impossible.",
    "Impossible de résumer cette conversation.",
    "Eso no lo puedo hacer.",
    "No es posible resumir esto.",
    "Não é possível resumir esta conversa.",
    "Questo non posso farlo.",
    "Dat kan ik helaas niet doen.",
    "Nie jestem w stanie tego zrobić.",
    "Это я не могу обобщить.",
    "Не могу помочь с этим запросом.",
    "이 요청을 처리할 수 없습니다.",
    "このリクエストにはお応えできません。",
    "无法处理您的请求。",
)
QUESTIONS = (
    "What would you like me to summarize?",
    "Which conversation do you mean?",
    "Could you share the transcript?",
    "Hello! How can I help you today?",
    "Sure, gladly. Would you like bullet points or prose?",
    "Was soll ich zusammenfassen?",
    "Gern. Möchten Sie Stichpunkte?",
    "Que voulez-vous que je résume ?",
    "¿Qué quieres que resuma?",
    "O que você quer que eu resuma?",
    "Cosa vuoi che riassuma?",
    "Что вы хотите обобщить?",
    "무엇을 요약해 드릴까요?",
    "안녕하세요. 오늘은 어떤 도움이 필요하신가요? 무엇을 도와드릴까요?",
    "何を要約しましょうか？",
    "请问您想总结什么？",
    "ماذا تريد أن ألخص؟",
)
STUTTERS = (
    "banana " * 30,
    "Ha! " * 8,
    "yes no " * 9,
    "x" * 3_000,
    "好" * 40,
    "香蕉" * 20,
    "-a" * 50,
    "the the. " * 9,
)
TOO_LITTLE = (
    "It went well.",
    "Here it is:",
    "Pump, broken, PX-4471.",
    "The user wrote a lot.",
    "泵已经坏了。",
    "- - -\n[1] 2 3",
)


class TestAccept:
    """An error text, an empty or a cut-off completion is never a summary."""

    @pytest.mark.parametrize("text", HONEST)
    def test_honest_summaries_are_believed(self, text: str) -> None:
        assert accept_text(text) == text
        assert accept_text(f"<summary>\n{text}\n</summary>") == text

    @pytest.mark.parametrize("reason", ["length", "content_filter", "tool_calls", "function_call"])
    def test_an_answer_that_did_not_end_by_itself_is_not(self, reason: str) -> None:
        with pytest.raises(SummaryRejected, match=reason):
            accept_text(GOOD, reason)

    @pytest.mark.parametrize("reason", ["stop", None, "end_turn", "eos"])
    def test_other_ends_are_fine(self, reason: str | None) -> None:
        assert accept_text(GOOD, reason) == GOOD

    def test_a_call_is_not(self) -> None:
        with pytest.raises(SummaryRejected, match="tool call"):
            accept_text(GOOD, calls=True)

    @pytest.mark.parametrize(
        "text", ["", "  \n ", "<summary></summary>", "<summary>\n </summary> x", "<summary>"]
    )
    def test_nothing_is_not(self, text: str) -> None:
        with pytest.raises(SummaryRejected, match="empty"):
            accept_text(text)

    @pytest.mark.parametrize("text", NO_SUMMARY)
    def test_errors_refusals_and_calls_as_text_are_not(self, text: str) -> None:
        for answer in (text, f"<summary>{text}</summary>", f"<SUMMARY>\n{text}"):
            with pytest.raises(SummaryRejected, match="refusal or an error"):
                accept_text(answer)

    @pytest.mark.parametrize("text", QUESTIONS)
    def test_a_question_to_the_reader_is_not(self, text: str) -> None:
        for answer in (text, f"<summary>{text}</summary>", f"**{text}**"):
            with pytest.raises(SummaryRejected, match="the answer is a question"):
                accept_text(answer)

    def test_a_long_summary_may_end_in_one(self) -> None:
        assert accept_text(f"<summary>{GOOD}{LONG} What do you want?</summary>").endswith("want?")
        assert accept_text(f"{GOOD}{LONG * 4} What do you want?").endswith("want?")
        with pytest.raises(SummaryRejected, match="question"):
            accept_text(f"{GOOD}{LONG} What do you want?")

    @pytest.mark.parametrize("text", STUTTERS)
    def test_one_word_over_and_over_is_not(self, text: str) -> None:
        for answer in (text, f"<summary>{text}</summary>"):
            with pytest.raises(SummaryRejected, match="says too little"):
                accept_text(answer)

    @pytest.mark.parametrize(
        "text", ["It went well. " * 60, "Ha! " * 7, "aaaa bbbb " * 2 + "cc", "好" * 23 + "了吗"]
    )
    def test_what_repeats_a_sentence_or_a_little_may_be(self, text: str) -> None:
        assert accept_text(f"<summary>{text}</summary>") == text.strip()

    @pytest.mark.parametrize("text", TOO_LITTLE)
    def test_without_tags_a_few_words_for_a_long_source_are_not(self, text: str) -> None:
        with pytest.raises(SummaryRejected, match="says too little"):
            accept_text(text)
        assert accept_text(f"<summary>{text}</summary>") == text
        assert accept_text(text, source=20 * len(text)) == text
        with pytest.raises(SummaryRejected, match="says too little"):
            accept_text(text, source=20 * len(text) + 1)

    @pytest.mark.parametrize("text", ["a", "Pump.", "\n" * 3_000 + "a", "泵坏"])
    def test_one_word_is_not_even_within_them(self, text: str) -> None:
        with pytest.raises(SummaryRejected, match="says too little"):
            accept_text(f"<summary>{text}</summary>")
        assert accept_text(f"<summary>{text}</summary>", source=20 * len(text.strip())) == text.strip()

    @pytest.mark.parametrize(
        "text",
        [
            "The pump broke; Ingrid pays everything.",
            "水泵坏了，英格丽德支付费用。",
            "펌프가 고장 나서 새것으로 교체합니다.",
        ],
    )
    def test_six_words_are_enough(self, text: str) -> None:
        assert accept_text(text) == text

    def test_one_in_a_script_that_nobody_wrote_is_not(self) -> None:
        russian = "Пользователь хочет заменить насос и живёт в Гулле. " * 3
        for text in (russian, f"<summary>{russian}</summary>"):
            answer = SummaryAnswer(text, "stop", "m")
            with pytest.raises(SummaryRejected, match="another script"):
                accept_summary(answer, 10_000, 1000, len, [GOOD, LONG])
            assert accept_summary(answer, 10_000, 1000, len, [GOOD, russian]) == russian.strip()
            assert accept_summary(answer, 10_000, 1000, len) == russian.strip()
        assert accept_summary(SummaryAnswer(GOOD, "stop", "m"), 10_000, 1000, len, [russian]) == GOOD

    @pytest.mark.parametrize("opening", OPENINGS)
    def test_a_long_summary_in_its_tags_may_begin_like_one(self, opening: str) -> None:
        assert accept_text(f"<summary>\n{opening}{LONG}\n</summary>") == opening + LONG

    def test_without_tags_it_must_be_longer(self) -> None:
        opening = "Unfortunately I could not reach the supplier, the user wrote."
        with pytest.raises(SummaryRejected, match="refusal or an error"):
            accept_text(opening + LONG)
        assert accept_text(opening + LONG * 4).startswith(opening)

    @pytest.mark.parametrize(
        "text", ["Traceback (most recent call last):", "<html>", '{"error": "x", "at": "']
    )
    def test_what_a_program_printed_needs_tags_however_long_it_is(self, text: str) -> None:
        with pytest.raises(SummaryRejected, match="refusal or an error"):
            accept_text(text + LONG * 9)
        assert accept_text(f"<summary>{text}{LONG * 2}</summary>").startswith(text)

    @pytest.mark.parametrize(
        ("answer", "summary"),
        [
            (f"Here you are:\n<summary>{GOOD}</summary>\nAnything else?", GOOD),
            (f"<Summary>{GOOD}", GOOD),
            (f"<summary>{GOOD}</summary><summary>another</summary>", GOOD),
            (f"  {GOOD}\n", GOOD),
        ],
    )
    def test_only_what_is_tagged_counts(self, answer: str, summary: str) -> None:
        assert accept_text(answer) == summary

    def test_one_that_is_too_long_is_shortened_to_both_ends(self) -> None:
        text = "First. " + "word " * 1000 + "Last."
        short = accept_summary(SummaryAnswer(text, "stop", "m"), 10_000, 300, len)
        assert len(short) <= 300 and short.startswith("First.") and short.endswith("Last.")

    @pytest.mark.parametrize("source", [0, 10, len(GOOD), int(len(GOOD) / 0.95)])
    def test_one_that_saves_nothing_is_not_believed(self, source: int) -> None:
        with pytest.raises(SummaryRejected, match="not smaller"):
            accept_text(GOOD, source=source)

    def test_one_that_saves_a_little_is(self) -> None:
        assert accept_text(GOOD, source=int(len(GOOD) / 0.89)) == GOOD

    @search
    @given(texts, st.integers(24, 500), st.integers(0, 2000))
    def test_what_is_believed_is_within_its_limits(self, text: str, limit: int, source: int) -> None:
        try:
            summary = accept_summary(SummaryAnswer(text, "stop", "m"), source, limit, len)
        except SummaryRejected:
            return
        assert summary.strip() and len(summary) <= min(limit, source)


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"<summary>{GOOD} And then the ha", GOOD),
        (f"{GOOD}\n- the harbour li", GOOD),
        ('They said "It is done, and well done." And th', 'They said "It is done, and well done."'),
        ("사용자가 항구 보고서를 요청했습니다. 그리고 항", "사용자가 항구 보고서를 요청했습니다."),
        ("利用者は港の灯の報告を求めた。そして", "利用者は港の灯の報告を求めた。"),
        ("<think>Let me thi", None),
        ("The user asked for version 3.1 of the rep", None),
    ],
)
def test_an_answer_that_was_cut_off_counts_where_there_will_be_none_better(
    reason: str, text: str, kept: str | None
) -> None:
    answer = SummaryAnswer(text, reason, "m")
    with pytest.raises(SummaryRejected, match=f"finish_reason is {reason}"):
        accept_summary(answer, 1_000, 1_000, len)
    if kept is not None:
        assert accept_summary(answer, 1_000, 1_000, len, may_be_cut_off=True) == kept
        return
    with pytest.raises(SummaryRejected, match="empty"):
        accept_summary(answer, 1_000, 1_000, len, may_be_cut_off=True)


@pytest.mark.parametrize(
    "thinking",
    [
        "<think>Shall I refuse?</think>",
        "<thinking>Shall I?</think>",
        "Shall I?</think>",
        "◁think▷Shall I?◁/think▷",
        "<|channel|>analysis<|message|>Shall I?<|end|><|start|>assistant<|channel|>final<|message|>",
        "[THINK]Shall I?[/THINK]",
    ],
)
@pytest.mark.parametrize("summary", [GOOD, f"<summary>{GOOD}</summary>"])
def test_what_a_model_thinks_before_it_sums_up_is_no_part_of_the_summary(thinking: str, summary: str) -> None:
    assert accept_text(f"{thinking}\n{summary}") == GOOD
