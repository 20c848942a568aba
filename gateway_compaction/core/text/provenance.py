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

from collections.abc import Sequence

import regex

from gateway_compaction.core.conversation.messages import Message, is_restored, role_of, told_texts_of
from gateway_compaction.core.text.copied_talk import find_conversations, find_paragraph_end
from gateway_compaction.core.text.fences import Span
from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.mail_heads import is_mail_line
from gateway_compaction.core.text.own_labels import OWN_LABEL, OWN_TAG, RULES_HEAD
from gateway_compaction.core.text.pasted_blocks import (
    BEGINS,
    ENDS,
    LONGEST_FRAME,
    RULER,
    find_printed_end,
    find_ruled_end,
)
from gateway_compaction.core.text.printed_lines import find_printed, to_spans
from gateway_compaction.core.text.printed_objects import find_objects
from gateway_compaction.core.text.retrieval_prompts import find_material
from gateway_compaction.core.text.source_words import (
    ALONE,
    ALONE_ON_LINE,
    AUTHORED,
    BEHIND_SAYING,
    BESIDE,
    BODIES,
    CAME,
    FIRST,
    FROM,
    MATERIAL,
    NO_SOURCE,
    OF_HARNESS,
    OWN,
    PIECES,
    RESULTS,
    SAYS,
    SELF,
    SENDS,
    SOURCES,
    TEMPLATE_WORDS,
    WRITTEN,
)
from gateway_compaction.core.text.terminals import (
    SIGNS,
    find_command_end,
    is_interpreter_line,
    is_terminal_line,
    is_version_control,
)

# In characters: longer lines label nothing, and of a line no more is looked at.
LONGEST_LABEL = 160
# In words: the longest name of a speaker, with what he does.
MOST_SPEAKER_WORDS = 5
# A line with more words than this labels nothing; names and paths in it are not counted.
MOST_WORDS = 14
# In words: the longest name of one who speaks in brackets, and what stands beside a path that a line names.
MOST_NAME_WORDS, MOST_FILE_WORDS = 3, 4
# Elements in front of the one that holds what was brought in.
MOST_IN_FRONT = 4

FRAME_MARKS, FRAME_ENDS = frozenset("[=-#*<~"), frozenset("]=-#*>~")
# Every label holds one of these; most lines hold none, and are not looked at further.
HINT = regex.compile(f"(?i){'|'.join(sorted(RESULTS | WRITTEN | MATERIAL | SAYS | SENDS))}")
WORD = regex.compile(r"[\p{L}]+|\d+")
CAMEL = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")
# Names, paths and quotations in a label. What they say does not count, only that something is named.
NAMED = regex.compile(
    r"“[^“”\n]++”|«[^«»\n]++»|「[^「」\n]++」|„[^„“”\n]++[“”]|`[^`\n]++`|'[^'\n]++'|\"[^\"\n]++\"|\([^()\n]*+\)|(?<!\w)\[[^\[\]\n]++\]|[^\s/\\]*+[/\\]\S++"
    r"|\w+=\S++|[^\W_]++(?:[_.]++[^\W_]++)++|(?<=\b(?:by|from) )\p{Latin}++\d++(?!\w)"
)
IN_PARENTHESES = regex.compile(r"\([^()\n]*+\)")
# Marks of headings, lists and quotations before a label's first word.
DECORATED = regex.compile(r"^(?:[#>*_=\-\s]|\[\[)*+")
# A line without a colon labels nothing unless it begins with one of these.
MARKS = ("[", "#", "*", "_", "=", "-", "$")
OPENS = (*MARKS, "(")
HEADING = regex.compile(r"\s{0,3}(?:#{1,6}\s|\*\*|__|[=\-]{3,}|\[)")
BRACKETED = regex.compile(r"\s{0,8}\[{1,2}(?!\s?[xX ]?\])([^\[\]\n]{2,150})\]{1,2}(?!\()[ \t]*([^\n]{0,60})")
PATH = regex.compile(r"[`'\"*]*(?:\S*/\S+|[\w.-]+\.[A-Za-z]\w{0,7})[`'\"*]*")
PATH_HEADING = regex.compile(
    rf"[ \t]*(?:#{{1,6}} |-{{3,}} ?|={{3,}} ?|==> |\*\*)[ \t]*(?:file:? )?{PATH.pattern}"
    r"[ \t]*(?:-{3,}|={3,}|<==|\*\*)?[ \t]*$"
)
COLON = regex.compile(r":(?=\s|$)")
# A path that a name or a folder stands before, and one alone on its line.
PATH_WITHIN = regex.compile(r"[`'\"*]*(?:[\w.~-]+/)*[\w-]+\.[A-Za-z]\w{0,7}(?![\w/])[`'\"*]*")
PATH_ALONE = regex.compile(r"(?=[^\n]*[./])(?:[\w.~@-]+/)*[\w.-]+[ \t]*$")
COLON_ANY = regex.compile(r"[:：]")
FILE_WORDS = regex.compile(rf"(?i){pattern_of('file_labels')}")
PATH_LABEL = regex.compile(
    r"(?i)[#*>\s]*+(?:(?:contents? of |in )?(?:file(?:name)?|path|source|document|url|uri|attachment)[*]*:"
    r"[ \t*]*\S+[ \t]*$|(?:contents? of )?(?:the file )?"
    + PATH.pattern
    + r"(?: \([^()\n]{1,30}\))?[ \t]*:[ \t]*$)"
)
# The label of a tool's part in a transcript: "tool: read_file", "Tool (read_file): ...".
ROLE = regex.compile(
    # "Coder (to chat_manager):" is what one agent says to another.
    r"(?i)[#*>\s]*+(?:[\w.\-]{1,40} \(to [\w.\- ]{1,40}\):[ \t]*$"
    r"|(?:tool|ipython)(?: ?[(\[][^()\[\]\n]*+[)\]])?\**:(?:\s|$)|function: ?[\w.]++[ \t]*$)"
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
# In other languages the name of the tool may stand in the middle: "工具 read_file 的返回结果：".
NAME_WITHIN = regex.compile(rf"\s*(?:{NAMED.pattern})\s*")
# What was fetched, and nothing else: "Fetched https://x.example/a (200 OK)".
FETCHED = regex.compile(
    r"(?i)[#*>\-\s]*+(?:\p{L}+ed|read|got)(?: \p{L}+)? [`'\"(<]?\w+://\S+(?: \([^()\n]{1,40}\))?[:.]?[ \t]*$"
)
ELEMENT = regex.compile(r"<([A-Za-z][\w:-]{1,40})(?:\s[^<>\n]{0,200})?>")
OPEN_TAG = regex.compile(r"[ \t]*<([A-Za-z][\w:-]{1,40})(?:\s[^<>\n]{0,200})?>[ \t]*$")


def find_brought_in(text: str) -> list[Span]:
    """Return where text stands that somebody else wrote, in order and apart from one another.

    The time is linear in the length of the text.
    """
    lines = _split_lines(text)
    shown = [text[a : min(b, a + LONGEST_LABEL)] for a, b in lines]
    first, blocks = _find_sources(text, shown, lines)
    first = min(first, _find_left_open(text, shown, lines))
    first, material = find_material(text, shown, lines, first)
    limit = lines[first][0] if first < len(lines) else len(text)
    spans = [*blocks, *material, *find_objects(text, lines, first, LONGEST_LABEL)]
    spans += find_conversations(shown, lines, first)
    spans += to_spans(find_printed(shown, first), lines)
    spans += _find_wrapper(text)
    if "(" in text:
        spans += [lines[i] for i in range(first) if "(" in shown[i] and PRINTED.match(shown[i])]
    return merge_spans([*spans, (limit, len(text))] if limit < len(text) else spans)


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


def _find_sources(text: str, shown: Sequence[str], lines: Sequence[Span]) -> tuple[int, list[Span]]:
    """Find what lines label as somebody else's.

    Returns:
        The first line from which on all is; and what stands before it and ends.
    """
    blocks: list[Span] = []
    i = 0
    while i < len(lines):
        if _is_source(shown, i):
            end = _find_source_end(text, shown, i)
            if end is None:
                return i, blocks
            blocks.append((lines[i][0], lines[end][1]))
            i = end
        i += 1
    return len(lines), blocks


def _find_source_end(text: str, shown: Sequence[str], i: int) -> int | None:
    """Return the last line of what a line labels; None where that is the rest of the text."""
    opens = i if _is_frame(shown[i], BEGINS) else i + 1
    if opens < len(shown) and _is_frame(shown[opens], BEGINS):
        return next((k for k in range(len(shown) - 1, opens, -1) if _is_frame(shown[k], ENDS)), None)
    if is_interpreter_line(shown[i]):
        return find_paragraph_end(shown, i, len(shown))
    if _is_path_above_ruler(shown, i):
        return find_ruled_end(shown, i)
    if is_terminal_line(shown, i) or (_is_label(shown[i]) and _is_label_of_people(shown[i])):
        return find_printed_end(text.split("\n"), find_command_end(shown, i))
    return None


def _is_frame(line: str, marks: frozenset[str]) -> bool:
    """Tell whether a line parts a text from what it stands in: "[file content begin]", "=== END FILE ==="."""
    if len(line) > LONGEST_FRAME or not (
        line.lstrip()[:1] in FRAME_MARKS and line.rstrip()[-1:] in FRAME_ENDS
    ):
        return False
    words = frozenset(_find_words(line) or _find_words(line, names=True))
    return not words.isdisjoint(marks) and not words.isdisjoint(MATERIAL | RESULTS | SOURCES)


def _is_path_above_ruler(lines: Sequence[str], i: int) -> bool:
    """Tell whether a line is a path alone, with a ruler below it, as several files are printed."""
    return (
        i + 1 < len(lines)
        and RULER.match(lines[i + 1]) is not None
        and PATH_ALONE.match(lines[i]) is not None
    )


def _names_file(line: str) -> bool:
    """Tell whether a line names a file and nothing else, in another language: "Inhalt von docs/a.md:"."""
    has_colon = ":" in line or "：" in line
    path = PATH_WITHIN.search(line) if has_colon and "." in line else None
    if path is None:
        return False
    before, after = line[: path.start()], line[path.end() :]
    if len(WORD.findall(before)) + len(WORD.findall(after)) > MOST_FILE_WORDS:
        return False
    is_last = not after.strip(" *`'\"") or COLON_ANY.search(after.rstrip(" *")[-1:]) is not None
    return is_last and FILE_WORDS.match(before.lstrip("#*>- ") or after.lstrip("`'\"* ")) is not None


def _is_label_of_people(line: str) -> bool:
    """Tell whether a label is one that people write above what they paste: "Console output:", "Logs:".

    A harness names the tool, puts its label in brackets or makes a heading of it.
    """
    label = COLON.split(line, 1)
    if len(label) == 1 or line.lstrip()[:1] in MARKS or NAMED.search(IN_PARENTHESES.sub("", label[0])):
        return False
    words = _find_words(label[0])
    return (
        bool(words) and words[-1] not in SAYS | CAME and OF_HARNESS.isdisjoint(words) and words != ["result"]
    )


def _is_source(lines: Sequence[str], i: int) -> bool:
    """Tell whether a line labels the text behind it as somebody else's."""
    line = lines[i]
    first = line.lstrip()[:1]
    if first == "[" or "<" in line:
        token = TOKENS.match(line) or TOKENS_AT_END.search(line)
        if token is not None:
            return not TEMPLATE_WORDS.isdisjoint(TOKEN_WORD.findall(token[0].lower().replace("_", " ")))
    if is_version_control(line):
        return True
    if ":" not in line and "：" not in line and first not in OPENS and SIGNS.isdisjoint(line):
        return _is_path_above_ruler(lines, i)
    return (
        _is_label(line)
        or ROLE.match(line) is not None
        or _is_local_label(line)
        or ("://" in line and FETCHED.match(line) is not None)
        or PATH_LABEL.match(line) is not None
        or PATH_HEADING.match(line) is not None
        or is_terminal_line(lines, i)
        or is_interpreter_line(line)
        or _names_file(line)
        or (first in FRAME_MARKS and _is_frame(line, BEGINS))
        or is_mail_line(lines, i)
    )


def _is_local_label(line: str) -> bool:
    """Tell whether a line is a label of a tool in another language, with or without the tool's name in it."""
    if LOCAL_LABEL.match(line) is not None:
        return True
    label = line.rstrip()
    if not label.endswith((":", "：")) or NAME_WITHIN.search(label) is None:
        return False
    # What is written without spaces stands together again, what is written with them apart.
    return any(LOCAL_LABEL.match(NAME_WITHIN.sub(gap, label).lstrip()) for gap in ("", " "))


def _is_label(line: str) -> bool:
    """Tell whether a line is a label: "Tool result:", "[read_file for 'x'] Result:", "## Output of ls"."""
    bracketed = BRACKETED.match(line)
    if bracketed is not None:
        inside, label = bracketed[1], COLON.split(bracketed[2], 1)
        names = _find_words(inside, names=True)
        # The path that a tool was called with may hold any word: "[read_file for 'users.md']".
        if OWN_LABEL.match(line) or OWN.intersection(_find_words(inside.partition(" for ")[0], names=True)):
            return False
        if bracketed[2].startswith(":") and _is_field(inside, names):
            return True
        if _is_frame(line, BEGINS):
            return True
        kinds = [word for word in _find_words(inside) if not word.isdigit()]
        if kinds and len({name for name in names if name.isdigit()}) == 1 and MATERIAL.issuperset(kinds):
            # "[Document 1]", "[chunk 3 / a.md]"
            return True
        said = _find_words(label[0]) if len(label) > 1 else []
        says = not RESULTS.isdisjoint(said) or (
            # "[browser] page text:"
            bool(said) and MATERIAL.issuperset(said) and not SOURCES.isdisjoint(kinds)
        )
        return says or _are_label_words(names, is_named=NAMED.search(inside) is not None)
    parts = COLON.split(line, 2)
    if len(parts) == 1:
        return HEADING.match(line) is not None and _is_label_text(line, is_alone=True)
    # "System: Command read_file returned: ..."
    labels = parts[:-1]
    return any(_is_label_text(label, is_alone=not parts[-1].strip()) for label in labels)


def _is_field(inside: str, names: Sequence[str]) -> bool:
    """Tell whether "[...]: " names a file or one who speaks: "[file name]: a.md", "[planner]: ...".

    Who marks his own words so names their kind ("[note]: "), or writes capitals.
    """
    if not MATERIAL.isdisjoint(names):
        return True
    is_name = inside == inside.lower() and 0 < len(names) <= MOST_NAME_WORDS
    return is_name and OWN_TAG.search(inside) is None and RULES_HEAD.search(inside) is None


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
    if _ends_in_saying(words, is_alone=is_alone):
        return True
    if is_alone and len(words) > len(named) > 0 and named <= PIECES:
        # "Chunk 1:"
        return True
    if is_alone and "context" in words and words[0] in FIRST and SELF.isdisjoint(words[:3]):
        # "This is the context you're working with:"
        return True
    return _are_label_words(words, is_named=NAMED.search(label) is not None)


def _ends_in_saying(words: Sequence[str], *, is_alone: bool) -> bool:
    """Tell whether words name who says what follows: "The planner said", "Here is what they wrote back"."""
    spoken, told = list(words), 1
    while is_alone and spoken and spoken[-1] in BEHIND_SAYING:
        spoken.pop()
    if is_alone and len(spoken) > 1 and spoken[0] in FIRST and "what" in spoken[1:3]:
        told, spoken = 0, spoken[spoken.index("what") + 1 :]
    return (
        told < len(spoken) <= MOST_SPEAKER_WORDS
        and spoken[-1] in (SAYS | SENDS if is_alone else SAYS)
        and SELF.isdisjoint(spoken)
    )


def _are_label_words(words: Sequence[str], *, is_named: bool) -> bool:
    """Tell whether the words of a label say both what stands behind it and where that comes from."""
    if not words or not OWN.isdisjoint(words):
        return False
    first = words[0]
    if not any(first in known for known in (FIRST, SOURCES, CAME, RESULTS, WRITTEN, MATERIAL)):
        return False
    if not CAME.isdisjoint(words) and not MATERIAL.isdisjoint(words):
        return True
    if _has_author(words) or (
        words[-1] in BODIES
        and not WRITTEN.isdisjoint(words[:2])
        and (is_named or any(word.isdigit() for word in words))
    ):
        # "Comment by @ann on issue #12", "Issue OPS-12 description"
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


def _has_author(words: Sequence[str]) -> bool:
    """Tell whether words name the author of something written, who is not the one who speaks."""
    return any(
        word in WRITTEN
        and words[n + 1] in AUTHORED
        and not (NO_SOURCE | SELF).intersection(words[n + 2 : n + 3])
        for n, word in enumerate(words[:-1])
    )


def _find_words(label: str, *, names: bool = False) -> list[str]:
    """Return the words of a label in lower case, without what it names unless that is asked for."""
    bare = label.replace("_", " ") if names else NAMED.sub(" ", label)
    words = WORD.findall(CAMEL.sub(" ", DECORATED.sub("", bare)).replace("'", ""))
    found = [word.lower() for word in words[: MOST_WORDS + 1]]
    while found and found[0].isdigit():
        found.pop(0)
    return found


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


def merge_spans(spans: Sequence[Span]) -> list[Span]:
    """Return spans in order and apart from one another."""
    merged: list[Span] = []
    for a, b in sorted(spans):
        if merged and a <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    return merged
