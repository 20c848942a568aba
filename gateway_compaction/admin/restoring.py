"""Tell an earlier conversation as a new one can be told of it."""

from __future__ import annotations

from collections.abc import Callable

from gateway_compaction.admin.schemas import RestoreBody, Restored
from gateway_compaction.archive import SessionDetail
from gateway_compaction.core.planning.context import build_detector
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.redaction.marks import mask_text
from gateway_compaction.core.summary.restore import (
    build_restored_messages,
    build_restored_text,
    compute_restore_bounds,
    describe_source,
    list_parts,
)


def restore_session(
    detail: SessionDetail,
    policy: Policy,
    body: RestoreBody,
    count: Callable[[str, str], int],
    snapshot: RestorePoint | None = None,
) -> Restored:
    """Return what a new conversation is told of a session, as the policy bounds it.

    Args:
        detail: the session.
        policy: bounds what is told.
        body: the form, and the model that it is told to.
        count: gives the tokens of a text for a model.
        snapshot: the moment that is told of; None for the present.
    """
    model, window = body.model or detail.row.model or "", body.window or detail.row.window
    point, wanted = snapshot or detail.make_restore_point(), policy.restore
    bounds = compute_restore_bounds(window, wanted.summary_chars, wanted.recent_tokens)
    said = build_restored_text(point, bounds, lambda said: count(said, model))
    # What was stored under another policy is told by the one in force.
    text = mask_text(said, build_detector(policy))
    is_text = body.form == "text"
    return Restored(
        session=point.session,
        source=describe_source(point),
        form=body.form,
        messages=None if is_text else tuple(map(dict, build_restored_messages(text))),
        text=text if is_text else None,
        tokens=count(text, model),
        parts=dict(list_parts(point)),
    )
