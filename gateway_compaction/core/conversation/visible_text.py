"""Texts without what nobody reads in them: a model's thinking aloud, and embedded data.

Many models and servers write the thinking into the answer itself, between tags. It holds guesses and what was
dropped again; quoted or summarised it would pass for what the assistant said. A picture in base64 is as long
as a book, and an extract or a quote of it says nothing.

Both are told by form alone. The forms of thinking are those of the reasoning parsers of vLLM and SGLang, of
Open WebUI and of agents' prompts; their names are told by the words in them, not by a list of models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
    """

    opening: str
    closing: str
    is_own_end: bool = False


# "think", "thinking", "antThinking", "seed:think", "inner_thoughts", "reasoning_content", "scratchpad" ...
TAG = (
    r"(?:[a-z]{1,20}[:_-]|ant)?"
    r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|scratch_?pad|monologue|reflection|chain[_-]of[_-]thoughts?)"
    r"(?:[_-][a-z]{1,20})?"
)
FORMS = (
    # <think>, also with attributes; </think> behind anything.
    ThinkingForm(rf"<(?P<tag>{TAG})(?:\s[^<>]{{0,200}})?>", r"</\s*{tag}\s*>", is_own_end=True),
    # Mistral's Magistral.
    ThinkingForm(r"\[THINK\]", r"\[/THINK\]", is_own_end=True),
    # Kimi.
    ThinkingForm(r"◁think▷", r"◁/think▷", is_own_end=True),
    # OpenThinker and Cohere: <|begin_of_thought|>, <|START_THINKING|>.
    ThinkingForm(
        r"<\|(?:begin|start)_(?:of_)?(?:thought|thinking)\|>", r"<\|end_(?:of_)?(?:thought|thinking)\|>", True
    ),
    # gpt-oss, where the server did not take the channels apart.
    ThinkingForm(r"<\|channel\|>(?:analysis|commentary)<\|message\|>", r"<\|(?:end|start|call|return)\|>"),
    # Gemma 4.
    ThinkingForm(r"<\|channel>thought\b", r"<channel\|>"),
    # Open WebUI keeps thinking in a block that its page folds.
    ThinkingForm(r"<details\s[^<>]{0,200}?type=[\"']?reasoning\b[^<>]{0,400}>", r"</details\s*>"),
)
OPENING = re.compile(
    "(?i)(?P<fence>^[ \\t]{0,12}(?:```|~~~))|"
    + "|".join(f"(?P<form{i}>{f.opening})" for i, f in enumerate(FORMS)),
    re.MULTILINE,
)
CLOSING_ALONE = re.compile(
    "(?i)(?:"
    + "|".join(f.closing.replace("{tag}", TAG) for f in FORMS if f.is_own_end)
    + r")(?=\s*(?:\n|\Z))"
)
# Looked for first: most texts hold none of it, and need no closer look.
HINT = re.compile(
    r"[<\[◁][^<>\[\]\n]{0,120}?(?i:think|thought|reason|scratch_?pad|monologue|reflection)|<\|channel"
)
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
    if HINT.search(text) is None:
        return text
    spans = list(_find_thinking(text))
    if not spans:
        return text
    kept, done = [], 0
    for start, end in spans:
        kept.append(text[done:start])
        done = end
    return "".join([*kept, text[done:]]).strip()


def _find_thinking(text: str) -> Iterator[tuple[int, int]]:
    """Yield where thinking stands, with its tags, in order and apart from one another."""
    position = _find_end_of_unopened(text)
    if position:
        yield 0, position
    in_code = False
    missing: set[str] = set()
    while (found := OPENING.search(text, position)) is not None:
        position = found.end()
        if found["fence"] is not None:
            in_code = not in_code
            continue
        if in_code or text[found.start() - 1 : found.start()] == "`":
            continue
        closing = _closing_of(found)
        end = None if closing in missing else re.compile(closing).search(text, position)
        if end is not None:
            position = end.end()
        elif _begins_line(text, found.start()):
            position = len(text)
        else:
            missing.add(closing)
            continue
        yield found.start(), position


def _find_end_of_unopened(text: str) -> int:
    """Return where the thinking ends that a text begins within; 0 where it does not."""
    first = CLOSING_ALONE.search(text)
    if first is None or text[first.start() - 1 : first.start()] == "`":
        return 0
    opened = OPENING.search(text, 0, first.start())
    while opened is not None and opened["fence"] is not None:
        opened = OPENING.search(text, opened.end(), first.start())
    return first.end() if opened is None else 0


def _closing_of(opening: re.Match[str]) -> str:
    """Return the pattern of what ends the thinking that an opening begins."""
    form = next(form for i, form in enumerate(FORMS) if opening[f"form{i}"] is not None)
    return "(?i)" + form.closing.replace("{tag}", re.escape(opening["tag"] or ""))


def _begins_line(text: str, position: int) -> bool:
    return not text[text.rfind("\n", 0, position) + 1 : position].strip()


def replace_embedded_data(text: str) -> str:
    """Return a text with ``[embedded data]`` for what is encoded in it, be it in a data URL or bare."""
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
