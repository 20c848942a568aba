"""Refusals that no phrase of ours was written for: numbers in every role, and other tongues.

The texts of servers are as their public issue trackers and sources show them, without ids and addresses.
"""

from __future__ import annotations

import pytest

from gateway_compaction.core.tokens.refusal import LengthRefusal, read_refusal

# What is read: the limit, what the provider counted of the prompt, and of the whole.
KINDS: dict[str, tuple[str, int | None, int | None, int | None]] = {
    # A limit of the answer is none of the window.
    "cloudflare-both": (
        "AiError: 5021: The estimated number of input and maximum output tokens (9154) exceeded this model "
        "context window limit (8192).",
        8192,
        None,
        9154,
    ),
    "output-beside": (
        "Maximum output tokens: 4096, maximum context length: 32768. Your prompt has 40000 tokens.",
        32768,
        40000,
        None,
    ),
    "output-alone": ("Input too long: model output limit is 4096 tokens", None, None, None),
    "output-behind": (
        "This model's maximum context length is 32768 tokens and its maximum output is 4096 tokens. Your "
        "prompt has 40000 tokens.",
        32768,
        40000,
        None,
    ),
    # A code, a date and an id are no numbers of tokens.
    "zhipu": (
        "Error code: 400 - {'error': {'code': '1261', 'message': 'Prompt exceeds max length'}}",
        None,
        None,
        None,
    ),
    "code-behind": ("Prompt exceeds max length (code: 1261)", None, None, None),
    "code-in-brackets": (
        "[1261] Prompt exceeds max length on 2026-04-05, trace 1,234,567,890,123",
        None,
        None,
        None,
    ),
    "id-behind": (
        "Input length 1048826 exceeds the maximum length 1048566. Request id: 0217882",
        1048566,
        1048826,
        None,
    ),
    # The only number, in brackets at the end, and no round one: a code that the provider appends.
    "minimax-code": ("invalid params, context window exceeds limit (2013)", None, None, None),
    "minimax-token-code": ("the prompt exceeds the token limit (1039).", None, None, None),
    "limit-in-brackets": ("The input is longer than the maximum length (8192)", 8192, None, None),
    "thousands-in-brackets": ("The input is longer than the maximum length (200000)", 200000, None, None),
    "not-alone": ("Your input has 3000 tokens, which exceeds the limit (2013)", 2013, 3000, None),
    # What exceeds the most, and a sum with the answer in it, are what was sent.
    "exceeds-the-most": ("The request exceeds the maximum tokens (9000 > 8192)", 8192, None, None),
    "most-exceeded": ("Maximum tokens exceeded: 9000 > 8192", 8192, None, 9000),
    "sum": ("The sum of tokens and maximum tokens exceeds the limit of 8192", 8192, None, None),
    # Names of fields are read as words, whatever they are called.
    "fields": ("too many tokens: max_input_tokens=8192 input_tokens=9000", 8192, 9000, None),
    "fields-reversed": ("input_tokens=9000 max_input_tokens=8192: input is too long", 8192, 9000, None),
    "max_seq_len": ("Sequence length 5000 > max_seq_len 4096", 4096, None, 5000),
    "max_model_len": ("Input is too long for max_model_len 4096", 4096, None, None),
    "siliconflow": (
        '{"code":20015,"message":"length of prompt_tokens (33297) must be less than max_seq_len (32768).'
        '","data":null}',
        32768,
        33297,
        None,
    ),
    "lmdeploy": ("The input length 9000 exceeds session_len 8192", 8192, 9000, None),
    "lmdeploy-sum": (
        "total sequence length (62534 + 3002) exceeds `session_len` (65536)",
        65536,
        62534,
        None,
    ),
    "num_ctx": ("input is too long for num_ctx 4096: prompt has 5065 tokens", 4096, 5065, None),
    "labels": ("prompt too long: limit=2048 prompt=5065", 2048, 5065, None),
    "labels-reversed": ("prompt=9000 limit=8192 too long", 8192, 9000, None),
    "tensorrt": (
        "Prompt length (5056) exceeds maximum input length (2048). Set log level to info and check "
        "TRTGptModel logs for how maximum input length is set",
        2048,
        5056,
        None,
    ),
    "tensorrt-sum": (
        "The sum of prompt length (8000.0), query length (0) and max_tokens (1000) should not exceed "
        "max_num_tokens (8192)",
        8192,
        8000,
        None,
    ),
    "nim": ("Input length 9216 exceeds maximum allowed token size 8192", 8192, 9216, None),
    "watsonx": (
        "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
        8192,
        9000,
        None,
    ),
    "fireworks": (
        "The prompt is too long: 135000, model maximum context length: 131071",
        131071,
        135000,
        None,
    ),
    "vllm-decoder": (
        "The decoder prompt (length 163840) is longer than the maximum model length of 131072. Make sure "
        "that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.",
        131072,
        163840,
        None,
    ),
    "hyphen": ("The prompt exceeds a 8192-token limit: it has 9000 tokens", 8192, None, 9000),
    "quoted-behind": ("max 8192 tokens of input allowed, got 9000", 8192, None, 9000),
    # The lower of what a short number may stand for.
    "k": (
        "This model has a context window of 128k tokens, your prompt has 140k tokens: too long",
        128000,
        140000,
        None,
    ),
    "K": ("prompt too long: maximum context length is 32K", 32000, None, None),
    "M": ("prompt too long: the maximum context is 1M tokens", 1_000_000, None, None),
    # Two limits that contradict each other: what was refused is the larger one.
    "two-limits": ("Context too long: limit 9000 over limit 8192", 8192, None, None),
    # What was sent is no limit, however near the word stands; nor is a part of it.
    "sent-alone": ("Your context length 9000 is too long", None, None, 9000),
    "sent-behind": ("context window exceeded: 9000 tokens", None, None, 9000),
    "parts": ("Context too long: 9000 tokens, 7000 of them cached, 2000 new", None, None, 9000),
    "larger-than-sent": ("Prompt too long: 5000 tokens, maximum context length 8192", None, 5000, None),
    # Other tongues, with their ways to write a number.
    "zh": ("输入长度超过模型最大上下文长度，最大 8192 tokens，当前 9000 tokens", 8192, None, 9000),
    "zh-inline": ("请求的token数量9000超过了模型的上限8192", 8192, None, 9000),
    "zh-no-number": ('{"error":{"code":"1261","message":"Prompt 超长"}}', None, None, None),
    "zh-too-long": ("输入内容过长，请缩短后重试", None, None, None),
    "zh-wan": ("输入过长：最大12.8万token", 128000, None, None),
    "fr": (
        "La longueur maximale du contexte de ce modèle est de 8 192 jetons, mais votre requête en "
        "contient 9 000.",
        8192,
        None,
        9000,
    ),
    "fr-no-number": ("L'entrée est trop longue pour la fenêtre de contexte de ce modèle", None, None, None),
    "de": (
        "Die maximale Kontextlänge dieses Modells beträgt 8.192 Token, Ihre Anfrage umfasst 9.000 Token.",
        8192,
        None,
        9000,
    ),
    "de-no-number": ("Ihre Anfrage überschreitet das Kontextfenster des Modells.", None, None, None),
    "de-unnamed": ("Die Eingabe ist zu lang: 9000 Token, passen würden 8192.", 8192, 9000, None),
    "es": (
        "La longitud máxima de contexto de este modelo es de 8192 tokens, pero su solicitud tiene 9000",
        8192,
        None,
        9000,
    ),
    "ja": (
        "入力が長すぎます。最大コンテキスト長は8192トークンですが、9000トークンが要求されました。",
        8192,
        None,
        9000,
    ),
    "ko": (
        "입력이 너무 깁니다. 최대 컨텍스트 길이는 8192 토큰이지만 9000 토큰을 요청했습니다.",
        8192,
        None,
        9000,
    ),
    "ru": (
        "Запрос слишком длинный: 9000 токенов, максимальная длина контекста 8192 токенов",
        8192,
        None,
        9000,
    ),
}

# About something else: of the answer, of credentials, of other lists. None may shorten a conversation.
OTHERS = (
    "AiError: max_completion_tokens is too large: 1298829. This model supports at most 1048576",
    "The parameter `max_tokens` specified in the request are not valid: integer above maximum value, "
    "expected a value <= 4096, but got 8192 instead. Request id: 021",
    "Exceeding the limiting length: [max_tokens should be less or equal to 131072]",
    "该模型的最大输出长度为 8192 个 token，您设置的 max_tokens 为 9000。",
    "Die maximale Ausgabelänge beträgt 8192 Token, angefragt wurden 9000.",
    "请求过于频繁，最大 300 次，当前 400 次",
    "tool_call_id is too long: 500 > 300",
    "logit_bias tokens 500 > 300",
    "JWT token too long: 9000 > 8192",
    "messages.4.content: 5000 blocks > 1000",
    "Maximum number of tokens for tools is 300; got 500",
    "context deadline exceeded",
    "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
    "llama runner: input processing: context canceled, limit exceeded",
)
# A limit of an account, of a time, or of tokens that let somebody in, as public issues show them. The numbers
# and words are those of a refusal for length.
OF_ACCOUNTS = (
    "API token limit 300 exceeded",
    "Maximum number of API tokens (300) exceeded",
    "Access token limit exceeded: 9000 > 8192",
    "Daily token limit exceeded: 300000 of 200000",
    "You have exceeded your monthly token limit: 1,200,000 tokens used, limit 1,000,000",
    "Monthly input token limit 200000 exceeded: 300000 input tokens used",
    "Token limit exceeded for today. Limit 200000, used 300000",
    "The token limit of your plan is 10000, you used 12000: limit exceeded",
    "Your organization has exceeded the maximum number of tokens: 9000 > 8192",
    "Free tier token limit exceeded: 9000 > 8192",
    "Workspace limit exceeded: 2,000,000 tokens",
    "User token limit exceeded (limit 100000, current 120000)",
    "The key has a limit of 100000 tokens, which is exceeded: 120000",
    "Usage limit reached: too many tokens, 120000 > 100000",
    "Too many tokens in the last 24 hours: 120000 exceeds the limit of 100000",
    "Token limit 100000 exceeded, resets at 12:00",
    "Request too large: input tokens per min 12000 exceeds limit 10000",
    "max tokens per user exceeded: 12000 > 10000",
    "Not enough tokens: the request needs 12000, exceeding the 10000 left",
    "Limit of 50000 tokens/day exceeded, used 52000",
    "tokens/min limit exceeded: 12000 > 10000",
    "Account token balance exceeded: needs 12000 tokens, only 3000 left",
    "Max concurrent tokens exceeded (9000 > 8000) for this tenant",
    "Too many input tokens in flight: 90000 > 80000",
    "Project token limit exceeded 300000 > 200000",
    "Tageslimit: täglich 10000 Token, 12000 überschreiten es",
    "Le nombre de jetons par jour dépasse 10000 : 12000",
    "Has superado el límite diario de tokens: 12000 de 10000",
    "Превышен дневной лимит токенов: 120000 из 100000, превышает",
    "已超过每日 token 限额：已用 120000，上限 100000",
    "1 日あたりのトークン上限 100000 を超えました：120000",
    "일일 토큰 한도를 초과했습니다: 120000 / 100000",
    "Token budget limit exceeded: requested 12000, limit 10000 this billing period",
)
# The same words beside the context, which is what is meant.
OF_CONTEXT = (
    "The maximum context length of your plan is 8192 tokens, your prompt has 9000",
    "This account's model has a context window of 8192 tokens; the prompt has 9000 tokens: too long",
    "prompt is too long for this key's model: 9000 tokens > 8192 maximum",
    "The request has 9000 tokens, the most tokens per request are 8192: too many tokens",
    "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
)
# The answer that is asked for is above a limit of its own.
OF_ANSWER = (
    "The maximum tokens you requested exceeds the model limit of 8192. Try again with a maximum tokens value "
    "that is lower than 8192.",
    "Maximum tokens 64000 is greater than the model's limit 8192",
    "Maximum tokens 64,000 are too large, the limit is 8,192 tokens",
    "Number of output tokens requested (16384) exceeds the limit 8192",
    "64000 tokens exceed the maximum number of output tokens 8192",
    "Requested completion tokens exceeded the model limit of 8192",
    "max_new_tokens=64000 exceeds the token limit 8192",
    "输出token数16384超过模型限制8192",
)
UNHEARD = "Ihr Text: 9000. Fenster: 8192."


@pytest.mark.parametrize("name", KINDS)
def test_each_number_is_read_in_its_role(name: str) -> None:
    text, limit, counted, requested = KINDS[name]
    told = read_refusal(400, text)
    assert told == LengthRefusal(limit, counted, requested)
    wrapped = f"litellm.BadRequestError: SomeException - {{'error': {{'message': {text!r}}}}}"
    assert read_refusal(400, wrapped) == told


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_about_something_else_is_no_refusal(text: str) -> None:
    assert read_refusal(400, text) is None


@pytest.mark.parametrize("text", OF_ACCOUNTS)
def test_what_an_account_has_used_up_is_no_refusal(text: str) -> None:
    wrapped = f"litellm.BadRequestError: SomeException - {{'error': {{'message': {text!r}}}}}"
    for told in (text, wrapped):
        assert read_refusal(400, told) is None and read_refusal(403, told) is None


@pytest.mark.parametrize("text", OF_CONTEXT)
def test_the_context_of_an_account_is_a_context(text: str) -> None:
    told = read_refusal(400, text)
    assert told is not None and told.limit == 8192


@pytest.mark.parametrize("text", OF_ANSWER)
def test_an_answer_that_is_asked_for_too_long_is_no_refusal_of_the_prompt(text: str) -> None:
    wrapped = f"litellm.BadRequestError: SomeException - {{'error': {{'message': {text!r}}}}}"
    for told in (text, wrapped):
        assert read_refusal(400, told) is None
        assert read_refusal(400, told, sizes=(70_000, 6_000)) is None
        assert read_refusal(400, told, context_exceeded=True) is None


def test_the_number_that_was_asked_for_is_the_answers_where_the_prompt_fits_the_limit() -> None:
    text = "You requested 64000 tokens, which exceeds the limit of 8192 tokens"
    assert read_refusal(400, text, sizes=(69_000, 5_000), asked=64_000) is None
    assert read_refusal(400, text, asked=64_000) is None
    # Another number, a prompt that is itself too long, and a word that the context is meant.
    learnt = LengthRefusal(8192, None, 64000)
    assert read_refusal(400, text, sizes=(69_000, 5_000), asked=4_000) == learnt
    assert read_refusal(400, text, sizes=(73_000, 9_000), asked=64_000) == learnt
    text = "This model's context is 8192 tokens, you requested 64000: too long"
    assert read_refusal(400, text, sizes=(69_000, 5_000), asked=64_000) == learnt


@pytest.mark.parametrize("path", ["", "#/prompt: "])
def test_a_schema_that_counts_characters_teaches_no_window(path: str) -> None:
    text = f"Malformed input request: {path}expected maxLength: 42000, actual: 61523, please reformat"
    assert read_refusal(400, text) == LengthRefusal(in_tokens=False)


def test_a_number_that_is_ours_beside_a_smaller_one_is_a_refusal_in_any_language() -> None:
    assert read_refusal(400, UNHEARD) is None
    assert read_refusal(400, UNHEARD, sizes=(4_000, 8_600)) == LengthRefusal(8192, None, 9000)
    # Larger and smaller by more than counts differ, or without a smaller one beside it.
    assert read_refusal(400, UNHEARD, sizes=(12_000,)) is None
    assert read_refusal(400, "Ihr Text: 9000.", sizes=(9_000,)) is None
    assert read_refusal(400, "Rate limit: 9000 von 8192.", sizes=(9_000,)) is None


def test_numbers_that_are_not_of_what_was_sent_teach_nothing() -> None:
    text = "prompt is too long: 9000 tokens > 300 maximum"
    assert read_refusal(400, text, sizes=(9_500,)) == LengthRefusal(300, 9000)
    assert read_refusal(400, text, sizes=(100_000, 120_000)) == LengthRefusal()
    assert read_refusal(400, text, sizes=(60,)) == LengthRefusal()


def test_a_limit_above_the_prompt_is_one_where_the_answer_is_what_exceeds_it() -> None:
    text = KINDS["larger-than-sent"][0]
    assert read_refusal(400, text, sizes=(5_000, 9_000)) == LengthRefusal(8192, 5000)
    assert read_refusal(400, text, sizes=(5_000, 6_000)) == LengthRefusal(None, 5000)
    text += ", and max_tokens=4000"
    assert read_refusal(400, text) == LengthRefusal(8192, 5000)


# Words of servers and gateways that were not known when the code was written, and the limit that each tells.
FRESH: list[tuple[str, int | None]] = [
    (
        "You passed 4097 input tokens and requested 1024 output tokens. However, the model's context "
        "length is only 4096 tokens, resulting in a maximum input length of 3072 tokens.",
        4096,
    ),
    (
        "too many tokens: size limit exceeded by 3124 tokens. Try using shorter or fewer inputs. The "
        "limit for this model is 128000 tokens.",
        128000,
    ),
    (
        "This model's maximum context length is 65536 tokens. However, you requested 66000 tokens "
        "(58000 in the messages, 8000 in the completion).",
        65536,
    ),
    ("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)", 8192),
    ("Range of input length should be [1, 30720]", 30720),
    ("the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model", 4096),
    (
        "Trying to keep the first 5120 tokens when context the overflows. However, the model is "
        "loaded with context length of only 4096 tokens, which is not enough.",
        4096,
    ),
    ("request (9123 tokens) exceeds the available context size (8192 tokens), try increasing it", 8192),
    ("The requested length 9000 exceeds maximum of 8192 tokens", 8192),
    ("The prompt is too long: 140000, model maximum context length: 131071", 131071),
    ("Prompt has too many tokens (5000 > 4096)", 4096),
    ("Request body too large for gpt-4o model. Max size: 8000 tokens.", 8000),
    ("Exceeded the maximum tokens. Input 9000 + max output 500 > 8192", 8192),
    ("max tokens of 4096 exceeded", 4096),
    (
        "Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum "
        "context length",
        32768,
    ),
    ("prompt is too long: 212054 tokens > 200000 maximum", 200000),
    ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576),
    ("Input is too long for requested model.", None),
    ("Prompt length (9000) exceeds maximum input length (8192).", 8192),
    ("The input token count 9000 exceeds session_len 8192", 8192),
    ("Requested tokens (9000) exceed context window of 8192", 8192),
    ("Prompt 超长：最大 131072 tokens，当前 140000 tokens", 131072),
    ("Total tokens of image and text exceed max message tokens. Request id: 02", None),
    ("The number of total tokens (310000) exceeds the model's limit of 300000", 300000),
]


@pytest.mark.parametrize(("text", "limit"), FRESH)
def test_of_words_that_nobody_knew_the_limit_is_read(text: str, limit: int | None) -> None:
    refusal = read_refusal(400, text)
    assert refusal is not None and refusal.limit == limit


@pytest.mark.parametrize(
    "text",
    [
        "The conversation no longer fits the model.",
        "Conversation history too big to process; start a new chat.",
        "prompt does not fit (4100/3000)",
        "The prompt won't fit in this slot",
        "Failed to fit 4100 tokens into the context",
        "chat history exceeds what the model accepts",
        "This conversation is too long for the selected model.",
        '{"code":"prompt_too_large"}',
        '{"error":{"code":"PromptTooLong"}}',
        "ContextOverflow",
        "input_tokens_exceeded",
        "code=conversation_too_long",
    ],
)
def test_what_does_not_fit_and_codes_are_read_as_words(text: str) -> None:
    assert read_refusal(400, text, sizes=[4_000]) is not None


@pytest.mark.parametrize(
    "text",
    [
        "The messages do not fit the schema.",
        "tool input does not fit the declared type",
        "request does not fit the API version",
        "The chat title is too long",
        "The chat template is too long",
        "Conversation id too long",
        "conversation name exceeds 64 characters",
        "output_too_long",
        "image_too_large",
        "max_tokens_exceeded: completion",
        "tokens_per_minute_exceeded",
        "context_canceled",
        "ContextWindowFallbackMissing",
    ],
)
def test_what_only_sounds_like_it_is_about_something_else(text: str) -> None:
    assert read_refusal(400, text, sizes=[4_000]) is None
