"""Secrets that are told by what stands before them: ``DB_PASSWORD=…``, "비밀번호는 …", ``x-api-key: …``.

The word before it says what a value is for, so it needs no format of its own. It must be no placeholder, no
code and no plain word, of which documentation, tests and dialogues are full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gateway_compaction.core.redaction.formats import is_placeholder, is_random

# Words for a password in lower case, in whatever longer name they stand (``DB_PASSWORD``).
PASSWORD_WORDS = (
    *("password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "contraseña", "contrasena"),
    *("senha", "mot de passe", "пароль", "비밀번호", "패스워드", "비번", "암호", "パスワード", "暗証番号"),
    *("密码", "密碼", "口令"),
)
# The same, too short to be one within another word: only an underscore or a capital may part them from it.
SHORT_WORDS = ("pwd", "pass", "pw")
# Words for a key or a token.
KEY_WORDS = (
    *("secret", "token", "apikey", "api_key", "api-key", "api key", "accesskey", "access_key", "access-key"),
    *("access key", "privatekey", "private_key", "private-key", "private key", "signing_key", "signingkey"),
    *("signing key", "encryption_key", "encryptionkey", "encryption key", "master_key", "masterkey"),
    *("master key", "account_key", "accountkey", "account key", "auth_key", "authkey", "auth key"),
    *("credential", "license_key", "license key", "service_key", "service key"),
    *("시크릿", "토큰", "인증키", "인증 키", "액세스키", "액세스 키", "접근 키"),
    *("개인키", "개인 키", "비밀키"),
    *("비밀 키", "api키", "api 키", "トークン", "シークレット", "apiキー", "密钥", "令牌"),
)

# The rest of the name, or the word that follows it ("secret key", "시크릿 키").
TAIL = r"(?P<tail>[A-Za-z0-9_.-]{0,24}?)(?:[ _]?(?:[Kk]ey|KEY|키|キー|값|value))?"
# Between a name and what assigns to it may stand for what or whom it is.
ABOUT = r"(?:\s?\([^()\n]{1,40}\)|\s(?:for|of|on|to|für|de|del|para)\s[^\n:=\"'`]{1,40}?)?"
# What stands between a name and its value: an assignment of code, data or a file of settings …
ASSIGNS = (
    r"\\?[\"']?\s?[,{]?\s{1,20}-?\s?\\?[\"']?(?:value|default)\\?[\"']?\s{0,3}[:=]\s{0,3}"
    r"|\\?[\"'`\])]{0,2}\s{0,3}(?:=>|:=|={1,3}|:|：|＝|→|->)\s{0,3}"
    r"|\\?[\"']\s{0,3},\s{0,3}(?=\\?[\"'])"
    r"|[\"']?\s{0,3}value\s{0,2}=\s{0,2}(?=[\"'])|>(?=[^\s<]+</)"
)
# … or a sentence.
SAYS = (
    r"\s(?:[\w./-]{1,30}\s){0,6}?(?:is|was|are|to|from|ist|lautet|es|est|é|это)(?:\s(?:now|set to))?"
    r"(?:\s|\s?:\s)"
    r"|\s?(?:는|은|가|이|를|을|로|は|が|を|是|为|為)\s{0,2}(?::\s{0,2})?"
)
QUOTE = r"\s{0,2}(?P<quote>[bBrRuU]?\\?(?:[\"'`]|“|‘|「)|\*\*)?"
VALUE = r"(?P<value>[!-~]{4,256})"
ASSIGNED = re.compile(rf"(?a){TAIL}{ABOUT}(?:{ASSIGNS}){QUOTE}{VALUE}")
SAID = re.compile(rf"(?a){TAIL}(?:{SAYS}){QUOTE}{VALUE}")
BESIDE = re.compile(rf"(?a){TAIL}[^\S\n]{{1,2}}{QUOTE}{VALUE}")
REST = re.compile(r"[A-Za-z0-9+/=_.~-]*")
# A second value behind one that was found: it was changed to that.
CHANGED = re.compile(rf"(?a)\\?[\"'`]?\s{{1,2}}(?:to|->|→|에서)\s{{1,2}}{QUOTE}{VALUE}")
# Two words in a row after the word for an account: who, and the password.
ACCOUNT = re.compile(
    r"(?ai)[^\S\n]{0,2}(?:s|name|정보|/\s?pw)?[^\S\n]{0,2}(?:[:=]|은|는|is|are|with)[^\S\n]{0,2}"
    r"[\"'`]?[\w.@-]{2,40}[\"'`]?[^\S\n]{0,2}[/:][^\S\n]{0,2}[\"'`]?(?P<secret>[!-~]{6,100})"
)
ACCOUNT_WORDS = ("account", "credential", "login", "user", "id", "계정", "아이디", "접속", "로그인")
# The same where the account is the machine's own.
OWNER = re.compile(r"[:/](?P<secret>[!-~]{6,100})")
OWNERS = ("admin", "root", "administrator", "관리자")
# Where a value ends that begins with a quote, and one that does not.
QUOTED_END = re.compile(r"\\?[\"'`]|\*\*|</|\\[nrt]")
BARE_END = re.compile(
    r"[\"'`<>]|\\[nrt\"']|[,;)\]}]+(?=[\s,;)\]}]|$)|(?<=[\w=])[,;)\]}](?=[\"'])|[;&](?=\w+=)|\*\*"
)
TRAILING = ".,;:)]}\\"

# Names of something else: a count, a place, a word of grammar.
OTHER_TAIL = re.compile(
    r"(?i)s|.*(?:[_.-]|(?<=[a-z]))(?:file|path|dir|ur[li]|ids?|names?|types?|count|len|length|limit|expir\w*"
    r"|fields?|policy|arn|at|index|class|version|usage|used|budget|reset\w*|hint|strength|manager|required)"
    r"|i[sz]\w*|s?_per_.*|[-_]?based.*"
)
OTHER_HEAD = re.compile(
    r"(?i)(?:.*[_-])?(?:page|next|sync|continuation|delta|cursor|max|min|max_new|prompt|completion|total"
    r"|input|output|num|stop|eos|bos|pad|special|start|end|sep|mask|cancel(?:l?ation)?|by)[ _-]?"
)
HEAD_CHARS = 16
# Code on the right of an assignment: a call, an attribute, an index, a path, an address.
CODE = re.compile(
    r"[A-Za-z_][\w.]*[(\[].*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[~.]{0,2}/.*|[A-Za-z]:\\.*|.*://.*|.*[$%]\{.*"
    r"|[a-z_]*(?:password|token|secret|key|passwd)[a-z_]*\d{0,2}|[A-Z_]*(?:PASSWORD|TOKEN|SECRET|KEY)[A-Z_]*"
    r"|[&|=+*/<>!.-]+.{0,3}|[\w-]{1,40}=[^=\s].*|0[xX][0-9A-Fa-f]{1,8}"
)
# Words that stand in the place of a password and are none.
PLAIN_WORDS = frozenset(
    "required optional missing invalid incorrect wrong correct unknown unset hidden changed expired disabled"
    " enabled hashed encrypted plaintext default example number boolean object integer varchar password"
    " passwords authentication reset forgot strong weak secure changeme please anonymous testing secrets"
    " tokens".split()
)
# Four words or more, as generators of passphrases join them.
HYPHENS = re.compile(r"[A-Za-z]{3,}(?:[-_.][A-Za-z]{3,}){3,}")
SETTING = re.compile(r"[ \t]*(?:export\s+|set\s+|env\s+|- )?[\w.-]*")
SYMBOL = re.compile(r"[!@#$%^&*+?~]")
RUN = re.compile(r"[A-Za-z0-9+/]{8,}")
UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T.*)?|\d{1,2}:\d\d.*|v?\d+(?:\.\d+)+")
# Characters: shorter ones are words, PINs and counts, longer ones are texts.
LEAST_PASSWORD, LEAST_KEY, LEAST_BESIDE, LONGEST = 6, 12, 20, 2_000
LEAST_DIGITS = 4

KINDS = {"secret": "secret", "시크릿": "secret"} | dict.fromkeys(
    ("token", "토큰", "トークン", "令牌"), "token"
)
# Beside these a UUID is a key; a token that is a UUID may as well be the name of something.
UUID_WORDS = frozenset(word for word in KEY_WORDS if "key" in word or "키" in word or word == "secret")
HEADERS = ("bearer ", "basic ", "authorization", "cookie")
BEARER = re.compile(r"(?ai)\bbearer\s{1,3}(?P<secret>[\w.~+/-]{16,}={0,2})")
BASIC = re.compile(
    r"(?ai)\bauthorization\\?[\"']?\s{0,2}[:=,]\s{0,2}\\?[\"']?basic\s+(?P<secret>[A-Za-z0-9+/]{8,}={0,2})"
)
AUTHORIZATION = re.compile(
    r"(?ai)\bauthorization\\?[\"']?\s{0,2}[:=]\s{0,2}\\?[\"']?(?:token\s+|apikey\s+|key\s+)?"
    r"(?P<secret>[\w.~+/-]{20,}={0,2})"
)
COOKIE = re.compile(r"(?ai)\bcookie\\?[\"']?\s{0,2}:\s{0,2}\\?[\"']?(?P<cookies>[^\n\"']{8,4000})")
COOKIE_VALUE = re.compile(r"[\w.-]{1,60}=(?P<secret>[^\s;=]{16,}={0,2})")


class _Reading(NamedTuple):
    """The sort of value that is looked for behind a word."""

    kind: str
    is_password: bool
    may_be_uuid: bool


READINGS: tuple[tuple[str, _Reading], ...] = (
    *((word, _Reading("password", True, False)) for word in (*PASSWORD_WORDS, *SHORT_WORDS)),
    *((word, _Reading(KINDS.get(word, "api-key"), False, word in UUID_WORDS)) for word in KEY_WORDS),
)


def find_assignments(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of every secret that the words before it tell."""
    lower = _to_lower(text)
    for word, reading in READINGS:
        at = lower.find(word)
        while at >= 0:
            behind = at + len(word)
            if word not in SHORT_WORDS or _stands_alone(text, at, behind):
                for start, end in _read_values(text, at, behind, reading):
                    yield start, end, reading.kind
            at = lower.find(word, behind)
    if any(header in lower for header in HEADERS):
        yield from _find_headers(text)
    if "/" in text or ":" in text:
        yield from _find_accounts(text, lower)


def find_named_value(name: str, value: str) -> str | None:
    """Return the kind of secret that the whole value of a field is, by the field's name; None for none."""
    lower = _to_lower(name)
    if not any(word in lower for word in (*PASSWORD_WORDS, *KEY_WORDS)):
        return "password" if lower in SHORT_WORDS and _is_password(value, "assigned", is_whole=True) else None
    if len(value) > LONGEST:
        return None
    whole = (len(name) + 5, len(name) + 5 + len(value))
    found = find_assignments(f'"{name}": "{value}"')
    return next((kind for start, end, kind in found if (start, end) == whole), None)


def _find_headers(text: str) -> Iterator[tuple[int, int, str]]:
    for pattern, kind in ((BEARER, "bearer-token"), (BASIC, "basic-auth"), (AUTHORIZATION, "authorization")):
        for match in pattern.finditer(text):
            value = match["secret"]
            if (kind == "basic-auth" or is_random(value)) and not is_placeholder(value):
                yield (*match.span("secret"), kind)
    for cookie in COOKIE.finditer(text):
        for match in COOKIE_VALUE.finditer(text, *cookie.span("cookies")):
            if is_random(match["secret"]):
                yield (*match.span("secret"), "cookie")


def _read_values(text: str, at: int, behind: int, reading: _Reading) -> Iterator[tuple[int, int]]:
    """Yield where the values of a name begin and end: mostly none; two where one was changed to another."""
    head = _head_of(text, at)
    if not reading.is_password and OTHER_HEAD.fullmatch(head):
        return
    beside = "assigned" if head.startswith("--") else "beside"
    for pattern, place in ((ASSIGNED, "assigned"), (SAID, "said"), (BESIDE, beside)):
        match = pattern.match(text, behind)
        if match is None or OTHER_TAIL.fullmatch(match["tail"]):
            continue
        is_line = place == "assigned" and _is_setting(text, at)
        is_listed = "," in text[behind : match.start("value")]
        span = _read_value(text, match, reading, place, is_line=is_line, is_listed=is_listed)
        if span is None:
            continue
        yield span
        match = CHANGED.match(text, span[1])
        if match is not None:
            span = _read_value(text, match, reading, place)
            if span is not None:
                yield span
        return


def _read_value(
    text: str,
    match: re.Match[str],
    reading: _Reading,
    place: str,
    *,
    is_line: bool = False,
    is_listed: bool = False,
) -> tuple[int, int] | None:
    """Return where a value begins and ends, None where it is no secret."""
    start, quote = match.start("value"), match["quote"] or ""
    value = _cut_value(match["value"], quote)
    end = start + len(value)
    if reading.is_password:
        is_alone = is_line and (end >= len(text) or text[end] in "\r\n")
        found = _is_password(value, place, is_whole=is_alone or bool(quote and not is_listed))
    else:
        found = _is_key(value, place, may_be_uuid=reading.may_be_uuid)
    if not found:
        return None
    # Longer than what is looked at: a secret goes on for as long as it does.
    rest = REST.match(text, end) if end == match.end("value") else None
    return start, rest.end() if rest else end


def _cut_value(value: str, quote: str) -> str:
    """Return a value up to its closing quote, or up to where it ends without one."""
    end = (QUOTED_END if quote else BARE_END).search(value)
    value = value[: end.start()] if end else value
    return value if quote and end else value.rstrip(TRAILING)


def _is_plain(value: str) -> bool:
    """Tell whether a value is a placeholder, code, or a date."""
    return bool(
        len(value) > LONGEST or is_placeholder(value) or CODE.fullmatch(value) or DATE.fullmatch(value)
    )


def _is_password(value: str, place: str, *, is_whole: bool) -> bool:
    """Tell whether what stands at the place of a password is one.

    Args:
        value: what stands there.
        place: ``assigned``, ``said`` in a sentence, or only ``beside`` the word.
        is_whole: it stands in quotes, or alone on its line: there a plain word may be one.
    """
    if _is_plain(value):
        return False
    if value.isdigit():
        return (
            place != "beside"
            and len(value) >= LEAST_DIGITS
            and (place == "assigned" or len(value) > LEAST_DIGITS)
        )
    has_digit, has_letter = any(c.isdigit() for c in value), any(c.isalpha() for c in value)
    if len(value) < LEAST_PASSWORD or not has_letter:
        return False
    if place == "beside":
        return has_digit and is_random(value)
    if has_digit or HYPHENS.fullmatch(value):
        return True
    if SYMBOL.search(value.rstrip("!?")) is not None:
        return len(set(value)) >= LEAST_PASSWORD
    return place == "assigned" and is_whole and value.isalpha() and value.lower() not in PLAIN_WORDS


def _is_key(value: str, place: str, *, may_be_uuid: bool) -> bool:
    """Tell whether what stands at the place of a key or token is one."""
    if _is_plain(value) or len(value) < (LEAST_BESIDE if place == "beside" else LEAST_KEY):
        return False
    if UUID.fullmatch(value):
        return may_be_uuid and place != "beside"
    return is_random(value) and any(_is_mixed(run) for run in RUN.findall(value))


def _is_setting(text: str, at: int) -> bool:
    """Tell whether nothing but a name stands before a position in its line, as in a file of settings."""
    return SETTING.fullmatch(text, text.rfind("\n", 0, at) + 1, at) is not None


def _find_accounts(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Yield the passwords that stand behind the name of their account, as in ``admin / …``."""
    for words, pattern in ((ACCOUNT_WORDS, ACCOUNT), (OWNERS, OWNER)):
        for word in words:
            at = lower.find(word)
            while at >= 0:
                behind = at + len(word)
                match = pattern.match(text, behind)
                # A path or an address may hold such a word too.
                if match is not None and (at == 0 or text[at - 1] not in "/.:-@"):
                    value = _cut_value(match["secret"], "")
                    if not _is_plain(value) and SYMBOL.search(value) and any(c.isdigit() for c in value):
                        yield match.start("secret"), match.start("secret") + len(value), "password"
                at = lower.find(word, behind)


def _is_mixed(run: str) -> bool:
    return any(c.isdigit() for c in run) and any(c.isalpha() for c in run)


def _head_of(text: str, at: int) -> str:
    """Return the part of a name that stands before a position in it."""
    start = at
    while start > 0 and at - start < HEAD_CHARS and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    return text[start:at]


def _stands_alone(text: str, at: int, behind: int) -> bool:
    before, after = text[at - 1] if at else " ", text[behind] if behind < len(text) else " "
    begins = not before.isalnum() or (before.islower() and text[at].isupper())
    return begins and not (after.isalnum() and after.isascii())


def _to_lower(text: str) -> str:
    """Return a text in lower case, as long as it was: a few capitals become two characters."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c if len(c.lower()) != 1 else c.lower() for c in text)
