"""Output of terminals, interpreters and version control, told by its form: prompts, commits, differences.

A prompt is told by what surrounds its sign: who is where (``me@box:~/x$``), a drive (``C:\\x>``), an
environment (``(venv) $``), the name of an interpreter (``mysql>``). A sign alone is one where no text begins
so (``$ ls``, ``>>> f(x)``). Headings and quotations begin with the others, so behind those a command has to
stand that has the form of one, with its output on the next line: ``# cat /etc/motd``, not ``# a heading``.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from gateway_compaction.core.text.lexicon import words_of
from gateway_compaction.core.text.own_labels import OWN_TAG, RULES_HEAD

_ENVIRONMENT = r"(?:\([\w.\- ]{1,30}\) ?)?"
_USER = r"[\w.\-]{1,40}@[\w.\-]{1,60}"
PROMPT = regex.compile(
    rf"[ \t]*{_ENVIRONMENT}(?:"
    # me@box:~/x$, me@mac ~ %, root@h:/x#, me@box ~/x>, [me@web1 ~]$
    rf"{_USER}(?::[^\s$#%>❯]{{0,60}}| [~/\w][^\s$#%>❯]{{0,60}})?"
    r"(?: ?\([^()\n]{1,40}\))? ?[$#%>❯]"
    rf"|\[{_USER} [^\]\n]{{1,60}}\] ?[$#%]"
    # PS C:\x>, PS>, C:\x>
    r"|PS(?: [A-Za-z]:[^<>\n|]{0,80}| [~/][^<>\n|]{0,80})?>|[A-Za-z]:\\[^<>\n\"|?*]{0,80}>"
    # ~/x $, bash-5.1$, └─$, ❯, ➜  x git:(main)
    r"|[~/][\w./~\-]{0,60} ?[$#%❯>]|(?:ba|z|k|da)?sh-[\d.]{1,8}[$#]|[└╰]─{0,3}[$#>❯]|[❯➜λ]"
    # mysql>, postgres=#, irb(main):001:0>, (Pdb)
    r"|[a-z][\w.\-]{2,20}(?:\([^()\n]{0,20}\))?(?::\d+){0,2}(?:=?[#>]|>)(?= )"
    # MariaDB [(none)]>
    r"|\w{3,20} \[[^\[\]\n]{1,40}\]>(?= )"
    r"|(?:\d{1,3}\.){3}\d{1,3}:\d+>|\((?:i?pdb\+*|gdb|lldb|[Pp]db)\)"
    r")[ \t]*+[^\s<>=]"
    rf"|[ \t]*{_ENVIRONMENT}\$ [a-z./~\"'({{]"
)
# Of what is typed as a command at least one word is an option, a path, a file, a variable, a setting, a pipe.
COMMAND_NAME = regex.compile(r"(?:\./)?[a-z][\w.\-]{0,30}")
OF_COMMAND = regex.compile(
    r"-{1,2}[A-Za-z0-9][\w\-=]*|[~.]{0,2}/\S*|[\w@.\-]+/\S+|[\w\-]+\.[a-z]\w{0,7}|\$\{?\w+\}?|\w+=\S+"
    r"|\||&&|>{1,2}|\*\.\w+"
)
MOST_COMMAND_WORDS = 16
ENDS_PROSE = (".", ",", "?", "!", ":")
# Words that join what people write; no command is called with one.
PROSE_WORDS = frozenset(words_of("stop_words"))
BARE = regex.compile(r"[ \t]{0,3}[%#>] ")
# me$ behind the name of a Mac and its folder, web1%: a name that the sign is glued to.
HOSTED = regex.compile(r"[\w.\-]{1,40}:[^\s:$#%]{1,60} [\w.\-]{1,40}[$#] |[A-Za-z][\w.\-]{1,40}[%] ")
# Router#show ..., R1(config)# ..., SQL> ..., sw1>show ...
DEVICE = regex.compile(
    r"((?:[A-Z]|(?=[a-z.\-]{1,20}\d))[\w.\-]{0,30}\w)(?:\([\w\-]{2,20}\))?[#>] ?[a-z][\w\-]*(?: \S+){1,8}$"
)
# A call behind the prompt of Node or R.
CALLED = regex.compile(r"[A-Za-z_$][\w.$]{0,60}\([^\n]*\);?[ \t]*$")
# What npm prints above the output of a script.
SCRIPT = regex.compile(r"> (?:@[\w.\-]+/)?[\w.\-]+@\d\S* [\w:.\-]+[ \t]*$")
# What an interpreter shows, as documents quote it too: an example ends with its paragraph.
INTERPRETER = regex.compile(r"[ \t]*(?:>>>|In \[\d+\]:|Out\[\d+\]:)(?:[ \t]|$)")
SIGNS = frozenset("$#%>❯➜λ")
# What its lines begin with.
EXAMPLES = frozenset((">>", "In", "Ou"))
# A commit as ``git log`` prints it, and the head of a difference.
VERSION_CONTROL = regex.compile(
    r"[*|\\/ ]{0,12}commit [0-9a-f]{7,40}(?: \(|[ \t]*$)|diff --git \S|@@ -\d"
    r"|changeset:[ \t]+\d+:[0-9a-f]{7}|Index: \S+[ \t]*$"
    # 3f1c0a9 (HEAD -> main) ..., 3f1c0a9d (Bob 2025-11-03 10:12:01 +0100 1) ...
    r"|[*|\\/ ]{0,12}\^?[0-9a-f]{7,12} \((?:HEAD|tag: |origin/|[^()\n]{2,60} \d{4}-\d\d-\d\d )"
    # 3f1c0a9 HEAD@{0}: ...
    r"|[0-9a-f]{7,40} (?:\([^()\n]{1,60}\) )?HEAD@\{"
)
HEADS = frozenset(("commit ", "diff --", "Index: ", "changes"))
HEXADECIMAL = frozenset("0123456789abcdef^")


def is_terminal_line(lines: Sequence[str], i: int) -> bool:
    """Tell whether a line begins what a terminal or version control has printed."""
    line = lines[i]
    if is_version_control(line):
        return True
    has_sign = not SIGNS.isdisjoint(line) or line.lstrip()[:1] == "("
    return has_sign and (PROMPT.match(line) is not None or _is_bare_prompt(lines, i))


def _is_bare_prompt(lines: Sequence[str], i: int) -> bool:
    """Tell whether a line is a command behind a sign alone, or a name and a sign, with output below it.

    Who forbids a command quotes it in the same way, but leaves an empty line below.
    """
    line = lines[i]
    if SCRIPT.match(line):
        return True
    if i + 1 >= len(lines) or not lines[i + 1].strip():
        return False
    device = DEVICE.match(line)
    if device is not None and not _is_own(device[1]):
        return True
    sign = BARE.match(line) or HOSTED.match(line)
    if sign is None:
        return False
    command = line[sign.end() :]
    if sign[0].strip() == ">" and CALLED.match(command):
        return True
    # Nobody begins a line of prose with a per cent sign: there any small words in a row are a command.
    is_plain = sign[0].strip() == "%"
    return is_command(command, is_plain=is_plain) and not _is_own(command.split(None, 1)[0])


def find_command_end(lines: Sequence[str], i: int) -> int:
    """Return the last line that says what was run: npm prints a script's name above its command."""
    while i + 1 < len(lines) and SCRIPT.match(lines[i]) and lines[i + 1].startswith("> "):
        i += 1
    return i


def _is_own(name: str) -> bool:
    return OWN_TAG.search(name) is not None or RULES_HEAD.search(name) is not None


def is_command(text: str, *, is_plain: bool = False) -> bool:
    """Tell whether a text is a command as it is typed: ``cat docs/a.md``, ``npm test -- --watch``.

    With ``is_plain`` none of its words has to be one that only a command has: ``git show HEAD``.
    """
    words = text.split(None, MOST_COMMAND_WORDS)
    return (
        len(words) > 1
        and COMMAND_NAME.fullmatch(words[0]) is not None
        and not any(word.endswith(ENDS_PROSE) or word.lower() in PROSE_WORDS for word in words)
        and (is_plain or any(OF_COMMAND.fullmatch(word) for word in words[1:]))
    )


def is_version_control(line: str) -> bool:
    """Tell whether a line begins a commit or a difference."""
    head = line[:7]
    is_marked = head.startswith(("*", "| ", "@@ -"))
    if not is_marked and head not in HEADS and not HEXADECIMAL.issuperset(head):
        return False
    return VERSION_CONTROL.match(line) is not None


def is_interpreter_line(line: str) -> bool:
    """Tell whether a line is the prompt or the result of an interpreter, as examples show them."""
    return line.lstrip()[:2] in EXAMPLES and INTERPRETER.match(line) is not None
