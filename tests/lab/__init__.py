"""The test laboratory: a real Redis, a real LiteLLM proxy and a scripted upstream, all on loopback."""

from __future__ import annotations

from tests.lab.client import Answer, Client, Message, grow
from tests.lab.counting import count_message, count_request
from tests.lab.proxy import Model, Proxy, start_all
from tests.lab.redis_server import GarbageServer, HungServer, RedisServer
from tests.lab.scripts import Reply, Summariser, Window
from tests.lab.upstream import Seen, Upstream
from tests.lab.validity import violations
from tests.lab.waiting import until

__all__ = [
    "Answer",
    "Client",
    "GarbageServer",
    "HungServer",
    "Message",
    "Model",
    "Proxy",
    "RedisServer",
    "Reply",
    "Seen",
    "Summariser",
    "Upstream",
    "Window",
    "count_message",
    "count_request",
    "grow",
    "start_all",
    "until",
    "violations",
]
