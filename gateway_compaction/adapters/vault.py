"""Texts of conversations as they are stored: in clear, or sealed with a key that the store does not have.

Each text is sealed on its own (AES-256-SIV) and bound to its tenant, its session and its place: moved
elsewhere, or changed, it cannot be opened. A text has one sealed form, so that what is stored twice is stored
alike and a pin can be found again. What is needed to find and count records (digests, numbers, times, hashed
names) stays in clear.

A ring of keys makes rotation possible: the first one seals, all of them open. What cannot be opened counts as
absent, like a record that was evicted.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA512
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway_compaction.core.records.compaction import Compaction, Segment, SessionRef
from gateway_compaction.errors import StoreError

log = logging.getLogger("gateway_compaction")

# How a sealed text begins; the name of its key and the sealed bytes in base64 follow.
SEALED = "gwc-sealed:1:"
PURPOSE = b"gateway_compaction: content at rest, version 1"
SIGN_IN_PURPOSE = b"gateway_compaction: key of a sign-in, version 1"
# Bytes: of a key as it is given, and of the one that AES-256-SIV takes.
LEAST_KEY = 32
CIPHER_KEY = 64
NAME_CHARS = 8
SEPARATORS = re.compile(r"[\s,]+")
REMEDY = "write 32 bytes or more in base64, as `openssl rand -base64 32` prints them; the first key seals"


class Vault:
    """Seals and opens the texts of sessions; one for each process. Without keys nothing is sealed."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._ciphers = {name_key(key): AESSIV(_derive(key)) for key in keys}
        self.key_names = tuple(self._ciphers)
        self._told: set[str] = set()

    @property
    def is_sealing(self) -> bool:
        """Whether what is stored from now on is sealed."""
        return bool(self._ciphers)

    def seal(self, text: str, session: SessionRef, place: str) -> str:
        """Return a text as it is stored at a place of a session."""
        if not self._ciphers:
            return text
        name = self.key_names[0]
        sealed = self._ciphers[name].encrypt(_encode(text), _bind(session, place))
        return f"{SEALED}{name}:{base64.b64encode(sealed).decode()}"

    def open(self, stored: str, session: SessionRef, place: str) -> str | None:
        """Return the text that stands at a place of a session; None where it cannot be opened."""
        if not stored.startswith(SEALED):
            return stored
        name, _, body = stored.removeprefix(SEALED).partition(":")
        cipher = self._ciphers.get(name)
        if cipher is None:
            known = name if re.fullmatch(r"[0-9a-f]{8}", name) else "?"
            self._tell_unopened(f"it was sealed with key {known}, which is not given")
            return None
        try:
            text = cipher.decrypt(base64.b64decode(body, validate=True), _bind(session, place))
        except (InvalidTag, ValueError):
            self._tell_unopened(f"key {name} does not open it: it was changed, or moved")
            return None
        return text.decode("utf-8", "surrogatepass")

    def seal_record(self, compaction: Compaction, session: SessionRef) -> Compaction:
        """Return a compaction as it is stored."""
        if not self._ciphers:
            return compaction
        texts = [self.seal(s.text, session, _place_of(compaction, s)) for s in compaction.segments]
        return _with_texts(compaction, texts)

    def open_record(self, stored: Compaction, session: SessionRef) -> Compaction | None:
        """Return a compaction that was stored; None where one of its texts cannot be opened."""
        if not any(s.text.startswith(SEALED) for s in stored.segments):
            return stored
        texts = [self.open(s.text, session, _place_of(stored, s)) for s in stored.segments]
        known = [text for text in texts if text is not None]
        return _with_texts(stored, known) if len(known) == len(texts) else None

    def open_all(self, stored: Sequence[str], session: SessionRef, place: str) -> tuple[str, ...]:
        """Return those of some texts that can be opened."""
        texts = (self.open(text, session, place) for text in stored)
        return tuple(text for text in texts if text is not None)

    def conceal_reason(self, reason: str) -> str:
        """Return what is stored of the reason of a failure: a provider's error may quote the conversation."""
        return reason.partition(":")[0] if self._ciphers else reason

    def _tell_unopened(self, why: str) -> None:
        # Once for each key: there may be thousands of records.
        if why not in self._told and len(self._told) < 100:
            self._told.add(why)
            log.warning("store: a text counts as absent, %s (GATEWAY_COMPACTION_ENCRYPTION_KEYS)", why)


def read_keys(text: str | None, file: Path | None) -> tuple[bytes, ...]:
    """Return the keys of the ring, in order, from the environment or from a file.

    Raises:
        StoreError: one of them cannot be used, or the file cannot be read; the text repeats no key.
    """
    if text and file:
        raise StoreError("encryption: name the keys or a file of them, not both")
    if file is not None:
        try:
            text = file.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise StoreError(f"encryption: {file} cannot be read ({type(error).__name__})") from None
        if not text.strip():
            raise StoreError(f"encryption: {file} holds no key; {REMEDY}")
    keys = []
    for number, word in enumerate(filter(None, SEPARATORS.split(text or "")), 1):
        try:
            key = base64.b64decode(word, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if len(key) < LEAST_KEY:
            raise StoreError(f"encryption: key {number} cannot be used; {REMEDY}")
        keys.append(key)
    return tuple(keys)


def name_key(key: bytes) -> str:
    """Return the name by which records tell with which key they were sealed; it tells nothing of the key."""
    return hashlib.sha256(PURPOSE + _derive(key)).hexdigest()[:NAME_CHARS]


def name_sign_in(secret: str) -> str:
    """Return the name under which a sign-in is stored; the secret, which a browser has, does not follow."""
    return _derive_sign_in(secret)[0]


def seal_sign_in(secret: str, key: str) -> str:
    """Return an API key sealed with the secret of one sign-in.

    The store has no means to open it: without the browser's cookie it holds nothing that calls the proxy.
    """
    name, cipher = _derive_sign_in(secret)
    return base64.b64encode(cipher.encrypt(_encode(key), [SIGN_IN_PURPOSE, name.encode()])).decode()


def open_sign_in(secret: str, sealed: str) -> str | None:
    """Return the API key of a sign-in; None where the stored text was changed or belongs to another."""
    name, cipher = _derive_sign_in(secret)
    try:
        body = base64.b64decode(sealed, validate=True)
        return cipher.decrypt(body, [SIGN_IN_PURPOSE, name.encode()]).decode("utf-8", "surrogatepass")
    except (InvalidTag, ValueError):
        return None


def _derive_sign_in(secret: str) -> tuple[str, AESSIV]:
    derived = HKDF(SHA512(), CIPHER_KEY + 16, salt=None, info=SIGN_IN_PURPOSE).derive(_encode(secret))
    return derived[CIPHER_KEY:].hex(), AESSIV(derived[:CIPHER_KEY])


def _derive(key: bytes) -> bytes:
    return HKDF(SHA512(), CIPHER_KEY, salt=None, info=PURPOSE).derive(key)


def _bind(session: SessionRef, place: str) -> list[bytes]:
    return [PURPOSE, session.tenant.encode(), session.key.encode(), _encode(place)]


def _place_of(compaction: Compaction, segment: Segment) -> str:
    return f"summary {compaction.digest} {segment.start} {segment.end}"


def _with_texts(compaction: Compaction, texts: Sequence[str]) -> Compaction:
    pairs = zip(compaction.segments, texts, strict=True)
    return replace(compaction, segments=tuple(replace(s, text=text) for s, text in pairs))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
