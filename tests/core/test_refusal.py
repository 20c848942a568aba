"""Refusals for length in the words of providers, and what is no refusal for length.

The texts are as public documentation and issue trackers show them, without ids and addresses.
"""

from __future__ import annotations

import pytest

from gateway_compaction.core.tokens.refusal import LengthRefusal, read_refusal

# Provider and form, status, text; then the limit, and what the provider counted: the prompt, the whole.
REFUSALS: list[tuple[str, int, str, int | None, int | None, int | None]] = [
    (
        "openai-messages",
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulte"
        "d in 204308 tokens. Please reduce the length of the messages.",
        128000,
        204308,
        None,
    ),
    (
        "openai-completion",
        400,
        "This model's maximum context length is 4097 tokens. However, you requested 4203 toke"
        "ns (3703 in the messages, 500 in the completion). Please reduce the length of the me"
        "ssages or completion.",
        4097,
        3703,
        4203,
    ),
    (
        "openai-old",
        400,
        "This model's maximum context length is 4097 tokens, however you requested 4162 token"
        "s (1090 in your prompt; 3072 for the completion). Please reduce your prompt; or comp"
        "letion length.",
        4097,
        1090,
        4162,
    ),
    (
        "openai-gpt5",
        400,
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in"
        " 289650 tokens. Please reduce the length of the messages.",
        272000,
        289650,
        None,
    ),
    (
        "openai-bare",
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        None,
        None,
        None,
    ),
    (
        "azure",
        400,
        "This model's maximum context length is 16385 tokens. However, your messages resulted"
        " in 33625 tokens. Please reduce the length of the messages.",
        16385,
        33625,
        None,
    ),
    (
        "anthropic",
        400,
        '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too lon'
        'g: 208310 tokens > 200000 maximum"}}',
        200000,
        208310,
        None,
    ),
    (
        "anthropic-max",
        400,
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decreas"
        "e input length or `max_tokens` and try again",
        200000,
        178959,
        None,
    ),
    (
        "bedrock-claude",
        400,
        "The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum",
        200000,
        200049,
        None,
    ),
    (
        "bedrock",
        400,
        "An error occurred (ValidationException) when calling the Converse operation: Input i"
        "s too long for requested model.",
        None,
        None,
        None,
    ),
    (
        "bedrock-nova",
        400,
        "The model returned the following errors: Input Tokens Exceeded: Number of input toke"
        "ns exceeds maximum length. Please update the input to try again.",
        None,
        None,
        None,
    ),
    (
        "bedrock-titan",
        400,
        "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279 ",
        8192,
        9279,
        None,
    ),
    (
        "gemini",
        400,
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
        1048576,
        1200293,
        None,
    ),
    (
        "mistral",
        400,
        "Prompt contains 300000 tokens, too large for model with 131072 maximum context length",
        131072,
        300000,
        None,
    ),
    (
        "mistral-images",
        400,
        "Prompt contains 300000 tokens and 0 images too large for model with 262144 maximum context length",
        262144,
        300000,
        None,
    ),
    (
        "vllm",
        400,
        "This model's maximum context length is 16384 tokens. However, you requested 122946 t"
        "okens (112946 in the messages, 10000 in the completion). Please reduce the length of"
        " the messages or completion.",
        16384,
        112946,
        122946,
    ),
    (
        "vllm-new",
        400,
        "This model's maximum context length is 262144 tokens. However, you requested 128000 "
        "output tokens and your prompt contains at least 134145 input tokens, for a total of "
        "at least 262145 tokens. Please reduce the length of the input prompt or the number o"
        "f requested output tokens. (parameter=input_tokens, value=134145)",
        262144,
        None,
        None,
    ),
    (
        "vllm-request",
        400,
        "This model's maximum context length is 262144 tokens. However, your request has 1000"
        "010 input tokens. Please reduce the length of the input messages. None",
        262144,
        1000010,
        None,
    ),
    (
        "vllm-mm",
        400,
        "The prompt (total length 25938) is too long to fit into the model (context length 40"
        "96). Make sure that `max_model_len` is no smaller than the number of text tokens plu"
        "s multimodal tokens.",
        4096,
        25938,
        None,
    ),
    (
        "sglang",
        400,
        "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        40960,
        61709,
        None,
    ),
    (
        "sglang-total",
        400,
        "Requested token count exceeds the model's maximum context length of 202752 tokens. Y"
        "ou requested a total of 202941 tokens: 170941 tokens from the input messages and 320"
        "00 tokens for the completion. Please reduce the number of tokens in the input messag"
        "es or the completion to fit within the limit.",
        202752,
        170941,
        202941,
    ),
    (
        "sglang-length",
        400,
        "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use "
        "a shorter input or enable --allow-auto-truncate.",
        59862,
        160062,
        None,
    ),
    (
        "llamacpp",
        400,
        "the request exceeds the available context size. try increasing the context size or e"
        "nable context shift', 'type': 'exceed_context_size_error', 'n_prompt_tokens': 14429,"
        " 'n_ctx': 8192}",
        8192,
        14429,
        None,
    ),
    (
        "llamacpp-new",
        400,
        "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it",
        8192,
        None,
        14429,
    ),
    (
        "llamacpp-python",
        500,
        "Requested tokens (2285) exceed context window of 2048",
        2048,
        None,
        2285,
    ),
    (
        "ollama",
        400,
        "prompt too long; exceeded max context length by 4021 tokens",
        None,
        None,
        None,
    ),
    (
        "ollama-embed",
        400,
        "the input length exceeds the context length",
        None,
        None,
        None,
    ),
    (
        "tgi",
        422,
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3"
        "474 `inputs` tokens and 60 `max_new_tokens`",
        2048,
        3474,
        None,
    ),
    (
        "tgi-inputs",
        422,
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 1872",
        1024,
        None,
        1872,
    ),
    (
        "openrouter",
        400,
        "This endpoint's maximum context length is 16384 tokens. However, you requested about"
        " 94307 tokens (94307 of text input). Please reduce the length of either one, or use "
        'the "middle-out" transform to compress your prompt automatically.',
        16384,
        94307,
        94307,
    ),
    (
        "openrouter-tools",
        400,
        "This endpoint's maximum context length is 204800 tokens. However, you requested abou"
        "t 205432 tokens (81684 of text input, 3748 of tool input, 120000 in the output). Ple"
        "ase reduce the length of either one",
        204800,
        85432,
        205432,
    ),
    (
        "groq",
        400,
        "Please reduce the length of the messages or completion.",
        None,
        None,
        None,
    ),
    (
        "groq-413",
        413,
        "Request too large for model `llama-3.3-70b-versatile` in organization `org_01kg` ser"
        "vice tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, plea"
        "se reduce your message size and try again.",
        12000,
        None,
        14137,
    ),
    (
        "openai-429",
        429,
        "Request too large for gpt-4o in organization org-abc on tokens per min (TPM): Limit "
        "30000, Requested 32000. The input or output tokens must be reduced in order to run s"
        "uccessfully.",
        30000,
        None,
        32000,
    ),
    (
        "xai",
        400,
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        131072,
        None,
        537812,
    ),
    (
        "cerebras",
        400,
        "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
        8192,
        None,
        9000,
    ),
    (
        "together",
        422,
        "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
        262144,
        516368,
        None,
    ),
    (
        "copilot",
        400,
        "prompt token count of 150000 exceeds the limit of 128000",
        128000,
        150000,
        None,
    ),
    (
        "kimi",
        400,
        "Your request exceeded model token limit: 262144 (requested: 300000)",
        262144,
        None,
        300000,
    ),
    (
        "cohere",
        400,
        "too many tokens: total number of tokens in the prompt cannot exceed 128000 - receive"
        "d 130000. Try using a shorter prompt.",
        128000,
        None,
        130000,
    ),
    (
        "qwen",
        400,
        "Range of input length should be [1, 129024]",
        129024,
        None,
        None,
    ),
    (
        "minimax",
        400,
        "invalid params, context window exceeds limit",
        None,
        None,
        None,
    ),
    (
        "lmstudio",
        400,
        "The number of tokens to keep from the initial prompt is greater than the context length",
        None,
        None,
        None,
    ),
    (
        "replicate",
        400,
        "Your input is too long. Max input length is 4096 tokens, but you supplied 5441 tokens.",
        4096,
        None,
        5441,
    ),
    (
        "zai",
        400,
        "model_context_window_exceeded",
        None,
        None,
        None,
    ),
    (
        "ds4",
        400,
        "Prompt has 300,000 tokens, but the configured context size is 131,072 tokens",
        131072,
        300000,
        None,
    ),
    (
        "deepseek",
        400,
        "Error code: 400 - {'error': {'message': \"This model's maximum context length is 1310"
        "72 tokens. However, you requested 351430 tokens. Please reduce the length of the mes"
        "sages or completion.\", 'type': 'BadRequestError', 'param': None, 'code': 400}}",
        131072,
        None,
        351430,
    ),
    (
        "nginx",
        413,
        "<html><head><title>413 Request Entity Too Large</title></head></html>",
        None,
        None,
        None,
    ),
]

OTHERS: list[tuple[int, str]] = [
    (400, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
    (400, "top_k: Input should be less than or equal to 500"),
    (400, "Invalid value: 'maximum context length is 300 tokens'. Supported values are: 'low' and 'high'."),
    (400, "Invalid value: 'prompt is too long: 9000 tokens > 300 maximum'."),
    (400, "Request took too long: 30000 ms exceeds limit 20000"),
    (504, "The request exceeded the maximum time of 600 seconds."),
    (400, "Input image is too large: 5000 x 5000 > 4096 x 4096"),
    (400, "Too many messages: 2100 > 2048 maximum"),
    (400, "Tool description exceeds maximum length of 1024 tokens"),
    (400, "Budget has been exceeded! Current cost: 12, max budget: 10 for this request"),
    (400, "prompt with too many cache breakpoints 5"),
    (402, "Prompt tokens limit exceeded: 34064 > 27398. To increase, buy more credits"),
    (400, "input audio is too long: 1500 seconds, the maximum is 1400"),
    (400, "messages: array too long. Expected an array with maximum length 128, but got 129 tool_calls."),
    (
        400,
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"
        ", whereas you provided 100000.",
    ),
    (
        400,
        "max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000",
    ),
    (
        400,
        "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku",
    ),
    (
        429,
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 3"
        "0000, Used 29000, Requested 1443. Please try again in 4s.",
    ),
    (
        429,
        "Too many requests",
    ),
    (
        400,
        "messages.3.content.0.image.source.base64: image exceeds 5 MB maximum: 6300000 bytes > 5242880 bytes",
    ),
    (
        400,
        "Invalid 'user': string too long. Expected a string with maximum length 64, but got a"
        " string with length 128 instead.",
    ),
    (
        400,
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got "
        "an array with length 192 instead.",
    ),
    (
        400,
        "Invalid value: 'developer'. Supported values are: 'system', 'assistant', 'user', 'fu"
        "nction', and 'tool'.",
    ),
    (
        400,
        "messages: text content blocks must be non-empty",
    ),
    (
        400,
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01.",
    ),
    (
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    ),
    (
        400,
        "Your credit balance is too low to access the Anthropic API.",
    ),
    (
        400,
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 200 instead.",
    ),
    (
        400,
        "A maximum of 4 blocks with cache_control may be provided. Found 6.",
    ),
    (
        400,
        "stop: too many stop sequences, maximum is 4",
    ),
    (
        401,
        "Incorrect API key provided",
    ),
    (
        400,
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ),
    (
        500,
        "The server had an error while processing your request.",
    ),
]

UNHEARD = "Ihre Anfrage passt nicht in das Fenster dieses Modells."


@pytest.mark.parametrize(
    ("status", "text", "limit", "counted", "requested"),
    [r[1:] for r in REFUSALS],
    ids=[r[0] for r in REFUSALS],
)
def test_what_a_refusal_tells_is_read(
    status: int, text: str, limit: int | None, counted: int | None, requested: int | None
) -> None:
    told = read_refusal(status, text)
    assert told == LengthRefusal(limit, counted, requested)
    # As LiteLLM passes it on: its own words before the text, the provider's form around it.
    wrapped = f"litellm.BadRequestError: SomeException - {{'error': {{'message': {text!r}}}}}"
    assert read_refusal(status, wrapped) == told


@pytest.mark.parametrize(("status", "text"), OTHERS)
def test_what_is_no_refusal_for_length(status: int, text: str) -> None:
    assert read_refusal(status, text) is None


@pytest.mark.parametrize("text", [UNHEARD, "", "no", "\ud83d" * 3])
def test_a_text_of_none_of_these_counts_where_status_or_class_says_so(text: str) -> None:
    assert read_refusal(400, text) is None
    assert read_refusal(413, text) == LengthRefusal()
    assert read_refusal(400, text, context_exceeded=True) == LengthRefusal()
    assert read_refusal(None, text, context_exceeded=True) == LengthRefusal()


def test_bytes_characters_and_images_teach_no_window() -> None:
    text = "Request exceeds the maximum size: 33554432 bytes"
    assert read_refusal(413, text) == LengthRefusal(in_tokens=False)
    text = "string too long. Expected a string with maximum length 1048576, got 5000000"
    assert read_refusal(400, text, context_exceeded=True) == LengthRefusal(in_tokens=False)


def test_what_a_request_quotes_far_behind_is_not_read() -> None:
    text = "Invalid value at messages[3]: " + "x " * 2_000 + "maximum context length is 300 tokens"
    assert read_refusal(400, text) is None


def test_a_limit_that_is_none_is_not_taken() -> None:
    told = read_refusal(400, "maximum context length is 3 tokens; your prompt has 9 tokens")
    assert told is not None and told.limit is None
