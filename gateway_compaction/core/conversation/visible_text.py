"""Texts without what nobody reads in them: a model's thinking aloud, and embedded data.

Many models and servers write the thinking into the answer itself, between tags. It holds guesses and what was
dropped again; quoted or summarised it would pass for what the assistant said. A picture in base64 is as long
as a book, and an extract or a quote of it says nothing.

Both are told by form alone. The forms of thinking are those of the reasoning parsers of vLLM and SGLang, of
Open WebUI and of agents' prompts; their names are told by the words in them, not by a list of models. Whoever
writes about such a tag is told by the sentence that it stands in: "Use the <think> tag to plan."
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from gateway_compaction.core.conversation.slices import SLICE, split_text

EMBEDDED_DATA = "[embedded data]"
"""Stands for a picture, a file or a key that a text holds in base64 or the like."""


@dataclass(frozen=True, slots=True)
class ThinkingForm:
    """One way to mark thinking within a text.

    Attributes:
        opening: a pattern of what begins it, without groups of its own.
        closing: a pattern of what ends it; ``{tag}`` in it is the tag that the opening names.
        is_own_end: the closing alone tells that thinking stands before it. The templates of DeepSeek-R1, Qwen
            and others write the opening into the prompt, so that the answer begins within it.
        needs_end: without its closing it is none, as its opening may be a sentence.
    """

    opening: str
    closing: str
    is_own_end: bool = False
    needs_end: bool = False


# What a tag calls it, in the languages of the lexicon.
WORDS = (
    r"think(?:ing)?|thoughts?|reason(?:ing)?|scratch_?pad|monologue|reflection|chain[_-]of[_-]thoughts?"
    r"|(?:nach)?denken|gedanken?(?:gang)?|überlegung(?:en)?|pensée|réflexion|raisonnement|pens(?:amiento|ando)"
    r"|razonamiento|reflexión|pensamento|raciocínio|reflexão|pensiero|ragionamento|riflessione|gedachten?"
    r"|redenering|мысли|размышлени[ея]|рассуждени[ея]|myśl(?:enie|i)|rozumowanie|düşünce|düşünme|تفكير"
    r"|思考过?程?|思维过?程?|推理过?程?|思考プロセス|考え|推論|생각|사고|추론"
)
# "think", "thinking", "antThinking", "seed:think", "inner_thoughts", "reasoning_content", "scratchpad" ...
TAG = (
    r"(?:[a-z]{1,20}[:_-]|ant)?"
    rf"(?:{WORDS})"
    r"(?:[_-][a-z]{1,20})?"
)
FORMS = (
    # <think>, also with attributes; </think> behind anything. Models mix the names: <think> ... </thinking>.
    ThinkingForm(rf"<(?P<tag>{TAG})(?:\s[^<>]{{0,200}})?>", rf"</\s*(?P<closed>{TAG})\s*>", is_own_end=True),
    # Mistral's Magistral.
    ThinkingForm(r"\[THINK\]", r"\[/THINK\]", is_own_end=True),
    # Agents' prompts: [thinking]...[/thinking], and a fence that is called so.
    ThinkingForm(rf"\[(?:{TAG})\]", rf"\[/(?:{TAG})\]", needs_end=True),
    ThinkingForm(rf"^[ \t]{{0,12}}```(?:{WORDS})[ \t]*$", r"^[ \t]{0,12}```[ \t]*$", needs_end=True),
    # Poe: a word for it, and quoted lines.
    ThinkingForm(
        rf"\A\s*[*_]{{1,2}}(?:{WORDS})[.…]{{0,3}}[*_]{{1,2}}\s*\n(?:>[^\n]*(?:\n|\Z)|\s*\n(?=>))+", ""
    ),
    # Kimi.
    ThinkingForm(r"◁think▷", r"◁/think▷", is_own_end=True),
    # OpenThinker and Cohere: <|begin_of_thought|>, <|START_THINKING|>. Others: <|think|>, <|/think|>.
    ThinkingForm(
        r"<\|(?:(?:begin|start)_(?:of_)?)?(?:thought|think(?:ing)?)\|>",
        r"<\|(?:/|end_(?:of_)?)(?:thought|think(?:ing)?)\|>",
        is_own_end=True,
    ),
    # gpt-oss, where the server did not take the channels apart, and where it took the signs away.
    ThinkingForm(
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)\b[^<>\n]{0,120}"
        r"(?:<\|constrain\|>[^<>\n]{0,40})?<\|message\|>",
        r"<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)",
    ),
    ThinkingForm(r"\Aanalysis(?=[A-Z\"'])", r"assistant(?:commentary)?final", needs_end=True),
    # The mark of the answer itself, and of its end.
    ThinkingForm(r"(?:<\|start\|>assistant)?<\|channel\|>final\b[^<>\n]{0,120}<\|message\|>", ""),
    ThinkingForm(r"<\|(?:end|return)\|>(?=\s*\Z)", ""),
    # Granite.
    ThinkingForm(
        r"\A\s*Here(?:'s| is) my thought process:", r"Here(?:'s| is) my response:[ \t]*", needs_end=True
    ),
    # Gemma 4.
    ThinkingForm(r"<\|channel>thought\b", r"<channel\|>"),
    # Open WebUI and others keep thinking in a block that a page folds.
    ThinkingForm(r"<details\s[^<>]{0,200}?type=[\"']?reasoning\b[^<>]{0,400}>", r"</details\s*>"),
    ThinkingForm(
        rf"<details\b[^<>]{{0,400}}>\s{{0,20}}<summary>[^<>\n]{{0,40}}\b(?:{WORDS})\b[^<>\n]{{0,60}}</summary>",
        r"</details\s*>",
        needs_end=True,
    ),
)
OPENING = re.compile(
    rf"(?i)(?P<fence>^[ \t]{{0,12}}(?:```|~~~)(?!(?:{WORDS})[ \t]*$))|"
    + "|".join(f"(?P<form{i}>{f.opening})" for i, f in enumerate(FORMS)),
    re.MULTILINE,
)
TAGS = [re.compile(f"(?i){form.opening}|(?P<closing>{form.closing})", re.MULTILINE) for form in FORMS]
# Closings behind an opening that are looked at: more are only in a text that is made to be slow.
MOST_CLOSINGS = 64
CLOSING_ALONE = re.compile("(?i)" + "|".join(form.closing for form in FORMS if form.is_own_end))
FENCE = re.compile(r"(?m)^[ \t]{0,12}(?:```|~~~)")
# What ends a sentence before a tag, or the mark-up before it.
ENDS_SENTENCE = re.compile(r"(?:[.!?…。！？>▷\]*]|^)[ \t]*\Z")
# How a sentence goes on behind a tag that it names: "the <think> tag", "<think>, which", "in <think>...".
NAMES_TAG = re.compile(r" {1,2}[a-zß-öø-ÿа-яё(|–-]|[,;:.)\"'”’»」`]")
# The same where words are not parted.
NAMES_TAG_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
QUOTES = ("`", '"', "'", "“", "‘", "«", "「", "(")
# Characters before a tag that is taken to begin its line.
MOST_INDENT = 200
# Looked for first: most texts hold none of it, and need no closer look.
HINT = re.compile(
    rf"[<\[◁`*_](?:[/|]{{0,2}}(?:ant|(?:[A-Za-z]{{1,20}}[:_-]){{0,2}})(?i:{WORDS})|\|channel|(?i:details)\b)"
)
BEGINNINGS = ("analysis", "Here is my thought", "Here's my thought")
# Data URLs: of base64 however short, of text in other escapes only where it is long.
DATA_URL = re.compile(
    r"(?i)data:[\w\\/+.;=-]{0,200};base64,[a-z0-9+/=_-]*(?:\\/[a-z0-9+/=_-]*)*"
    r"|data:[\w.+-]{1,80}/[\w.+-]{1,80}(?:;[\w.+-]{1,40}(?:=[\w.+-]{1,80})?){0,4},[^\s\"'<>()\[\]{}`]{100,}"
)
# So many characters without a space are no word and no identifier: a digest of 512 bits has 128.
LEAST_DATA = 160
RUN = re.compile(rf"[A-Za-z0-9+/=_-]{{{LEAST_DATA},}}")
# Base64 in lines, as keys, certificates and mails have it; the last line is shorter.
LEAST_LINE = 60
DATA_LINES = re.compile(
    rf"(?m)(?:^[ \t]{{0,16}}[A-Za-z0-9+/]{{{LEAST_LINE},80}}[ \t]{{0,4}}\r?\n){{2,}}"
    rf"(?:[ \t]{{0,16}}(?:[A-Za-z0-9+/]{{1,79}}={{1,2}}|[A-Za-z0-9+/]{{16,80}})(?=\s|\Z))?"
)
SYMBOL = re.compile(r"[/+=_-]")
# Encoded data has one symbol in thirty-two characters; paths and names that are glued together have more.
MOST_SYMBOLS = 0.08


def remove_thinking(text: str) -> str:
    """Return an assistant's text without what it thinks aloud between tags; the same string without any.

    Tags in code are left: somebody writes about them. What is not closed counts where the tag begins a line:
    the answer was cut off while it thought.
    """
    if HINT.search(text) is None and not text.lstrip().startswith(BEGINNINGS):
        return text
    spans = list(_find_thinking(text))
    if not spans:
        return text
    kept, done = [], 0
    for start, end in spans:
        kept.append(text[done:start])
        done = end
    return "".join([*kept, text[done:]]).strip()


@dataclass(frozen=True, slots=True)
class _Closing:
    """A closing tag, or another mark that may end thinking.

    Attributes:
        start: where it begins.
        end: where it ends.
        name: the tag that it closes, in small letters; empty where it names none.
        opened: where the last tag of that name before it is opened; -1 for nowhere.
        is_named: a sentence names it, so that it may end nothing.
    """

    start: int
    end: int
    name: str
    opened: int
    is_named: bool


class _Closings:
    """The closings in a text, by form; found when a form is first opened, once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._by_form: dict[int, list[_Closing]] = {}

    def find(self, opening: re.Match[str], number: int) -> _Closing | None:
        """Return what ends the thinking that an opening begins, rather what no sentence names, or None.

        The name need not be the opening's, as long as it is not another element's within it.
        """
        if number not in self._by_form:
            self._by_form[number] = [*_list_closings(self._text, number)]
        closings, position = self._by_form[number], opening.end()
        first = bisect_left(closings, position, key=lambda one: one.start)
        name = (opening["tag"] or "").lower()
        fitting = [
            one
            for one in closings[first : first + MOST_CLOSINGS]
            if one.name == name or one.opened < position
        ]
        return next((one for one in fitting if not one.is_named), fitting[0] if fitting else None)


def _list_closings(text: str, number: int) -> Iterator[_Closing]:
    opened: dict[str, int] = {}
    for found in TAGS[number].finditer(text):
        name = (found.groupdict().get("closed") or "").lower()
        if found["closing"] is None:
            opened[(found.groupdict().get("tag") or "").lower()] = found.start()
        else:
            span = found.span()
            yield _Closing(*span, name, opened.get(name, -1) if name else -1, _is_named(text, span))


def _find_thinking(text: str) -> Iterator[tuple[int, int]]:
    """Yield where thinking stands, with its tags, in order and apart from one another."""
    position = _find_end_of_unopened(text)
    if position:
        yield 0, position
    in_code = False
    closings = _Closings(text)
    while (found := OPENING.search(text, position)) is not None:
        position = found.end()
        if found["fence"] is not None:
            in_code = not in_code
            continue
        if in_code or text[found.start() - 1 : found.start()] == "`":
            continue
        end = _find_end(text, found, closings)
        if end is not None:
            position = end
            yield found.start(), end


def _find_end(text: str, opening: re.Match[str], closings: _Closings) -> int | None:
    """Return where the thinking ends that an opening begins; None where the opening begins none."""
    number = next(i for i in range(len(FORMS)) if opening[f"form{i}"] is not None)
    if not FORMS[number].closing:
        return opening.end()
    begins_line = _begins_line(text, opening.start())
    is_named = NAMES_TAG.match(text, opening.end()) is not None
    is_amid = not begins_line and not _ends_sentence(text, opening.start())
    if is_amid and (is_named or NAMES_TAG_UNSPACED.match(text, opening.end())):
        return None
    closing = closings.find(opening, number)
    if closing is not None:
        return None if is_named and closing.is_named else closing.end
    return len(text) if begins_line and not is_named and not FORMS[number].needs_end else None


def _find_end_of_unopened(text: str) -> int:
    """Return where the thinking ends that a text begins within; 0 where it does not."""
    for closing in CLOSING_ALONE.finditer(text):
        if _is_named(text, closing.span(), is_alone=True):
            continue
        if sum(1 for _ in FENCE.finditer(text, 0, closing.start())) % 2:
            return 0
        opened = OPENING.search(text, 0, closing.start())
        while opened is not None and opened["fence"] is not None:
            opened = OPENING.search(text, opened.end(), closing.start())
        return closing.end() if opened is None else 0
    return 0


def _is_named(text: str, closing: tuple[int, int], *, is_alone: bool = False) -> bool:
    """Tell whether a sentence names a closing tag: "End it with </think> and go on."

    Args:
        text: the text.
        closing: where the tag begins and ends.
        is_alone: it is not opened, so that all before it would be lost.
    """
    start, end = closing
    if _ends_sentence(text, start):
        return text[end : end + 1] in (",", ";", ":", ")")
    before = text[start - 1 : start]
    if before in QUOTES or (is_alone and before.isspace()):
        return True
    is_apart = before.isspace() or text[end : end + 1] in (",", ".", ";", ")")
    goes_on = NAMES_TAG.match(text, end) or NAMES_TAG_UNSPACED.match(text, end)
    return is_apart and goes_on is not None


def _ends_sentence(text: str, position: int) -> bool:
    """Tell whether a sentence, a line or mark-up ends before a position."""
    return (
        ENDS_SENTENCE.search(text[max(text.rfind("\n", 0, position) + 1, position - 40) : position])
        is not None
    )


def _begins_line(text: str, position: int) -> bool:
    return not text[max(text.rfind("\n", 0, position) + 1, position - MOST_INDENT) : position].strip()


def replace_embedded_data(text: str) -> str:
    """Return a text with ``[embedded data]`` for what is encoded in it, be it in a data URL or bare."""
    if len(text) > SLICE:
        slices = list(split_text(text))
        if len(slices) > 1:
            return "".join(map(replace_embedded_data, slices))
    if "data:" in text or "DATA:" in text:
        text = DATA_URL.sub(EMBEDDED_DATA, text)
    if max(map(len, text.split()), default=0) < LEAST_LINE:
        return text
    for pattern in (RUN, DATA_LINES):
        text = pattern.sub(lambda found: EMBEDDED_DATA if _is_encoded(found[0]) else found[0], text)
    return text


def _is_encoded(run: str) -> bool:
    """Tell whether a run of characters is encoded data, not strokes, a path or words glued together."""
    return (
        any(map(str.isdigit, run))
        and any(map(str.isalpha, run))
        and len(SYMBOL.findall(run.rstrip("="))) <= MOST_SYMBOLS * len(run)
    )
