"""Conversations that begin where others ended: the block is made at the first call, and found at later ones.

A client asks once, and from then on sends its own messages alone. So the block is kept under names that
later calls of the conversation have too: how it began and what was answered first, and the label that the
client sends, if it sends one, each bound to the caller, so that nobody else who begins alike is told of it.
A conversation that the gateway keeps has its id for a name, and needs no other. A client that asks at every
call is served as well: what is kept goes before what would be made anew, so that all calls of a
conversation begin with the same bytes.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from gateway_compaction.archive import Archive, Owner, Scope, SessionDetail
from gateway_compaction.core.conversation.digest import build_digest_chain, digest_history, fingerprint
from gateway_compaction.core.conversation.messages import Message, declared_role
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.endpoints.logged_answer import name_answer
from gateway_compaction.core.planning.context import build_detector
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import SessionRef, is_within
from gateway_compaction.core.records.controls import read_start
from gateway_compaction.core.records.restore_point import RestoredBlock, RestorePoint
from gateway_compaction.core.records.snapshots import NAME
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.redaction.marks import mask_text
from gateway_compaction.core.summary.restore import (
    build_restored_text,
    compute_restore_bounds,
    describe_source,
)
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.request import LABEL_CHARS, Request, read_wish
from gateway_compaction.errors import NotFound, SourceNotFound, TranscriptError

HEADER = "x-conversation-restore"
"""The header in which a client names the conversation that its new one is to go on from."""

OPENING_MESSAGES = 16
"""Messages at whose end a conversation may have begun: some clients open with a few examples."""

BLOCKS_KEPT = 500
"""Blocks that a process remembers, for the time in which the store does not answer."""

KEY = re.compile(r"[0-9a-f]{32}")
"""The own part of a session's id."""

LABELS_TRIED = 10
"""Sessions of one label that are looked at for one that is the caller's."""

UNKNOWN = "there is no conversation {name!r} that this key may go on from"


@dataclass(frozen=True, slots=True)
class Restored:
    """The block that a call begins with.

    Attributes:
        block: the block.
        tenant: whose the call is.
        opening: names the caller and its messages at this call; None where the conversation has an id.
        names: what the block is kept under besides the answer that this call gets.
        found: it was kept before; else this call began the conversation.
    """

    block: RestoredBlock
    tenant: str
    opening: str | None
    names: tuple[str, ...] = ()
    found: bool = False

    def name_with(self, answer: Message | None) -> tuple[str, ...]:
        """Return all names that the block is to be kept under, once the call was answered."""
        if answer is None or self.found or self.opening is None:
            return self.names
        return (*self.names, _name_answered(self.opening, answer))


class ConversationRestorer:
    """Finds or makes the blocks that conversations begin with. One for each process.

    Args:
        find_window: the tokens of the window of a model group, None where it is not known.
        executor: makes blocks, which may take some tenths of a second.
    """

    def __init__(
        self,
        parts: EngineParts,
        archive: Archive,
        find_window: Callable[[str, Policy], int | None],
        executor: Executor,
    ) -> None:
        self._store, self._counter, self._archive = parts.store, parts.counter, archive
        self._find_window, self._executor = find_window, executor
        self._tenants: frozenset[str] = frozenset()
        self._kept: OrderedDict[tuple[str, str], RestoredBlock] = OrderedDict()

    def concerns(self, tenant: str, headers: Mapping[str, str]) -> bool:
        """Tell, without a look at messages, whether a call may begin with a block: hardly any may."""
        return bool(headers.get(HEADER)) or tenant in self._tenants

    def set_tenants(self, tenants: frozenset[str]) -> None:
        """Look for restored conversations of these tenants, as ``NoticePoller`` hears of them."""
        self._tenants = tenants

    def forget(self, name: str) -> None:
        """Drop what tells of an erased session, or of the sessions of an erased tenant."""
        for key in [key for key, block in self._kept.items() if is_within(block.session, name)]:
            del self._kept[key]

    async def find(self, request: Request, policy: Policy) -> Restored | None:
        """Return the block that a call begins with, None where it begins with none.

        Raises:
            SourceNotFound: the client asks for what is not there, or is not its own.
            StoreError: the store does not answer.
        """
        try:
            history = parse_transcript(request.messages).history
        except TranscriptError:
            return None
        chain = build_digest_chain(digest_history(history[:OPENING_MESSAGES]))
        found = await self._find_kept(request, policy, history, chain)
        opening = None if request.conversation else _name_opening(request, chain[-1])
        if found is not None:
            block, name = found
            return Restored(block, request.tenant, opening, (name,), found=True)
        wanted = request.headers.get(HEADER, "").strip()
        if not wanted:
            return None
        detail, snapshot = await self._find_source(request, wanted, build_detector(policy))
        block = await asyncio.get_running_loop().run_in_executor(
            self._executor, self._make_block, detail, snapshot, request.model, policy
        )
        if opening is None:
            names: tuple[str, ...] = (_name_identified(request),)
        else:
            names = tuple(_name_labelled(label, opening) for label in _read_labels(request, policy))
        return Restored(block, request.tenant, opening, names)

    async def keep(self, restored: Restored, answer: Message | None, ttl: float | None) -> None:
        """Keep the block of an answered call for the later ones; without a ``ttl`` in this process alone."""
        names = restored.name_with(answer)
        for name in names:
            self._kept[restored.tenant, name] = restored.block
        while len(self._kept) > BLOCKS_KEPT:
            self._kept.popitem(last=False)
        self._tenants |= {restored.tenant}
        if ttl is not None and names:
            await self._store.keep_restored(restored.tenant, names, restored.block, ttl)

    async def _find_kept(
        self, request: Request, policy: Policy, history: Sequence[Message], chain: Sequence[str]
    ) -> tuple[RestoredBlock, str] | None:
        """Return the block of the conversation that a call goes on with, and the name it is kept under."""
        if request.conversation:
            names = [_name_identified(request)]
        else:
            answers = [i for i in range(1, len(chain) - 1) if declared_role(history[i]) == "assistant"]
            openings = {i: _name_opening(request, chain[i]) for i in answers}
            names = [_name_answered(openings[i], history[i]) for i in answers]
            labels = _read_labels(request, policy)
            names += [_name_labelled(label, openings[i]) for i in answers for label in labels]
        for name in names:
            if (block := self._kept.get((request.tenant, name))) is not None:
                return block, name
        found = await self._store.find_restored(request.tenant, names)
        if found is None:
            return None
        name, block = found
        self._kept[request.tenant, name] = block
        return block, name

    async def _find_source(
        self, request: Request, wanted: str, detector: Detector
    ) -> tuple[SessionDetail, RestorePoint | None]:
        """Return what a client names: a session, or behind an @ one of its snapshots.

        Where a session has no snapshot of that name, the whole may be a label.

        Raises:
            SourceNotFound: there is no such session or snapshot, or it is not the caller's.
        """
        name, at, moment = wanted.rpartition("@")
        if at and NAME.fullmatch(moment):
            detail = await self._find_session(request, name, detector)
            if detail is not None:
                try:
                    ref = detail.row.session
                    return detail, await self._archive.snapshot(Scope(everything=True), ref, moment)
                except NotFound:
                    pass
        detail = await self._find_session(request, wanted, detector)
        if detail is None:
            raise SourceNotFound(UNKNOWN.format(name=wanted[:LABEL_CHARS]))
        return detail, None

    async def _find_session(self, request: Request, wanted: str, detector: Detector) -> SessionDetail | None:
        """Return the session that a client names by its id or a label, of its own alone."""
        key = wanted.removeprefix(f"{request.tenant}.")
        named = [SessionRef(request.tenant, key)] if KEY.fullmatch(key) else []
        labelled = await self._store.find_labelled(request.tenant, mask_text(wanted, detector)[:LABEL_CHARS])
        for session in (*named, *labelled[:LABELS_TRIED]):
            try:
                detail = await self._archive.detail(Scope(everything=True), session)
            except NotFound:
                continue
            if may_restore(detail.row.owner, request.about):
                return detail
        return None

    def _make_block(
        self, detail: SessionDetail, snapshot: RestorePoint | None, model: str, policy: Policy
    ) -> RestoredBlock:
        bounds = compute_restore_bounds(
            self._find_window(model, policy), policy.restore.summary_chars, policy.restore.recent_tokens
        )
        point = snapshot or detail.make_restore_point()
        text = build_restored_text(point, bounds, lambda said: self._counter.raw_tokens(said, model))
        # Half a surrogate pair would be another character in the store.
        plain = text.encode("utf-8", "replace").decode()
        masked, known = mask_text(plain, build_detector(policy)), detail.steering.generation
        return RestoredBlock(point.session, describe_source(point), masked, read_start(known))


def find_reason_to_begin_anew(request: Request, policy: Policy) -> str | None:
    """Return why a conversation begins with no block, whatever its client asks for; None where it may."""
    if policy.mode != "enforce":
        return "the policy is off" if policy.mode == "off" else "the policy only observes"
    if request.endpoint not in policy.endpoints:
        return "this endpoint is switched off"
    if not policy.restore.allow:
        return "the policy does not allow it"
    if read_wish(request, policy) == "off":
        return "the client asked to be left alone"
    return request.left_alone or (request.managed if policy.provider_compaction == "leave" else None)


def may_restore(owner: Owner, about: Mapping[str, str]) -> bool:
    """Tell whether a caller may go on from a session of its tenant: its key's own, its user's, or nobody's.

    A team is one tenant, and its keys do not see each other's sessions: what they cannot read by the API,
    they must not be told by a model.
    """
    if owner.key_hash is None and owner.user_id is None:
        return about.get("key_hash") is None
    own = ((owner.key_hash, about.get("key_hash")), (owner.user_id, about.get("user_id")))
    return any(theirs is not None and theirs == mine for theirs, mine in own)


def _read_labels(request: Request, policy: Policy) -> list[str]:
    """Return the ids by which the client names its conversation."""
    headers = (request.headers.get(name.lower(), "") for name in policy.labels.headers)
    return [label[:LABEL_CHARS] for label in (*headers, *request.body_labels) if label]


def _name_opening(request: Request, digest: str) -> str:
    """Name how a conversation began, and whose it is: a colleague's may begin with the same words."""
    return fingerprint("opening", request.about.get("key_hash", ""), request.about.get("user_id", ""), digest)


def _name_identified(request: Request) -> str:
    """Name a conversation that the gateway keeps, whose messages a guardrail may have masked since."""
    return fingerprint("restored in", request.conversation)


def _name_answered(opening: str, answer: Message) -> str:
    return fingerprint("restored", opening, name_answer(answer))


def _name_labelled(label: str, opening: str) -> str:
    return fingerprint("restored for", label, opening)
