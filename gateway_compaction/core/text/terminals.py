"""Output of terminals, interpreters and version control, told by its form: prompts, commits, differences.

A prompt is told by what surrounds its sign: who is where (``me@box:~/x$``), a drive (``C:\\x>``), an
environment (``(venv) $``), the name of an interpreter (``mysql>``). A sign alone is one only where no text
begins so: ``$ ls`` and ``>>> f(x)``, but not ``# a heading`` and not ``> a quotation``.
"""

from __future__ import annotations

import regex

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
    r"|(?:\d{1,3}\.){3}\d{1,3}:\d+>|\((?:i?pdb\+*|gdb|lldb|[Pp]db)\)"
    r")[ \t]*+[^\s<>=]"
    rf"|[ \t]*{_ENVIRONMENT}\$ [a-z./~\"'({{]"
)
# What an interpreter shows, as documents quote it too: an example ends with its paragraph.
INTERPRETER = regex.compile(r"[ \t]*(?:>>>|In \[\d+\]:|Out\[\d+\]:)(?:[ \t]|$)")
SIGNS = frozenset("$#%>❯➜λ")
# What its lines begin with.
EXAMPLES = frozenset((">>", "In", "Ou"))
# A commit as ``git log`` prints it, and the head of a difference.
VERSION_CONTROL = regex.compile(
    r"commit [0-9a-f]{7,40}(?: \(|[ \t]*$)|diff --git \S|Index: \S+[ \t]*$"
    # 3f1c0a9 (HEAD -> main) ..., 3f1c0a9d (Bob 2025-11-03 10:12:01 +0100 1) ...
    r"|\^?[0-9a-f]{7,12} \((?:HEAD|tag: |origin/|[^()\n]{2,60} \d{4}-\d\d-\d\d )"
)
HEADS = frozenset(("commit ", "diff --", "Index: "))
HEXADECIMAL = frozenset("0123456789abcdef^")


def is_terminal_line(line: str) -> bool:
    """Tell whether a line begins what a terminal or version control has printed."""
    if is_version_control(line):
        return True
    has_sign = not SIGNS.isdisjoint(line) or line.lstrip()[:1] == "("
    return has_sign and PROMPT.match(line) is not None


def is_version_control(line: str) -> bool:
    """Tell whether a line begins a commit or a difference."""
    head = line[:7]
    return (head in HEADS or HEXADECIMAL.issuperset(head)) and VERSION_CONTROL.match(line) is not None


def is_interpreter_line(line: str) -> bool:
    """Tell whether a line is the prompt or the result of an interpreter, as examples show them."""
    return line.lstrip()[:2] in EXAMPLES and INTERPRETER.match(line) is not None
