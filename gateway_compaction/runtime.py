"""The parts of one process, and the only place where they are put together.

``build`` makes the store and its archive. It is given the summariser, the models and the telemetry: by
``hook`` on a proxy, by ``replay`` without one.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gateway_compaction.adapters.hedged_summarizer import HedgedSummarizer
from gateway_compaction.adapters.policy_file import read_env_overrides
from gateway_compaction.adapters.policy_watcher import PolicySource, PolicyState
from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.adapters.redis_conversations import RedisConversations
from gateway_compaction.adapters.redis_sign_ins import RedisSignIns
from gateway_compaction.adapters.vault import Vault, read_keys
from gateway_compaction.archive import Archive, SignInStore
from gateway_compaction.core.planning.context import build_detector
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.optimize import FindCosts, know_no_costs
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.engine.compactor import Compactor, CompactorSettings
from gateway_compaction.engine.kept_conversations import KeptConversations
from gateway_compaction.engine.length_refusals import LengthRefusals
from gateway_compaction.engine.model_windows import LearnedModels
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.polling import LessonPoller, NoticePoller
from gateway_compaction.engine.post_call import PostCall
from gateway_compaction.engine.restoring import ConversationRestorer
from gateway_compaction.engine.summary_pipeline import SummaryPipeline
from gateway_compaction.engine.worker import Limits, Worker
from gateway_compaction.errors import PolicyError
from gateway_compaction.ports import Models, Store, Summarizer
from gateway_compaction.settings import Settings
from gateway_compaction.telemetry import NoTelemetry, Sample, Telemetry

log = logging.getLogger("gateway_compaction")

SAMPLE_SECONDS = 2.0
"""Seconds between two samples of how the process is doing."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """One process's parts, wired; ``executors`` are the threads of requests and of the background."""

    settings: Settings
    store: Store
    worker: Worker
    compactor: Compactor
    post_call: PostCall
    refusals: LengthRefusals
    counter: TokenCounter
    executors: tuple[ThreadPoolExecutor, ThreadPoolExecutor]
    summary_pipeline: SummaryPipeline
    policies: Callable[[], PolicyBook]
    telemetry: Telemetry
    archive: Archive
    sign_ins: SignInStore
    notice_poller: NoticePoller
    windows: LessonPoller
    conversations: KeptConversations
    restorer: ConversationRestorer

    @property
    def policy_state(self) -> PolicyState | None:
        """The state of the policies in force, where they come from a file or the lack of one."""
        return self.policies.state if isinstance(self.policies, PolicySource) else None

    @property
    def tasks(self) -> tuple[Callable[[], Coroutine[Any, Any, None]], ...]:
        """The work that runs in the background as long as the process does; each for a task of its own."""
        watch = (self.policies.watch,) if isinstance(self.policies, PolicySource) else ()
        polls = (self.windows.run, self.notice_poller.run)
        return (*polls, self.report_samples, *watch)

    async def report_samples(self) -> None:
        """Record every two seconds how the process is doing."""
        while True:
            self.telemetry.record_sample(self.take_sample())
            await asyncio.sleep(SAMPLE_SECONDS)

    def take_sample(self) -> Sample:
        """Return how the process is doing now."""
        policies = self.policy_state
        return Sample(
            queued=self.worker.queue_length,
            counts={name: count for name, count in self.worker.counts.items() if name != "submitted"},
            store_open=self.store.state == "open",
            summarisers_open=len(self.summary_pipeline.paused_models),
            policies_loaded_at=policies.loaded_at if policies else None,
            policies_refused=policies is not None and policies.problem is not None,
            windows_learned=len(self.windows.list_learned()),
        )

    async def aclose(self) -> None:
        """Finish background work, then close connections."""
        await self.worker.drain(self.settings.drain_seconds)
        await self.conversations.aclose()
        close_summarizer = getattr(self.summary_pipeline.summarizer, "aclose", None)
        if close_summarizer is not None:
            await close_summarizer()
        await self.store.aclose()
        for executor in self.executors:
            executor.shutdown(wait=False, cancel_futures=True)


def find_detector(policies: Callable[[], PolicyBook], owner: Mapping[str, str], model: str) -> Detector:
    """Return what finds the secrets that are masked of an owner's calls, as far as the policy file tells."""
    team_id, team, key, user = (owner.get(n) or None for n in ("team_id", "team", "key_alias", "user_id"))
    try:
        return build_detector(policies().resolve(Identity(team_id, team, key, user, model or None)))
    except PolicyError:
        return Detector()


def policy_source_from(settings: Settings, find_costs: FindCosts = know_no_costs) -> PolicySource:
    """Return the source of the policies that the environment names.

    ``find_costs`` is what ``PolicyBook`` takes.

    Raises:
        PolicyError: the file or a variable cannot be used.
    """
    overrides = read_env_overrides(os.environ)
    return PolicySource(settings.policies, overrides, find_costs=find_costs)


def build(
    settings: Settings,
    models: Models,
    summarizer: Summarizer,
    policies: Callable[[], PolicyBook],
    telemetry: Telemetry | None = None,
) -> Runtime:
    """Wire one process. Connects to nothing yet.

    Another store is made here, in place of ``RedisStore``, ``RedisArchive``, ``RedisConversations`` and
    ``RedisSignIns``. What its archive remembers
    is forgotten with ``clear``, which is not in ``Archive``: ``NoticePoller`` calls it when something was
    erased. Redis is also named in ``cli.doctor``, ``cli.init``, ``cli.serve`` and ``cli.buffers.reach``
    (which reach it without a gateway), in ``cli.launch`` and ``cli.banner`` (which hand its address on and
    say it), in ``settings``, and in ``admin.read_routes`` for how many hours are kept.

    Another summariser is given by ``hook._build_hook``, and by ``cli.replay`` for replays. What it needs to
    know of its models comes from ``models``: a window that is not known there is assumed to be small, and
    ``doctor`` warns of it. It fails a ``summary.model`` that the proxy does not offer, so a summariser with
    models of its own needs a word there.
    """
    telemetry = telemetry or NoTelemetry()
    use_bundled_encodings()
    connection = connect(settings.redis_url, open_vault(settings))
    store = RedisStore(connection, timeout_seconds=settings.redis_timeout_seconds)
    # A request never waits for the work of the background.
    front = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gateway-compaction-front")
    back = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gateway-compaction-back")
    parts = EngineParts(store, telemetry=telemetry)
    limits = Limits(settings.concurrency, settings.queue, settings.lease_seconds)
    pipeline = SummaryPipeline(HedgedSummarizer(summarizer), LearnedModels(models, parts), back)
    worker = Worker(parts, pipeline.make_summary, limits)
    compactor_settings = CompactorSettings(settings.enabled, settings.recall_cold_tokens)
    compactor = Compactor(parts, worker, policies, models, front, compactor_settings)
    archive = RedisArchive(connection, find_detector=partial(find_detector, policies))
    restorer = ConversationRestorer(parts, archive, compactor.windows.find_group_window, front)
    notice_poller = NoticePoller(store, worker, compactor, parts.local, [archive.clear])
    notice_poller.serve(restorer)
    return Runtime(
        settings=settings,
        store=store,
        worker=worker,
        compactor=compactor,
        post_call=PostCall(parts, worker, back),
        refusals=LengthRefusals(parts, compactor, worker, front),
        counter=parts.counter,
        executors=(front, back),
        summary_pipeline=pipeline,
        policies=policies,
        telemetry=telemetry,
        archive=archive,
        sign_ins=RedisSignIns(connection),
        conversations=KeptConversations(RedisConversations(connection), settings.lease_seconds),
        windows=LessonPoller(parts, settings.calibration_seconds, settings.redis_timeout_seconds),
        notice_poller=notice_poller,
        restorer=restorer,
    )


def open_vault(settings: Settings) -> Vault:
    """Return the vault of the keys that the environment names.

    Raises:
        StoreError: one of them cannot be used.
    """
    keys = settings.encryption_keys
    return Vault(read_keys(keys.get_secret_value() if keys else None, settings.encryption_key_file))


def log_to_stderr() -> None:
    """Give our logger a handler with time, level and name, unless the host has set one up."""
    if not log.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False


def use_bundled_encodings() -> None:
    """Let tiktoken find the encoding files that LiteLLM ships: nothing is downloaded at run time."""
    if "TIKTOKEN_CACHE_DIR" in os.environ:
        return
    spec = importlib.util.find_spec("litellm")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
        if folder.is_dir():
            os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
