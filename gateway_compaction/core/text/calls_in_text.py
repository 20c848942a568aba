"""Calls of tools that an assistant writes into its text, where a harness reads them, and what answers them.

What follows such a call is the tool's, whatever role its message has: a person answers a question, not a
call. A call is told by its form at the end of the message: tokens and tags of the templates that models are
trained on, an element that is no mark-up of a page, an object, an expression or lines that name a tool and
what it is called with. Code in a fence or one plain element may be a call as well as an answer; in a
conversation whose assistant calls tools so, the reply tells: a person's is short and has no structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import regex

from gateway_compaction.core.conversation.messages import Message, role_of, text_of, written_text_of

# Characters at the end of an assistant's message in which a call is looked for.
READ_END = 3_000
# Characters and lines that a person's reply may have at most.
SHORT_REPLY, SHORT_REPLY_LINES = 400, 3
# Elements that mark a text up for a page or head an answer: these call nothing.
PAGE_ELEMENTS = frozenset(
    "html head body title meta link script style div p span a b i u s em strong small big sub sup code"
    " pre kbd br hr img picture figure figcaption video audio source iframe ul ol li dl dt dd table"
    " thead tbody tfoot tr th td caption h1 h2 h3 h4 h5 h6 header footer main nav section article aside"
    " form input button label select option textarea details summary blockquote q cite mark time"
    " template svg path g rect circle line text defs canvas answer final response result output solution"
    " explanation conclusion email letter document artifact example note reply message translation xml"
    " root item entry think thinking thought reasoning reflection".split()
)

# A token or a tag of a template whose words are of calls: <tool_call>, <|python_tag|>, [TOOL_CALLS],
# <|tool_calls_section_begin|>, <|START_ACTION|>, <|recipient|>, <|call|>.
MARK = regex.compile(
    r"(?i)(?<!`)(?:<[/|｜]{0,2}(?:[\w▁]{1,20}[_ \-:▁])?(?:tools?|functions?|actions?|antml:?|python|plugin)"
    r"(?:[_ \-:▁](?:calls?|code|invoke|use|tag|begin|start|end|sep|section)){1,4}[|｜]?>"
    r"|<[/|]{0,2}(?:START|END)_ACTION\|>|<\|(?:call|recipient|plugin)\|>|<\|channel\|>commentary to="
    r"|\[/?(?:TOOL_CALLS?|ARGS)\]|✿(?:FUNCTION|ARGS)✿|<invoke name=|<function=)"
    r"|<end_(?:action|code|tool)>\Z"
)
ELEMENT_END = regex.compile(r"</([A-Za-z][\w:\-]*)>\Z")
ELEMENT_ALONE = regex.compile(r"<([A-Za-z][\w:.\-]*)((?:\s+[\w:\-]+=(?:\"[^\"<>]*\"|'[^'<>]*'))*)\s*/>\Z")
COMPOUND = regex.compile(r"\w[_\-]\w")
TOOL_ELEMENTS = frozenset("tool function action execute invoke".split())
FENCED = regex.compile(
    r"(?m)^[ \t]*(?:```|~~~)[ \t]*([\w+\-.]*)[^\n]*\n(?:(?!^[ \t]*(?:```|~~~)).*\n)*[ \t]*(?:```|~~~)\Z"
)
FENCE_OF_CALL = regex.compile(r"(?i)tool|function|call|action|invoke|execute")
ACTION = regex.compile(
    r"(?mi)^[ \t*#]*action[ \t*]*:[^\n]*(?:\n[ \t]*)*(?:[ \t*#]*action[ _]?input[ \t*]*:|```|\{)"
)
# "Action: search[x]", and "Tool: f" with "Args: ..." behind it, in YAML too.
NAMED = regex.compile(
    r"(?mi)^[ \t*#-]*(?:action|tool|function)(?:[ _]?(?:name|call))?(?:[ _]?\d+)?[ \t*]*:[ \t*`]*[a-z_]"
    r"[\w.\-]*(?:[`*]*[ \t]*\n[ \t*#]*(?:(?:action|tool|function)[ _]?)?"
    r"(?:input|arg(?:ument)?s|param(?:eter)?s)(?:[ _]?\d+)?[ \t*]*:|(?:\[[^\n]*\]|\([^\n]*\))[ \t`*]*\Z)"
)
ACTION_FIELDS = regex.compile(
    r"(?mi)^[ \t*#]*action[ \t*]*:[ \t*`]*[a-z_][\w.\-]*[`*]*[ \t]*(?:\n[ \t]*[a-z_]\w*:[^\n]*)+\Z"
)
BARE_ACTION = regex.compile(r"(?mi)^[ \t*#]*action(?:[ _]?\d+)?[ \t*]*:[ \t*`]*[a-z]\w*[_.]\w+[`*]*\Z")
CALL_NAME = regex.compile(
    r"\"(?:tool|tool_name|toolName|function|function_name|functionName|action|command|recipient_name)\""
    r"\s*:\s*(?:\"[\w.:\-]+\"|\{)"
    r"|\"name\"\s*:\s*\"[\w.:\-]+\"\s*,\s*\"(?:arguments|args|parameters|params|input|tool_input|kwargs)\""
)
CALL_INPUT = regex.compile(
    r"\"(?:args|arguments|parameters|params|input|tool_input|toolInput|action_input|kwargs)\"\s*:"
)
# Beside any other field it names a call.
TOOL_NAME = regex.compile(r"\"(?:tool|tool_name|toolName)\"\s*:\s*\"[\w.:\-]+\"\s*,")
# "[get_weather(city='Lund'), get_time()]", and one such expression behind a word for a call.
EXPRESSION = r"[a-z_][\w.]*+\((?:[^()\n]|\([^()\n]*+\))*+\)"
EXPRESSIONS = regex.compile(rf"(?m)^[ \t]*+\[{EXPRESSION}(?:,[ \t]*+{EXPRESSION})*+\]\Z")
LABELLED = regex.compile(
    r"(?mi)^\W{0,4}(?:(?:tool|function|action)[_ \-]?)?(?:calls?|invoke|use|run|execute)\W{0,4}[:\s]\W{0,3}"
    r"[a-z_][\w.\-]*[ \t`]*[({][^\n]*[)}][`\]]?\Z"
    r"|^>>>[ \t]*[a-z_][\w.]*[ \t]*\n[ \t]*\{"
)
# "search(x)", "Search[x]", "[[search: x]]", "{{search(x)}}", "!search x" on a line of its own.
LIKELY_LINE = regex.compile(
    r"[ \t]*(?:@?[A-Za-z_][\w.]*+(?:\([^\n]*\)|\[[^\n]*\])|\[\[[^\n]*\]\]|\{\{[^\n]*\}\}"
    r"|[!/][a-z_]{2,}+\s[^\n]*)\Z"
)
# What a reply of more than one thought looks like: mark-up, code, a table, a listing.
STRUCTURE = regex.compile(r"(?m)^[ \t]*(?:[<{\[|#>$]|\d+[\t:|→]|[-+]{3})|[;{}]\s*$|\t|</|^\S{0,200}[/\\]\S*$")


def calls_tool(text: str) -> bool:
    """Tell whether a message ends by calling a tool in its text, so that no person answers it."""
    end = text[-READ_END:].rstrip()
    last = end[-1:]
    if ("<" in end or "[" in end or "✿" in end) and MARK.search(end):
        return True
    if ":" in end and any(pattern.search(end) for pattern in (ACTION, NAMED, ACTION_FIELDS, BARE_ACTION)):
        return True
    if last == ">":
        return _ends_with_element(text, end)
    if last == "`":
        fence = FENCED.search(end)
        if fence is None:
            return False
        inner = fence[0].rpartition("\n")[0].rstrip()
        is_call = FENCE_OF_CALL.search(fence[1]) is not None or _is_call_object(inner)
        return is_call or (inner.endswith(">") and _ends_with_element(text, inner))
    if last in ("}", "]", ")"):
        return _is_call_object(end) or EXPRESSIONS.search(end) is not None or LABELLED.search(end) is not None
    return False


def may_call_tool(text: str) -> bool:
    """Tell whether a message ends with what may be a call.

    That is code in a fence, an element of one word, an object that names a tool, or an expression on a line.
    """
    end = text[-READ_END:].rstrip()
    if end.endswith(("```", "~~~")) or LIKELY_LINE.match(end, end.rfind("\n") + 1):
        return True
    if end.endswith("}"):
        return CALL_NAME.search(end) is not None
    element = ELEMENT_END.search(end) if end.endswith(">") else None
    return element is not None and element[1].lower() not in PAGE_ELEMENTS and _is_opened(text, element[1])


def find_answers(messages: Sequence[Message]) -> frozenset[int]:
    """Return the indexes of the users' messages that answer a call in the text of the one before.

    A harness wrote them, no user. What only may be a call is one where the assistant called a tool before,
    and where what follows does not look like a person's reply.
    """
    answers: set[int] = set()
    has_called = False
    for number, (before, message) in enumerate(pairwise(messages), 1):
        if role_of(message) != "user" or role_of(before) != "assistant":
            continue
        said = written_text_of(before)
        if calls_tool(said):
            has_called = True
            answers.add(number)
        elif has_called and may_call_tool(said) and not looks_personal(text_of(message)):
            answers.add(number)
    return frozenset(answers)


def looks_personal(text: str) -> bool:
    """Tell whether a text looks like a person's reply: short, and without the structure of an output."""
    text = text.strip()
    if len(text) > SHORT_REPLY or text.count("\n") >= SHORT_REPLY_LINES:
        return False
    return STRUCTURE.search(text) is None


def _ends_with_element(text: str, end: str) -> bool:
    """Tell whether a text ends with an element that is named as tools are, and no mark-up is."""
    element = ELEMENT_END.search(end)
    if element is not None:
        is_tool = COMPOUND.search(element[1]) is not None or element[1].lower() in TOOL_ELEMENTS
        return is_tool and _is_opened(text, element[1])
    alone = ELEMENT_ALONE.search(end)
    if alone is None or alone[1].lower() in PAGE_ELEMENTS:
        return False
    return bool(alone[2]) or COMPOUND.search(alone[1]) is not None


def _is_opened(text: str, name: str) -> bool:
    return f"<{name}>" in text or f"<{name} " in text


def _is_call_object(text: str) -> bool:
    return CALL_NAME.search(text) is not None and (
        CALL_INPUT.search(text) is not None or TOOL_NAME.search(text) is not None
    )
