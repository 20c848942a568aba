"""The state of a client's work as the client tells it: no reader of the conversation could know it for sure.

A client sends it as ``metadata.session_state``. It is stored with the session, so that a later conversation
can begin where this one ended. Whatever a client sends is read: what cannot be used is left out and told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

# Characters of a project, a plan, a task or a directory, and of one decision or file.
LONGEST_VALUE = 500
LONGEST_ITEM = 400
# The last decisions and the first files that are kept.
MOST_DECISIONS = 20
MOST_FILES = 50
# Characters of a state that comes as a JSON text; longer ones are not parsed.
LONGEST_TEXT = 50_000

VALUES = ("project", "plan", "task", "cwd")
LISTS: Mapping[str, int] = {"decisions": MOST_DECISIONS, "files": MOST_FILES}
# Names under which an object says what it is called: many clients have plans and tasks as objects.
TITLES = ("title", "name", "id")
UNSHOWN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class ClientState:
    """The work that a conversation is about, as its client told it last.

    Attributes:
        project: what the work belongs to.
        plan: the active plan.
        task: the active task.
        decisions: what was decided, the latest last.
        files: the files that are open.
        cwd: the working directory.
        since: number of messages after the preamble at which plan or task last changed; a running summary
            begins there. The gateway notes it; a client cannot set it.
    """

    project: str = ""
    plan: str = ""
    task: str = ""
    decisions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    cwd: str = ""
    since: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the state in plain JSON types; what is empty is left out."""
        return {name: value for name, value in asdict(self).items() if value}

    def find_changes(self, new: ClientState, names: Collection[str]) -> tuple[str, ...]:
        """Return which of some fields another state has with another value; from or to nothing is none."""
        both = ((name, getattr(self, name), getattr(new, name)) for name in names)
        return tuple(name for name, old, now in both if old and now and old != now)

    def map_texts(self, change: Callable[[str], str]) -> ClientState:
        """Return the state with every text changed, such as masked."""
        return ClientState(
            project=change(self.project),
            plan=change(self.plan),
            task=change(self.task),
            decisions=tuple(map(change, self.decisions)),
            files=tuple(map(change, self.files)),
            cwd=change(self.cwd),
            since=self.since,
        )

    def follow(self, new: ClientState, names: Collection[str], messages: int) -> ClientState:
        """Return the state that a client tells now, with the message at which its work last changed."""
        return replace(new, since=messages if self.find_changes(new, names) else self.since)


def read_client_state(raw: Any) -> tuple[ClientState | None, tuple[str, ...]]:
    """Read what a client sent as its state: an object, or the same as a JSON text.

    Returns:
        The state, None where nothing of it can be used, and what was left out and why.
    """
    if isinstance(raw, str):
        raw = _parse(raw)
    if not isinstance(raw, Mapping):
        return None, ("it is no object",)
    values: dict[str, Any] = {}
    faults = [f"{_one_line(str(name), 40)} is not a part of it" for name in raw if name not in _NAMES]
    for name in VALUES:
        value = _read_title(raw.get(name))
        if value is None:
            faults.append(f"{name} is no text")
        values[name] = _one_line(value or "", LONGEST_VALUE)
    for name, most in LISTS.items():
        items = [raw[name]] if isinstance(raw.get(name), str) else raw.get(name) or ()
        texts = [_read_title(item) for item in items] if isinstance(items, list | tuple) else [None]
        if None in texts:
            faults.append(f"{name} is no list of texts")
        kept = dict.fromkeys(_one_line(text, LONGEST_ITEM) for text in texts if text and text.strip())
        values[name] = tuple(kept)[-most:] if name == "decisions" else tuple(kept)[:most]
    state = ClientState(**values)
    return (state if state.to_dict() else None), tuple(faults)


def restore_client_state(raw: Any) -> ClientState | None:
    """Return a state as it was stored, with the message at which the work last changed; None for none."""
    state, _ = read_client_state(raw)
    stored = _parse(raw) if isinstance(raw, str) else raw
    since = stored.get("since") if isinstance(stored, Mapping) else None
    if state is None or type(since) is not int or since < 0:
        return state
    return replace(state, since=since)


def encode_client_state(state: ClientState) -> str:
    """Return a state as it is stored."""
    return json.dumps(state.to_dict(), ensure_ascii=False, separators=(",", ":"))


# ``since`` is known and ignored: a client may send back what it was shown.
_NAMES = frozenset({*VALUES, *LISTS, "since"})


def _parse(text: str) -> Any:
    try:
        return json.loads(text) if len(text) <= LONGEST_TEXT else None
    except (ValueError, RecursionError):
        return None


def _read_title(value: Any) -> str | None:
    """Return a text, or how an object calls itself; empty where nothing is told, None where it is neither."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in TITLES if isinstance(value.get(name), str)), value)
    if value is None:
        return ""
    return value if isinstance(value, str) else None


def _one_line(text: str, most: int) -> str:
    # Read no further than what can be kept: a client may send megabytes.
    return UNSHOWN.sub(" ", text[: 4 * most]).strip()[:most]
