"""Offer the actions of ``buffers``: what changes a session, or takes it from one place to another."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway_compaction.archive import Query
from gateway_compaction.cli.buffers.names import find_session
from gateway_compaction.cli.buffers.reach import PAGE, Invocation, Named, OpenArchive, with_archive_options
from gateway_compaction.cli.buffers.text import format_cell, pluralize, print_json, to_safe_json
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import ActionRefused, NotFound

HASH = re.compile(r"[0-9a-f]{32}")
STDIO = Path("-")

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
OperatorAction = Callable[[OpenArchive, SessionRef], Awaitable[Mapping[str, Any] | None]]


@with_archive_options
def compact(invocation: Invocation, session: Named) -> None:
    """Compact from the next call on, below every level too, where that makes it smaller (until a reset)."""

    async def action(reached: OpenArchive, ref: SessionRef) -> None:
        await reached.archive.compact(reached.scope, ref)

    told = "will be compacted at its next call; all processes know of it within 5 seconds"
    _run_action(invocation, session, action, "compact", told)


@with_archive_options
def rebuild(invocation: Invocation, session: Named) -> None:
    """Retire every version; the next call brings the source for a new summary."""

    async def action(reached: OpenArchive, ref: SessionRef) -> None:
        await reached.archive.rebuild(reached.scope, ref)

    told = "has no version in use; its next call brings the source for a new one"
    _run_action(invocation, session, action, "rebuild", told)


@with_archive_options
def rollback(
    invocation: Invocation,
    session: Named,
    version: Annotated[int, typer.Argument(min=0, help="The version to use again; 0 retires all.")],
) -> None:
    """Use an earlier version again: newer ones are retired, summaries in the making are void."""

    async def action(reached: OpenArchive, ref: SessionRef) -> Mapping[str, Any]:
        await reached.archive.rollback(reached.scope, ref, version)
        return {"version": version}

    told = f"uses version {version} again" if version else "uses no version"
    _run_action(invocation, session, action, "rollback", told)


@with_archive_options
def pin(
    invocation: Invocation,
    session: Named,
    text: Annotated[str, typer.Argument(help="A fact or a rule, at most 400 characters.")],
) -> None:
    """Let a text stand, word for word, in every summary of the session (at most 20)."""

    async def action(reached: OpenArchive, ref: SessionRef) -> Mapping[str, Any]:
        await reached.archive.pin(reached.scope, ref, text)
        return {"text": text}

    _run_action(invocation, session, action, "pin", "has the pin")


@with_archive_options
def unpin(
    invocation: Invocation,
    session: Named,
    text: Annotated[str, typer.Argument(help="The pin's text, or its number as show counts them.")],
) -> None:
    """Take a pin back."""

    async def action(reached: OpenArchive, ref: SessionRef) -> Mapping[str, Any]:
        found = text
        pins = (await reached.archive.detail(reached.scope, ref)).steering.pins
        if text not in pins and text.isdecimal() and 1 <= int(text) <= len(pins):
            found = pins[int(text) - 1]
        await reached.archive.unpin(reached.scope, ref, found)
        return {"text": found}

    _run_action(invocation, session, action, "unpin", "has the pin no more")


@with_archive_options
def rate(
    invocation: Invocation,
    session: Named,
    value: Annotated[
        str, typer.Argument(metavar="RATE", help="From 0.1 to 0.5, or policy for that of the policy.")
    ],
    for_key: Annotated[
        bool, typer.Option("--key", help="For every session of its key that has no rate of its own.")
    ] = False,
) -> None:
    """Let the next summaries have another rate than the policy says; what is written stays as it is."""
    try:
        wanted = None if value == "policy" else float(value)
    except ValueError:
        raise typer.BadParameter("neither a number nor policy", param_hint="RATE") from None

    async def action(reached: OpenArchive, ref: SessionRef) -> Mapping[str, Any]:
        await reached.archive.set_rate(reached.scope, ref, wanted, for_key=for_key)
        return {"rate": wanted, "for_key": for_key}

    held = "has the policy's rate again"
    told = held if wanted is None else f"has rate {wanted:g} from the next summary on"
    _run_action(invocation, session, action, "rate", told)


@with_archive_options
def reset(invocation: Invocation, session: Named, yes: Yes = False) -> None:
    """Forget compactions, pins, pauses and wishes of a session; events and labels stay."""

    async def action(reached: OpenArchive, ref: SessionRef) -> None:
        await reached.archive.reset(reached.scope, ref)

    question = "Forget the compactions, pins and pauses of {session}? Its events and labels stay."
    _run_action(invocation, session, action, "reset", "begins anew", question=None if yes else question)


@with_archive_options
def forget(
    invocation: Invocation,
    session: Annotated[
        str | None, typer.Argument(metavar="[SESSION]", help="An id, the beginning of one, or a label.")
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(help="All sessions of this tenant: the first part of an id as ls --full shows it."),
    ] = None,
    yes: Yes = False,
) -> None:
    """Erase a session, or all of a tenant: nothing of it is left in the store."""
    if session is not None and tenant is None:

        async def action(reached: OpenArchive, ref: SessionRef) -> Mapping[str, Any]:
            return {"keys": await reached.archive.forget(reached.scope, ref)}

        question = None if yes else "Erase {session} for good?"
        _run_action(invocation, session, action, "forget", "is erased", question=question)
    elif tenant is not None and session is None:
        _forget_tenant(invocation, tenant, yes)
    else:
        raise typer.BadParameter("name either a session or a tenant", param_hint="SESSION, --tenant")


@with_archive_options
def export(
    invocation: Invocation,
    session: Named,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Write to this file instead of stdout; only you can read it.")
    ] = STDIO,
) -> None:
    """Write a session as one JSON document; import gives all but the note of the import itself."""

    async def action(reached: OpenArchive) -> tuple[SessionRef, Mapping[str, Any]]:
        ref = await find_session(reached, session)
        return ref, await reached.archive.export(reached.scope, ref)

    ref, document = invocation.run(action)
    if out == STDIO:
        print_json(document)
        return
    with invocation.report_failures():
        _write_document(out, f"{to_safe_json(document)}\n")
    told = {"done": "export", "session": _ref_to_json(ref), "file": str(out)}
    invocation.report(told, f"{ref.session_id} is written to {format_cell(str(out), 200)}")


@with_archive_options
def load(
    invocation: Invocation,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What export wrote; - reads stdin.")],
) -> None:
    """Store an exported session under its own name; refused where one is there already.

    Every value is looked at before any is stored. Audit events are marked as imported, except where a proxy
    admin imports, or --redis is given.
    """
    with invocation.report_failures():
        document = _read_document(file)
    ref = invocation.run(lambda reached: reached.archive.load(reached.scope, document))
    invocation.report({"done": "import", "session": _ref_to_json(ref)}, f"{ref.session_id} is stored")


def add_actions(app: typer.Typer) -> None:
    """Add the actions to the command line as commands."""
    for action in (compact, rebuild, rollback, pin, unpin, rate, reset, forget, export):
        app.command()(action)
    app.command("import")(load)


def _run_action(
    invocation: Invocation,
    session: str,
    action: OperatorAction,
    name: str,
    told: str,
    *,
    question: str | None = None,
) -> None:
    """Run ``action`` on the session that is meant; ask before where there is a question, and say so."""

    async def first(reached: OpenArchive) -> tuple[SessionRef, Mapping[str, Any] | None]:
        ref = await find_session(reached, session)
        if question is None:
            return ref, await action(reached, ref)
        # What is not there need not be asked about.
        await reached.archive.detail(reached.scope, ref)
        return ref, None

    ref, more = invocation.run(first)
    if question is not None:
        invocation.confirm(question.format(session=ref.session_id))
        more = invocation.run(lambda reached: action(reached, ref))
    invocation.report(
        {"done": name, "session": _ref_to_json(ref), **(more or {})}, f"{ref.session_id} {told}"
    )


def _forget_tenant(invocation: Invocation, named: str, yes: bool) -> None:
    tenant, count = invocation.run(lambda reached: _find_tenant(reached, named))
    if not yes:
        invocation.confirm(f"Erase tenant {tenant} for good, with {pluralize(count, 'session')} in its list?")
    gone = invocation.run(lambda reached: reached.archive.forget_tenant(reached.scope, tenant))
    told = {"done": "forget", "tenant": tenant, "sessions": gone}
    invocation.report(told, f"Tenant {tenant} is erased, with {pluralize(gone, 'session')}")


async def _find_tenant(reached: OpenArchive, named: str) -> tuple[str, int]:
    """Return the hash of the tenant that is meant, and how many sessions of it are listed.

    Raises:
        NotFound: no hash begins so.
        ActionRefused: several do.
    """
    found: Counter[str] = Counter()
    teams: dict[str, None] = {}
    query: Query | None = Query(limit=PAGE)
    while query is not None:
        page = await reached.archive.sessions(reached.scope, query)
        for row in page.rows:
            if named and row.session.tenant.startswith(named):
                found[row.session.tenant] += 1
            elif named in (row.owner.team, row.owner.team_id):
                teams[row.session.tenant] = None
        query = replace(query, cursor=page.cursor) if page.cursor is not None else None
    if HASH.fullmatch(named):
        return named, found[named]
    if not found:
        hint = f"; the team of that name has the tenants {', '.join(teams)}" if teams else ""
        raise NotFound(f"No tenant's hash begins with {format_cell(named)!r}{hint}")
    if len(found) > 1:
        raise ActionRefused(f"{format_cell(named)!r} can mean the tenants {', '.join(sorted(found))}")
    return next(iter(found.items()))


def _ref_to_json(ref: SessionRef) -> dict[str, str]:
    return {"tenant": ref.tenant, "key": ref.key}


def _read_document(file: Path) -> Mapping[str, Any]:
    try:
        raw = sys.stdin.buffer.read() if file == STDIO else file.read_bytes()
        document = json.loads(raw)
    except OSError as error:
        raise ActionRefused(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ActionRefused(f"{file} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ActionRefused(f"{file} is not an exported session: not a JSON object")
    return document


def _write_document(file: Path, text: str) -> None:
    """Write to a new file of the owner's alone, put in place when it is whole."""
    file = file.resolve()
    part = file.with_name(f".{file.name}.part")
    try:
        if file.exists() and not file.is_file():
            # A pipe or a terminal cannot be replaced.
            file.write_text(text, encoding="utf-8")
            return
        part.unlink(missing_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as sink:
            sink.write(text)
        part.replace(file)
    except OSError as error:
        raise ActionRefused(f"{file} cannot be written: {error.strerror}") from error
