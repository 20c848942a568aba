"""Put the routes on LiteLLM's application."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from typing import Any

from gateway_compaction.adapters.litellm.internals import MISSING
from gateway_compaction.runtime import Runtime

log = logging.getLogger("gateway_compaction")
PROXY = "litellm.proxy.proxy_server"


def mount(runtime: Runtime) -> None:
    """Let the proxy of this process, if there is one, serve the routes; without them it serves on."""
    proxy = sys.modules.get(PROXY)
    if proxy is None:
        return
    try:
        _include_routes(proxy.app, runtime)
    except Exception:  # whatever another release of LiteLLM makes of it: calls matter more than the page
        log.exception("admin: /compaction is not served")


def _include_routes(app: Any, runtime: Runtime) -> None:
    # LiteLLM's authentication takes seconds to import: only in a proxy, which has done so already.
    from gateway_compaction.adapters.litellm.prices import PromptPrices
    from gateway_compaction.adapters.prometheus import render_metrics
    from gateway_compaction.admin.access import declare_routes
    from gateway_compaction.admin.dependencies import STATE, KeptParts, Parts, SummarizeParts
    from gateway_compaction.admin.routes import include_routes
    from gateway_compaction.admin.sign_ins import SignIns

    parts = Parts(
        archive=runtime.archive,
        policies=runtime.policies,
        price=PromptPrices(),
        metrics=render_metrics,
        health=lambda: describe_health(runtime),
        count=runtime.counter.raw_tokens,
        sign_ins=SignIns(runtime.sign_ins),
        metrics_public=runtime.settings.metrics_public,
        windows=runtime.windows.list_learned,
        policy_problems=runtime.store.policy_problems,
        try_write=runtime.store.try_write,
        attend=runtime.notice_poller.try_poll,
        kept=KeptParts(runtime.conversations, runtime.store),
        summaries=SummarizeParts(runtime.summary_pipeline.summarizer, runtime.summary_pipeline.models),
    )
    declare_routes()
    if not hasattr(app.state, STATE):
        include_routes(app)
    setattr(app.state, STATE, parts)


def describe_health(runtime: Runtime) -> Mapping[str, Any]:
    """Tell how a process is doing, as JSON types."""
    state = runtime.policy_state
    sample = runtime.take_sample()
    return {
        "policies": None
        if state is None
        else {
            "file": None if state.path is None else str(state.path),
            "loaded_at": state.loaded_at,
            "digest": state.digest,
            "problem": state.problem,
        },
        # What this LiteLLM lacks, and what the process does not do for it.
        "litellm_missing": dict(MISSING),
        "queued": sample.queued,
        "summaries": dict(sample.counts),
        "store_open": sample.store_open,
        "summarisers_open": sample.summarisers_open,
        "windows_learned": {
            deployment: {"window": learned.window(time.time()), "declared": learned.declared}
            for deployment, learned in runtime.windows.list_learned().items()
        },
    }
