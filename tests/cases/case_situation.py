"""What a case's policy text says, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["CaseSituation", "Fallback", "Stored", "Summariser"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A summary that is in the store before the first request.

    Attributes:
        text: what it says; None for a short one.
        words: how long it is instead.
        turns: how many turns it covers; None for all but the last ``keep_last`` messages.
        edited: what the first message of its history said instead of the request's.
        team: whose it is; None for the caller's own.
    """

    text: str | None = None
    words: int | None = None
    turns: int | None = None
    edited: str | None = None
    team: str | None = None


@dataclass(frozen=True, slots=True)
class Summariser:
    """How the summariser model answers; ``stated`` where the case itself says so.

    Attributes:
        texts: its answers in turn, the last one again and again.
        blocks: content blocks instead of a text; ``form``: as they are, in the chat API's own fields, or
            those without the text.
        status: the error it answers with.
        seconds: how long it takes.
        echoes: what it repeats from its input.
        reflects: its answer names every mark of its input.
        words: an answer of so many words.
        calls_tool: it answers with a tool call; ``is_cut``: with the finish reason ``length``.
    """

    texts: tuple[str, ...] = ("SUM-STUB the earlier part was settled.",)
    blocks: tuple[Mapping[str, Any], ...] = ()
    form: Literal["blocks", "fields", "thoughts"] = "blocks"
    status: int | None = None
    seconds: float = 0.0
    echoes: str | None = None
    reflects: bool = False
    words: int | None = None
    calls_tool: bool = False
    is_cut: bool = False
    stated: bool = False


@dataclass(frozen=True, slots=True)
class Fallback:
    """The model group that the router falls back to."""

    model: str
    window: int


@dataclass(frozen=True, slots=True)
class CaseSituation:
    """The situation of a case.

    Attributes:
        window: of the policy; ``model_window`` that of the deployment.
        rewrites_at, fits_at: shares of the window of the two levels that rewrite.
        preseeded: unless stated otherwise a short summary is in the store before the first request.
        unstored: stated otherwise: none is.
        stored: what is in the store before the first request, where the case itself says so.
        old_system: the system prompt of earlier requests.
        held_turns: a summary of so many turns is being made while the request comes in.
        main_chat: text of the stored summary of another chat with the same conversation id.
        rival: how a simultaneous request ends.
        twin: how a similar chat begins.
        team: whose key is used.
        probes: what a callback beside the plugin does; ``twice``: the pre-call hook is called twice with the
            same data, ``again``: its success callback twice, ``gc``: garbage is collected.
        unknown: phrases that were not understood.
    """

    window: int | None = None
    model_window: int | None = None
    output_tokens: int | None = None
    keep_last: int | None = None
    rewrites_at: float | None = None
    fits_at: float | None = None
    summary_tokens: int | None = None
    enabled: bool = True
    global_policy: bool = False
    preseeded: bool = False
    unstored: bool = False
    stored: tuple[Stored, ...] = ()
    summariser: Summariser = Summariser()
    old_system: str | None = None
    held_turns: int | None = None
    repeats: int = 1
    turns: int = 1
    updates: int = 0
    conversations: int = 1
    redis: Literal["up", "hung", "closed", "oom"] = "up"
    fallback: Fallback | None = None
    main_failure: int | None = None
    fails_once: int | None = None
    response_cache: bool = False
    twin: str | None = None
    rival: str | None = None
    main_chat: str | None = None
    team: str | None = None
    cut_stream: str | None = None
    no_callback: bool = False
    budget_tokens: int | None = None
    probes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
