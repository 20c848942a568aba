"""``Archive`` on Redis: what operators see of sessions, and what they do to them."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from gateway_compaction.adapters.document import MOST_BYTES, exported, imported, owner_of_document
from gateway_compaction.adapters.erasure import erase_session, erase_tenant
from gateway_compaction.adapters.indexing import (
    OWNER_FIELDS,
    WISHES,
    dropping,
    label_key,
    listing,
    owner_facts,
    owner_key,
    tenant_key,
    wishing,
)
from gateway_compaction.adapters.overview import hours_of, owners_of
from gateway_compaction.adapters.records import Script, script, session_keys, short_text, written_event
from gateway_compaction.adapters.redis_store import RedisStore, connect
from gateway_compaction.adapters.row_cache import RowCache
from gateway_compaction.adapters.rows import Fields, chosen, cursor_of, owner_in, read_row, row_of
from gateway_compaction.adapters.session_view import detail_of
from gateway_compaction.archive import Hour, Query, Scope, SessionDetail, SessionPage, SessionRow
from gateway_compaction.core.compaction import SessionRef
from gateway_compaction.core.events import CompactionEvent
from gateway_compaction.errors import NotThere, Refused

__all__ = ["RedisArchive"]
