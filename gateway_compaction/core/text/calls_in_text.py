"""Calls of tools that an assistant writes into its text, where a harness reads them, and what answers them.

What follows such a call is the tool's, whatever role its message has: a person answers a question, not a
call. Certain are only the tokens and tags of the templates that models are trained on, and ReAct's "Action
Input:". An element that is no mark-up of a page, an object, an expression or lines that name a tool are as
often the end of an answer about code: they are calls where the replies to the same form were results. Code in
a fence or one plain element is one only where tools were called before, and the reply is no person's: that is
short and has no structure. Otherwise an ordinary answer would cost users the rules that they lay down next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import regex

from gateway_compaction.core.conversation.messages import Message, role_of, text_of, written_text_of
from gateway_compaction.core.text.fences import find_fences
from gateway_compaction.core.text.own_labels import begins_as_own_reply
from gateway_compaction.core.text.provenance import find_brought_in

# Characters at the end of an assistant's message in which a call is looked for.
READ_END = 3_000
# Characters and lines that a person's reply may have at most.
SHORT_REPLY, SHORT_REPLY_LINES = 400, 3
# Replies that look like results and follow one form of a call, before that form is one of a harness.
LEAST_RESULTS = 2
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
# <|tool_calls_section_begin|>, <|START_ACTION|>, <|recipient|>, <|call|>. What is called stands behind it;
# otherwise a sentence only names it.
TEMPLATE_MARK = (
    r"(?:<[/|｜]{0,2}(?:[\w▁]{1,20}[_ \-:▁])?(?:tools?|functions?|actions?|antml:?|python|plugin)"
    r"(?:[_ \-:▁](?:calls?|code|invoke|use|tag|begin|start|end|sep|section)){1,4}[|｜]?>"
    r"|<[/|]{0,2}(?:START|END)_ACTION\|>|<\|(?:call|recipient|plugin)\|>|<\|channel\|>commentary to="
    r"|\[/?(?:TOOL_CALLS?|ARGS)\]|✿(?:FUNCTION|ARGS)✿:|<invoke name=|<function=)"
)
MARK = regex.compile(
    rf"(?mi)^[ \t]*+{TEMPLATE_MARK}(?=[\w\"']|\s*+[\[{{<]|(?<=:)[ \t]*\w)"
    rf"|(?<![`\"'\w])(?<!\w[ \t]){TEMPLATE_MARK}(?=\s*+[\[{{])"
)
END_MARK = regex.compile(r"<end_(?:action|code|tool)>\Z")
ELEMENT_END = regex.compile(r"</([A-Za-z][\w:\-]*)>\Z")
ELEMENT_ALONE = regex.compile(r"<([A-Za-z][\w:.\-]*)((?:\s+[\w:\-]+=(?:\"[^\"<>]*\"|'[^'<>]*'))*)\s*/>\Z")
COMPOUND = regex.compile(r"\w[_\-]\w")
TOOL_ELEMENTS = frozenset("tool function action execute invoke".split())
FENCED = regex.compile(
    r"(?m)^[ \t]*(?:```|~~~)[ \t]*([\w+\-.]*)[^\n]*\n(?:(?!^[ \t]*(?:```|~~~)).*\n)*[ \t]*(?:```|~~~)\Z"
)
FENCE_OF_CALL = regex.compile(r"(?i)(?:tool|function|action)[_\-](?:code|calls?|use)")
# Words in the name of a tool by which an assistant asks its user: ask_followup_question.
ASKING = regex.compile(r"(?i)(?:^|[_\-:])(?:ask|question|followup|feedback|completion)(?:$|[_\-:])")
ACTION_INPUT = regex.compile(r"(?m)^[ \t]*Action[ \t]*:[^\n]*(?:\n[ \t]*)*\n[ \t]*Action[ _]Input[ \t]*:")
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
    """Tell whether a message calls a tool in a form that is nothing else, so that no person answers it."""
    end = text[-READ_END:].rstrip()
    fence = FENCED.search(end) if end.endswith("`") else None
    if END_MARK.search(end) or (fence is not None and FENCE_OF_CALL.fullmatch(fence[1])):
        return True
    hinted = "<" in end or "[" in end or "✿" in end
    hits = [m.start() for m in MARK.finditer(end)] if hinted else []
    hits += [m.start() for m in ACTION_INPUT.finditer(end)] if "Action" in end else []
    if not hits:
        return False
    # An example in a fence calls nothing.
    offset = text.rfind(end)
    fences = find_fences(text) if "```" in text or "~~~" in text else []
    return any(not any(a < hit + offset < b for a, b in fences) for hit in hits)


def find_call_form(text: str) -> str:
    """Return the form of what ends a message and is a call if a harness reads it; "" where nothing is."""
    end = text[-READ_END:].rstrip()
    last = end[-1:]
    if ":" in end and any(pattern.search(end) for pattern in (ACTION, NAMED, ACTION_FIELDS, BARE_ACTION)):
        return "lines"
    if last == ">":
        return "element" if _ends_with_element(text, end) else ""
    if last in ("}", "]", ")"):
        if _is_call_object(end):
            return "object"
        return "expression" if EXPRESSIONS.search(end) or LABELLED.search(end) else ""
    return ""


def may_call_tool(text: str) -> bool:
    """Tell whether a message ends with what may be a call, where tools are called in text.

    That is code in a fence, an element of one word, an object that names a tool, or an expression on a line.
    """
    end = text[-READ_END:].rstrip()
    if end.endswith(("```", "~~~")) or LIKELY_LINE.match(end, end.rfind("\n") + 1):
        return True
    if end.endswith("}"):
        return CALL_NAME.search(end) is not None
    element = ELEMENT_END.search(end) if end.endswith(">") else None
    if element is None or element[1].lower() in PAGE_ELEMENTS or ASKING.search(element[1]):
        return False
    return _is_opened(text, element[1])


def find_answers(messages: Sequence[Message]) -> frozenset[int]:
    """Return the indexes of the users' messages that answer a call in the text of the one before.

    A harness wrote them, no user. What is not certain to be a call is one where a harness showed itself: the
    replies to the same form were results, at least twice and twice as often as a person's. Where tools were
    called before, any form may be a call that a reply follows which does not look like a person's.
    """
    replies = [
        (number, written_text_of(before), text_of(message))
        for number, (before, message) in enumerate(pairwise(messages), 1)
        if role_of(message) == "user" and role_of(before) == "assistant"
    ]
    certain = {number for number, said, _ in replies if calls_tool(said)}
    forms = {number: find_call_form(said) for number, said, _ in replies if number not in certain}
    results: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for number, _, reply in replies:
        form = forms.get(number, "")
        if form and not begins_as_own_reply(reply):
            (results if looks_like_result(reply) else others)[form] += 1
    harness = {form for form, n in results.items() if n >= LEAST_RESULTS and n >= 2 * others[form]}
    answers: set[int] = set()
    for number, said, reply in replies:
        if number not in certain and begins_as_own_reply(reply):
            continue
        form = forms.get(number, "")
        is_likely = bool(answers) and (form != "" or may_call_tool(said)) and not looks_personal(reply)
        if number in certain or form in harness or is_likely:
            answers.add(number)
    return frozenset(answers)


def looks_like_result(text: str) -> bool:
    """Tell whether a reply looks like a tool's: it begins as an output, and a person's does not look so."""
    text = text.strip()
    brought_in = find_brought_in(text)
    if brought_in and brought_in[0][0] == 0:
        return True
    first = text.partition("\n")[0].rstrip()
    is_sentence = len(first.split()) > 1 and first.endswith((".", "!", "?", ":", ",", ";"))
    return not is_sentence and not looks_personal(text)


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
        return is_tool and not ASKING.search(element[1]) and _is_opened(text, element[1])
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
