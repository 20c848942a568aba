"""Keeps long conversations inside the context window, at the LiteLLM proxy.

The proxy loads ``gateway_compaction.hook.handler``. What is named here is for those who write a store or a
summariser of their own, or read the records; nothing here imports LiteLLM or Redis.
"""

from __future__ import annotations

from gateway_compaction.core.records.compaction import Clip, Compaction, Segment, SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.exchange import Exchange, KeptConversation
from gateway_compaction.errors import (
    ActionRefused,
    ArchiveError,
    CompactionError,
    ConversationRefused,
    InvalidDocument,
    NotFound,
    PartNotFound,
    PolicyError,
    SourceNotFound,
    StoreBusy,
    StoreError,
    SummaryDenied,
    SummaryError,
    SummaryLimited,
    SummaryRefused,
    SummaryRejected,
    SummaryTimeout,
    SummaryTooLong,
    TranscriptError,
)
from gateway_compaction.ports import (
    Addition,
    Appended,
    Buffer,
    Caller,
    CallRecord,
    ConversationStore,
    ModelFacts,
    Models,
    Notices,
    OpenedConversation,
    ProviderError,
    Store,
    Summarizer,
    SummaryAnswer,
    SummaryRequest,
)

__all__ = [
    "ActionRefused",
    "Addition",
    "Appended",
    "ArchiveError",
    "Buffer",
    "CallRecord",
    "Caller",
    "Clip",
    "Compaction",
    "CompactionError",
    "CompactionEvent",
    "ConversationRefused",
    "ConversationStore",
    "Exchange",
    "InvalidDocument",
    "KeptConversation",
    "ModelFacts",
    "Models",
    "NotFound",
    "Notices",
    "OpenedConversation",
    "PartNotFound",
    "PolicyError",
    "ProviderError",
    "Segment",
    "SessionRef",
    "SourceNotFound",
    "Store",
    "StoreBusy",
    "StoreError",
    "Summarizer",
    "SummaryAnswer",
    "SummaryDenied",
    "SummaryError",
    "SummaryLimited",
    "SummaryRefused",
    "SummaryRejected",
    "SummaryRequest",
    "SummaryTimeout",
    "SummaryTooLong",
    "TranscriptError",
    "__version__",
]

__version__ = "0.1.0"
