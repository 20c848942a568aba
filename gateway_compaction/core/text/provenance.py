"""The provenance of text in a user's message: what a program, a file, an agent or a mail brought in.

Harnesses without native tool calls write the results of tools into messages of the role ``user``, and people
forward mails and paste conversations. An order in such a text is not the user's: pinned as a rule it would be
an injection that stays for good. It is told by its form, not by the names of harnesses: by a line that labels
its source, or by the wrapper around it; what answers a call in text is told in ``calls_in_text``.

Words of labels are mostly those that programs write, which are not translated; the lexicon has the commonest
of other languages. A prompt of a retrieval names its material and its question. Where form does not tell, the
text is taken for the user's; where a source is labelled, everything behind the label is its, up to the end of
the message, since whoever wrote the source can write any mark that would end it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import regex

from gateway_compaction.core.conversation.messages import Message, is_restored, role_of, told_texts_of
from gateway_compaction.core.text.fences import Span
from gateway_compaction.core.text.lexicon import pattern_of

# In characters: longer lines label nothing, and of a line no more is looked at.
LONGEST_LABEL = 160
# In words: the longest name of a speaker, with what he does.
MOST_SPEAKER_WORDS = 5
# A line with more words than this labels nothing; names and paths in it are not counted.
MOST_WORDS = 14
# Lines that make the head of a mail: with an address among them, or with none but an empty line behind.
HEAD_LINES, HEAD_LINES_APART = 2, 3
# Lines with a speaker's name that make a conversation.
TALK_LINES = 4
# Elements in front of the one that holds what was brought in.
MOST_IN_FRONT = 4
# Lines from one that names its speaker to the next, in a conversation.
LINES_BETWEEN = 4

# Words by which a label calls the text behind it: "tool output".
RESULTS = frozenset(
    "result results output outputs observation observations response responses return returned returns"
    " stdout stderr log logs traceback content contents report reports findings answer answered answers"
    " reply replied replies said says printed produced snapshot excerpt dump listing".split()
)
# The same for a text with an author: "message from", "comment by". Alone they label nothing.
WRITTEN = frozenset("message mail email letter comment notification issue ticket post review".split())
# Words for a text that was written for no one conversation, as tags and labels name it: <document>.
MATERIAL = frozenset(
    "file files document documents notification context data page pages webpage info text passage passages"
    " source sources attachment attachments chunk chunks".split()
)
# Words for where the text comes from.
SOURCES = frozenset(
    "tool tools function functions command commands cmd code shell terminal bash execution exec action"
    " actions api browser agent agents subagent subagents worker plugin mcp server script snippet console"
    " program web search retrieval query database task subtask step call calls invocation website".split()
)
# Words for how it came.
CAME = frozenset(
    "got returned printed produced ran executed retrieved attached fetched uploaded scraped extracted"
    " forwarded loaded read quoted cited copied pasted".split()
)
# What a template of messages calls the part of a tool, in its tokens: <|im_start|>tool, <|observation|>.
TEMPLATE_WORDS = frozenset(
    "tool tools function functions observation ipython environment output outputs result results"
    " response".split()
)
# Pieces of material that are numbered: "Chunk 1:".
PIECES = frozenset("chunk document source passage context result snippet excerpt".split())
# What somebody does whose words follow, and those of whom a user tells in his own words.
SAYS = frozenset("said says replied answered responded reported wrote writes".split())
SELF = frozenset("i we you he she they it as like my our me us your who already just always never".split())
# Words that label a source without saying which: nothing else is called so.
ALONE = frozenset("observation observations stdout stderr".split())
# Those that do so where nothing else stands on their line.
ALONE_ON_LINE = ALONE | frozenset("result results findings report".split())
# Words that may follow the one for the text: "output of ls", "results below".
BESIDE = frozenset(
    "of from for to in by after with via is was were are below follows as at on the this following id".split()
)
# Words behind which its source is named, and words that name none there: "results from now on".
FROM = frozenset("from of by".split())
NO_SOURCE = frozenset("now here today then me us my our this that it".split())
# Words that a label may begin with, besides those above.
FIRST = frozenset(
    "the a an this these here heres that last latest previous next and i raw full your sub".split()
)
# A label that names the user labels what the user said.
OWN = frozenset(
    "user users human humans feedback ask asks asked question questions followup followups".split()
)

# Every label holds one of these; most lines hold none, and are not looked at further.
HINT = regex.compile(f"(?i){'|'.join(sorted(RESULTS | WRITTEN | MATERIAL | SAYS))}")
WORD = regex.compile(r"[\p{L}]+|\d+")
CAMEL = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")
# Names, paths and quotations in a label. What they say does not count, only that something is named.
NAMED = regex.compile(
    r"`[^`\n]++`|'[^'\n]++'|\"[^\"\n]++\"|\([^()\n]*+\)|(?<!\w)\[[^\[\]\n]++\]|[^\s/\\]*+[/\\]\S++"
    r"|\w+=\S++|[^\W_]++(?:[_.][^\W_]++)++"
)
# Marks of headings, lists and quotations before a label's first word.
DECORATED = regex.compile(r"^(?:[#>*_=\-\s]|\[\[)*+")
# A line without a colon labels nothing unless it begins with one of these.
MARKS = ("[", "#", "*", "_", "=", "-", "$")
HEADING = regex.compile(r"\s{0,3}(?:#{1,6}\s|\*\*|__|[=\-]{3,}|\[)")
BRACKETED = regex.compile(r"\s{0,8}\[{1,2}(?!\s?[xX ]?\])([^\[\]\n]{2,150})\]{1,2}(?!\()[ \t]*([^\n]{0,60})")
PATH = regex.compile(r"[`'\"*]*(?:\S*/\S+|[\w.-]+\.[A-Za-z]\w{0,7})[`'\"*]*")
PATH_HEADING = regex.compile(
    rf"[ \t]*(?:#{{1,6}} |-{{3,}} ?|={{3,}} ?|\*\*)[ \t]*(?:file:? )?{PATH.pattern}"
    r"[ \t]*(?:-{3,}|={3,}|\*\*)?[ \t]*$"
)
PROMPT = regex.compile(r"[ \t]*(?:[\w.\-]+@[\w.\-]+[:~][^\s$]{0,60})?\$ [a-z./]")
COLON = regex.compile(r":(?=\s|$)")
PATH_LABEL = regex.compile(
    r"(?i)[#*>\s]*+(?:(?:contents? of |in )?(?:file(?:name)?|path|source|document|url|uri|attachment)[*]*:"
    r"[ \t*]*\S+[ \t]*$|(?:contents? of )?(?:the file )?" + PATH.pattern + r"[ \t]*:[ \t]*$)"
)
# A line that parts a forwarded mail from what is said about it, in whatever language.
PARTED = regex.compile(r"[ \t]*-{5,}[ \t]*\p{L}[^\n]{2,60}?-{3,}[ \t]*$")
RULES_HEAD = regex.compile(f"(?i){pattern_of('rule_headings')}")
ADDRESS = regex.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.\w")
MAIL_HEAD = regex.compile(rf"[ \t>*]*(?:{pattern_of('mail_headers')})[ \t*]*:[ \t*]+\S")
# A header of a mail in any language: a name, and an address in brackets.
ADDRESSED = regex.compile(rf"[ \t>*]*\p{{L}}[\p{{L}} \-]{{0,15}}[*]* ?:[^\n]*<{ADDRESS.pattern}")
# A line that may be a further header: a name and a value.
FIELD = regex.compile(r"[ \t>*]*\p{L}[\p{L} \-]{0,15}[*]* ?: \S")
# The line above a quoted mail in any language: "On Monday Ann Berg <ann@example.com> wrote:".
WROTE = regex.compile(rf"[ \t]*\p{{L}}[^\n]{{5,150}}?{ADDRESS.pattern}[^\n]{{0,40}}:[ \t]*$")
# "[10:02] Anna: ...", "Anna (10:02): ...", "03/05/2026, 10:02 - Anna: ...".
SPOKEN = regex.compile(
    r"[ \t]*(?:[\[(]?[\d/.:, \-]{4,22}(?:[AaPp][Mm])?[\])]?[ \t\-–]*+)?"
    r"(\p{Lu}[\p{L}.'’\-]{0,20}(?: \p{Lu}[\p{L}.'’\-]{0,20}){0,2})(?: ?[\[(][^\])\n]{1,20}[\])])?[:：]\s+\S"
)
# "Anna Berg  10:02 AM" on a line of its own.
SPEAKS = regex.compile(
    r"[ \t]*(\p{Lu}[\p{L}.'’\-]{0,20}(?: \p{Lu}[\p{L}.'’\-]{0,20}){0,2})[ \t,\[(]+"
    r"(?:\p{L}+ (?:at )?)?\d{1,2}[:.]\d\d(?: ?[AaPp]\.?[Mm]\.?)?[\])]?:?[ \t]*$"
)
# The label of a tool's part in a transcript: "tool: read_file", "Tool (read_file): ...".
ROLE = regex.compile(
    r"(?i)[#*>\s]*+(?:(?:tool|ipython)(?: ?[(\[][^()\[\]\n]*+[)\]])?\**:(?:\s|$)|function: ?[\w.]++[ \t]*$)"
)
# A token of a chat template, and the word behind it.
TOKEN = r"(?:<[|｜][^<>|｜\n]{1,40}+[|｜]>|<\w{1,20}_of_\w{1,20}>|\[[A-Z]+(?:_[A-Z]+)+\])[\w.]{0,40}+"
TOKENS = regex.compile(rf"[ \t]*+((?:{TOKEN})++)")
TOKENS_AT_END = regex.compile(
    rf"(?<![`\w ])((?:{TOKEN})++)[ \t]*$|(?<=\w)((?:<\|[^<>|\n]{{1,40}}+\|>)++)[ \t]*$"
)
TOKEN_WORD = regex.compile(r"\p{L}+")
# The object of a program as it prints it: ToolMessage(content='...'), CompletedProcess(args=...).
PRINTED = regex.compile(r"[ \t]*\[?[A-Z]\w*\(\w+=")
LOCAL_LABEL = regex.compile(rf"(?i)[#*>\[\s]*+(?:{pattern_of('source_labels')})[^:：\n]{{0,60}}[:：]")
# A prompt of a retrieval: what is to be answered, and the line that names the material it is answered from.
ASKS_OF_MATERIAL = regex.compile(
    r"(?mi)\banswer(?:ing|s)? (?:[\w'’]++ ){0,4}?(?:questions?|query)\b|question-answering"
    r"|^[ \t#*]*+(?:question|query|q|user(?:'s)? (?:question|query|input))[ \t*]*+(?::|$)"
)
KINDS_OF_MATERIAL = (
    r"(?:context|information|documents?|passages?|sources?|excerpts?|search results|results|pieces|chunks?"
    r"|snippets?|articles?|references|paragraphs?)"
)
NAMES_MATERIAL = regex.compile(
    rf"(?i)(?:following|below|these|provided|retrieved|given|(?P<above>above))\b"
    rf"(?:[^.:\n]{{0,40}}?\s|\s){KINDS_OF_MATERIAL}\b"
    rf"|\b(?:{KINDS_OF_MATERIAL}|text)\b[^.:\n]{{0,30}}?\s(?:below|following|(?P<before>above))\b"
    rf"|[ \t#*\[]*+{KINDS_OF_MATERIAL}(?: ?\d+)?[ \t*\]]*+(?P<label>:|$)"
)
# What the user tells himself is none: "my documents", "the information I gave".
OF_USER = regex.compile(
    rf"(?i)\b(?:my|our) (?:\w+ )?{KINDS_OF_MATERIAL}\b"
    rf"|\b{KINDS_OF_MATERIAL}\b[^.\n]{{0,20}}\b(?:i|we|me|us)\b"
)
ELEMENT = regex.compile(r"<([A-Za-z][\w:-]{1,40})(?:\s[^<>\n]{0,200})?>")
OPEN_TAG = regex.compile(r"[ \t]*<([A-Za-z][\w:-]{1,40})(?:\s[^<>\n]{0,200})?>[ \t]*$")
# What a user says to a tool that asks him, as harnesses wrap it: "[attempt_completion] Result:", <feedback>.
OWN_LABEL = regex.compile(r"\s*+\[(?:attempt_completion|ask_followup_question)\b[^\n]*\] Result:")
OWN_REPLY = regex.compile(r"\s*+<(?:feedback|answer|user_message)>")
OPENING = ("{", "[")
JSON_START = regex.compile(r"[ \t]*(?:\{\s*(?:\"|$)|\[\s*(?:[{\"\[]|$))")


def find_brought_in(text: str) -> list[Span]:
    """Return where text stands that somebody else wrote, in order and apart from one another.

    The time is linear in the length of the text.
    """
    lines = _split_lines(text)
    shown = [text[a : min(b, a + LONGEST_LABEL)] for a, b in lines]
    first = next((i for i in range(len(lines)) if _is_source(shown, i)), len(lines))
    first = min(first, _find_left_open(text, shown, lines))
    first, material = _find_material(text, shown, lines, first)
    limit = lines[first][0] if first < len(lines) else len(text)
    spans = [*material, *_find_objects(text, lines, first), *_find_conversation(shown, lines, first)]
    spans += _find_wrapper(text)
    if "(" in text:
        spans += [lines[i] for i in range(first) if "(" in shown[i] and PRINTED.match(shown[i])]
    return merge_spans([*spans, (limit, len(text))] if limit < len(text) else spans)


def find_own_label(text: str) -> list[Span]:
    """Return the label that a message begins with if it holds the user's reply to a tool that asks him."""
    label = OWN_LABEL.match(text)
    return [] if label is None else [label.span()]


def begins_as_own_reply(text: str) -> bool:
    """Tell whether a message begins with what a harness puts around the user's own words."""
    return OWN_LABEL.match(text) is not None or OWN_REPLY.match(text) is not None


def source_role(message: Message) -> str:
    """Return whose words a message holds: its role, but ``tool`` for a user's that is all brought in."""
    role = role_of(message)
    if role != "user":
        return role
    if is_restored(message):
        return "tool"
    told = told_texts_of(message)
    if told and all(one.is_brought_in for one in told):
        return "tool"
    text = "\n".join(one.text for one in told)
    start = len(text) - len(text.lstrip())
    first = next(iter(find_brought_in(text)), None)
    is_labelled = first is not None and first[0] <= start and not text[first[1] :].strip()
    return "tool" if is_labelled or _is_source_element(text, start) else role


def _find_wrapper(text: str) -> list[Span]:
    """Return the element that a message begins with, if its name says that its content was brought in.

    It ends with its last closing tag: whoever wrote the content can write such a tag as well, and go on
    behind it. Small elements may stand in front of it: ``<returncode>0</returncode>``.
    """
    start = len(text) - len(text.lstrip())
    for _ in range(MOST_IN_FRONT):
        tag = ELEMENT.match(text, start)
        if tag is None:
            break
        closing = f"</{tag[1]}>"
        if names_source(tag[1]):
            end = text.rfind(closing, tag.end())
            return [(start, end + len(closing))] if end >= 0 else []
        end = text.find(closing, tag.end())
        if end < 0:
            break
        start = end + len(closing)
        start += len(text[start:]) - len(text[start:].lstrip())
    return []


def _is_source_element(text: str, start: int) -> bool:
    """Tell whether a text is one element that holds what was brought in, as its name says."""
    tag = ELEMENT.match(text, start)
    return tag is not None and names_source(tag[1]) and text.rstrip().endswith(f"</{tag[1]}>")


def names_source(tag: str) -> bool:
    """Tell whether an element holds what was brought in, by its name: ``task_result``, ``query-results``."""
    words = frozenset(_find_words(tag.replace("-", " "), names=True))
    return bool(words & MATERIAL) or bool(words & RESULTS and not words & OWN)


def _split_lines(text: str) -> list[Span]:
    """Return where each line starts and ends, without its line feed."""
    spans, start = [], 0
    for line in text.split("\n"):
        spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _is_source(lines: Sequence[str], i: int) -> bool:
    """Tell whether a line labels the text behind it as somebody else's."""
    line = lines[i]
    first = line.lstrip()[:1]
    if first == "[" or "<" in line:
        token = TOKENS.match(line) or TOKENS_AT_END.search(line)
        if token is not None:
            return not TEMPLATE_WORDS.isdisjoint(TOKEN_WORD.findall(token[0].lower().replace("_", " ")))
    if ":" not in line and "：" not in line and first not in MARKS:
        return False
    return (
        _is_label(line)
        or ROLE.match(line) is not None
        or LOCAL_LABEL.match(line) is not None
        or PATH_LABEL.match(line) is not None
        or PATH_HEADING.match(line) is not None
        or ("$" in line and PROMPT.match(line) is not None)
        or (first == "-" and PARTED.match(line) is not None and not RULES_HEAD.search(line))
        or ("@" in line and WROTE.match(line) is not None)
        or _is_mail_head(lines, i)
    )


def _is_label(line: str) -> bool:
    """Tell whether a line is a label: "Tool result:", "[read_file for 'x'] Result:", "## Output of ls"."""
    bracketed = BRACKETED.match(line)
    if bracketed is not None:
        inside, label = bracketed[1], COLON.split(bracketed[2], 1)
        names = _find_words(inside, names=True)
        # The path that a tool was called with may hold any word: "[read_file for 'users.md']".
        if OWN_LABEL.match(line) or OWN.intersection(_find_words(inside.partition(" for ")[0], names=True)):
            return False
        if len({name for name in names if name.isdigit()}) == 1 and MATERIAL.issuperset(names[:-1]):
            # "[Document 1]"
            return True
        says = len(label) > 1 and not RESULTS.isdisjoint(_find_words(label[0]))
        return says or _are_label_words(names, is_named=NAMED.search(inside) is not None)
    parts = COLON.split(line, 2)
    if len(parts) == 1:
        return HEADING.match(line) is not None and _is_label_text(line, is_alone=True)
    # "System: Command read_file returned: ..."
    labels = parts[:-1]
    return any(_is_label_text(label, is_alone=not parts[-1].strip()) for label in labels)


def _is_label_text(label: str, *, is_alone: bool) -> bool:
    """Tell whether a text labels a source; ``is_alone``: nothing but the label stands on its line."""
    if HINT.search(label) is None:
        return False
    words = _find_words(label) or _find_words(label, names=True)
    if not words or len(words) > MOST_WORDS:
        return False
    named = {word for word in words if not word.isdigit()}
    if len(named) == 1 and named <= (ALONE_ON_LINE if is_alone else ALONE):
        return True
    if words[-1] in SAYS and 1 < len(words) <= MOST_SPEAKER_WORDS and SELF.isdisjoint(words):
        return True
    if is_alone and len(words) > len(named) > 0 and named <= PIECES:
        # "Chunk 1:"
        return True
    if is_alone and "context" in words and words[0] in FIRST and SELF.isdisjoint(words[:3]):
        # "This is the context you're working with:"
        return True
    return _are_label_words(words, is_named=NAMED.search(label) is not None)


def _are_label_words(words: Sequence[str], *, is_named: bool) -> bool:
    """Tell whether the words of a label say both what stands behind it and where that comes from."""
    if not words or not OWN.isdisjoint(words):
        return False
    first = words[0]
    if not any(first in known for known in (FIRST, SOURCES, CAME, RESULTS, WRITTEN, MATERIAL)):
        return False
    if not CAME.isdisjoint(words) and not MATERIAL.isdisjoint(words):
        return True
    for place in range(len(words) - 1, -1, -1):
        if words[place] in RESULTS or words[place] in WRITTEN:
            break
    else:
        return False
    behind = [word for word in words[place + 1 :] if not word.isdigit()]
    if behind and behind[0] not in BESIDE:
        return words[place] in WRITTEN and not FROM.isdisjoint(behind)
    if len(behind) > 1 and behind[0] in FROM:
        return behind[1] not in NO_SOURCE
    if words[place] in WRITTEN and not behind:
        return False
    others = {word for n, word in enumerate(words) if n != place}
    return is_named or not others.isdisjoint(SOURCES | CAME | MATERIAL)


def _find_words(label: str, *, names: bool = False) -> list[str]:
    """Return the words of a label in lower case, without what it names unless that is asked for."""
    bare = label.replace("_", " ") if names else NAMED.sub(" ", label)
    words = WORD.findall(CAMEL.sub(" ", DECORATED.sub("", bare)).replace("'", ""))
    found = [word.lower() for word in words[: MOST_WORDS + 1]]
    while found and found[0].isdigit():
        found.pop(0)
    return found


def _find_material(
    text: str, shown: Sequence[str], lines: Sequence[Span], first: int
) -> tuple[int, list[Span]]:
    """Find the material of a retrieval's prompt: a line names it, and a question is to be answered from it.

    Returns:
        The first line from which on all is brought in, ``first`` if that is earlier; and what stands before
        the line where that says that the material is above it.
    """
    # Most texts hold none of these, and need no closer look.
    if not any(word in text for word in ("nswer", "uestion:", "uestion\n", "UESTION", "uery:", "Q:")):
        return first, []
    if ASKS_OF_MATERIAL.search(text) is None:
        return first, []
    for i in range(first):
        named = NAMES_MATERIAL.search(shown[i])
        if named is None or OF_USER.search(shown[i]):
            continue
        if named["above"] or named["before"]:
            return first, [(0, lines[i][0])]
        return (i if named["label"] == ":" else min(i + 1, first)), []
    return first, []


def _is_mail_head(lines: Sequence[str], i: int) -> bool:
    """Tell whether the head of a mail begins on a line: headers with an address, or three and a gap."""
    if ADDRESSED.match(lines[i]) and i + 1 < len(lines) and FIELD.match(lines[i + 1]):
        return True
    if MAIL_HEAD.match(lines[i]) is None or (i and MAIL_HEAD.match(lines[i - 1])):
        return False
    end = i
    while end < len(lines) and MAIL_HEAD.match(lines[end]):
        end += 1
    if end - i >= HEAD_LINES and any(ADDRESS.search(line) for line in lines[i:end]):
        return True
    return end - i >= HEAD_LINES_APART and end < len(lines) and not lines[end].strip()


def _find_left_open(text: str, shown: Sequence[str], lines: Sequence[Span]) -> int:
    """Return the line of a program's tag whose element does not end, or the number of lines without one.

    In a text that was cut the end of such an element is missing, and all behind its tag belongs to it. Only
    the first such tag is looked at: where its element ends, the text was not cut in it.
    """
    for i in range(len(lines)):
        tag = OPEN_TAG.match(shown[i]) if "<" in shown[i] else None
        if tag is None or OWN.intersection(_find_words(tag[1])):
            continue
        is_of_program = "_" in tag[1] or "-" in tag[1] or "=" in tag[0] or names_source(tag[1])
        if is_of_program:
            return i if text.find(f"</{tag[1]}", lines[i][1]) < 0 else len(lines)
    return len(lines)


def _find_objects(text: str, lines: Sequence[Span], limit: int) -> list[Span]:
    """Return objects and lists in JSON that begin and end a line."""
    spans: list[Span] = []
    i = 0
    while i < limit:
        a, b = lines[i]
        if text[a:b].lstrip()[:1] in OPENING and JSON_START.match(text, a, min(b, a + LONGEST_LABEL)):
            end = _find_object_end(text, lines, i)
            if end is None:
                # What does not end would be looked through again from each line.
                break
            spans.append((a, lines[end][1]))
            i = end
        i += 1
    return spans


def _find_object_end(text: str, lines: Sequence[Span], i: int) -> int | None:
    """Return the line on which the brackets that open on a line are closed again."""
    depth = 0
    for number in range(i, len(lines)):
        a, b = lines[number]
        line = text[a:b]
        depth += line.count("{") + line.count("[") - line.count("}") - line.count("]")
        if depth <= 0:
            return number if line.rstrip().endswith(("}", "]", "},", "],")) else None
    return None


def _find_conversation(shown: Sequence[str], lines: Sequence[Span], limit: int) -> list[Span]:
    """Return recorded conversations: lines of two speakers or more, one of whom speaks again."""
    runs: list[dict[int, str]] = []
    for i in range(limit):
        is_timed = ":" in shown[i] or "." in shown[i] or "：" in shown[i]
        found = (SPOKEN.match(shown[i]) or SPEAKS.match(shown[i])) if is_timed else None
        if found is not None and not RULES_HEAD.search(f"{found[1]}:"):
            if runs and i - next(reversed(runs[-1])) <= LINES_BETWEEN:
                runs[-1][i] = found[1]
            else:
                runs.append({i: found[1]})
    talks = [run for run in runs if _is_conversation(run)]
    return [(lines[min(run)][0], lines[_find_paragraph_end(shown, max(run), limit)][1]) for run in talks]


def _find_paragraph_end(shown: Sequence[str], i: int, limit: int) -> int:
    """Return the last line of the paragraph that a line stands in."""
    while i + 1 < limit and shown[i + 1].strip():
        i += 1
    return i


def _is_conversation(run: Mapping[int, str]) -> bool:
    """Tell whether lines, each with its speaker, are a conversation rather than a list with names in it."""
    counted = Counter(run.values())
    return len(run) >= TALK_LINES and len(counted) > 1 and max(counted.values()) > 1


def merge_spans(spans: Sequence[Span]) -> list[Span]:
    """Return spans in order and apart from one another."""
    merged: list[Span] = []
    for a, b in sorted(spans):
        if merged and a <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    return merged
