"""Showing addresses and other people's error texts without the passwords and keys in them.

Libraries repeat in their errors what they could not read. A password with a ``#`` or a ``/`` in it ends the
host of a URL in its middle, so that a part of it is repeated as a port or a host that nobody knows. So no
error text of a library about an address, or about a file that may hold keys, is passed on as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

ENCODE = "percent-encode the user and the password (# is %23, / is %2F, ? is %3F, @ is %40)"
UNREADABLE = "an address that cannot be read"

# What a library quotes of its input. One character alone (``found character '@'``) tells nothing, and PyYAML
# names its own tokens so (``'<block end>'``).
QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
HARMLESS = re.compile(r".?|<[a-z ]+>")

# As PyYAML spells a tab in its errors.
TAB = repr("\t")
TAB_TOLD = "a tab stands here: use spaces, YAML takes no tabs to indent"

# What is meant for a user and a password in the path of a socket: unix:///:password@/run/redis.sock.
BEFORE_SOCKET = re.compile(r":[^@]*@|@/")

# Values shorter than this are words of every text.
LEAST_SECRET = 4


def find_address_fault(url: str) -> str | None:
    """Return what is wrong with a URL that nobody can connect to as it was meant, in words without any of it.

    A raw ``#``, ``?`` or ``/`` in a password does not always make a URL unreadable: the beginning of the
    password may pass for a host or a port. Then an ``@`` stands where no address has one.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it is what may fail
    except ValueError:
        return f"its host and port cannot be read; {ENCODE}"
    loose = "@" in parts.path or any("@" in item.partition("=")[0] for item in parts.query.split("&"))
    # The path of a socket may hold one; where it has a user or a password, they stand before the path.
    misplaced = bool(BEFORE_SOCKET.search(parts.path)) if parts.scheme == "unix" else loose
    if "#" in url or misplaced:
        return f"a # in it, or an @ behind its host: {ENCODE}"
    return None


def hide_password(url: str) -> str:
    """Return the URL, fit to be shown; nothing of one that cannot be read."""
    if find_address_fault(url) is not None:
        return UNREADABLE
    parts = urlsplit(url)
    user, _, address = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    # Without a colon it may be a password that was taken for a user.
    shown = f"{name}:***@{address}" if colon else f"***@{address}" if user else address
    return urlunsplit((parts.scheme, shown, parts.path, "", ""))


def strip_quoted(text: str) -> str:
    """Return an error text of a library without what it quotes."""

    def show(quoted: re.Match[str]) -> str:
        return quoted[0] if HARMLESS.fullmatch(quoted[1] or quoted[2] or "") else "(not shown)"

    return QUOTED.sub(show, " ".join(text.split()))


def describe_yaml_problem(text: str) -> str:
    """Return what PyYAML says is wrong, without what it quotes; a tab in plain words.

    It says of a tab that it "cannot start any token", which nobody takes for the invisible character.
    """
    return TAB_TOLD if TAB in text else strip_quoted(text)


def strip_values(text: str, values: Any) -> str:
    """Return an error text of a library without some values, nested ones too, nor what they are made of.

    The longest go first: a part of one would leave the rest of it standing.
    """
    whole = {value for value in _list_scalars(values) if len(value) >= LEAST_SECRET}
    pieces = {piece for value in whole for piece in re.findall(r"\w+", value) if len(piece) >= LEAST_SECRET}
    for secret in sorted(whole | pieces, key=len, reverse=True):
        text = text.replace(secret, "(not shown)")
    return text


def _list_scalars(value: Any) -> Iterator[str]:
    """List the texts and numbers in a value, as they are written."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _list_scalars(inner)
    elif isinstance(value, list | tuple | set):
        for inner in value:
            yield from _list_scalars(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
