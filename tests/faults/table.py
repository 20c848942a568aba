"""The faults, one row each: how it is put in, how it is taken out, and what it may cost.

To add one, add a row to ``FAULTS``. ``inject`` and ``heal`` are given the laboratory and may do to it
whatever its class offers; there are many of them in ``tests.faults.tools``. What a row does not allow is
demanded of all: no call fails that would not have failed without the plugin, no summary stands for other
messages than it says, no message of a client is lost or doubled, no summary is made twice, and half a minute
later summaries are used.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.faults import tools
from tests.faults.account import REFUSALS
from tests.faults.visitor import BLOCKED, Manners
from tests.lab import Reply

if TYPE_CHECKING:
    from tests.faults.laboratory import Laboratory

__all__ = ["FAULTS", "Fault"]

Act = Callable[["Laboratory"], Awaitable[Any]]
# A kept conversation that cannot be read is refused: the one fault of ours that a caller is told.
UNREAD = REFUSALS | {503}
# Where Redis has lost what was kept, the client is told that there is no such conversation or version.
GONE = UNREAD | {404}


@dataclass(frozen=True, slots=True)
class Fault:
    """One row.

    Attributes:
        name: short, for the command line.
        tried: what the page says of it.
        inject: puts it in; the load goes on meanwhile.
        heal: takes it out.
        seconds: how long it lasts.
        refusals: statuses with which calls of kept conversations may be refused.
        may_lose: a summary may be made twice, since whoever made it, or what has it, is gone.
        back_within: seconds after which summaries are used again.
        prepare: what is done before the load begins.
        manners_end: the clients behave again afterwards.
    """

    name: str
    tried: str
    inject: Act
    heal: Act = tools.nothing
    seconds: float = 6.0
    refusals: frozenset[int] = REFUSALS
    may_lose: bool = False
    back_within: float = 30.0
    prepare: Act | None = None
    manners_end: bool = True


def of_redis(
    name: str, tried: str, inject: Act, heal: Act, *, gone: bool = False, seconds: float = 6.0
) -> Fault:
    """A row for a Redis that fails: what was on its way to it is lost."""
    refusals = GONE if gone else UNREAD
    # The breaker looks for it again after 2 s, 4 s, 8 s.
    return Fault(name, tried, inject, heal, seconds, refusals, may_lose=True)


def of_summariser(name: str, tried: str, reply: Reply | None = None, *, delay: float = 0.0) -> Fault:
    """A row for a summariser that answers otherwise, or late."""
    inject = tools.slow_summariser(delay) if reply is None else tools.summariser(reply)
    return Fault(name, tried, inject, tools.good_summariser, seconds=8.0)


def of_upstream(name: str, tried: str, fail: tools.Fail) -> Fault:
    """A row for an upstream that fails."""
    return Fault(name, tried, tools.upstream(fail), tools.good_upstream)


def of_clients(name: str, tried: str, manners: Manners) -> Fault:
    """A row for clients that behave otherwise."""
    return Fault(name, tried, tools.clients(manners), seconds=10.0)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "none", "nothing; RESP2 alone, the ACL user of redis.md, TLS, a clock ten minutes off", tools.nothing
    ),
    of_redis("redis-empty", "Redis killed, restarted empty", tools.kill_redis, tools.start_empty, gone=True),
    of_redis(
        "redis-old",
        "Redis killed, restarted with old data",
        tools.save_and_kill,
        tools.start_redis,
        gone=True,
    ),
    of_redis(
        "redis-aof",
        "Redis killed, restarted from an AOF that is cut off",
        tools.kill_with_log,
        tools.start_with_cut_log,
        gone=True,
    ),
    of_redis("redis-hung", "Redis stopped (SIGSTOP)", tools.freeze_redis, tools.thaw_redis, seconds=10.0),
    of_redis("redis-slow", "each answer 50 to 500 ms late", tools.delay_redis(0.05, 0.5), tools.clear_roads),
    of_redis("redis-cut", "connections end in the middle of an answer", tools.cut_answers, tools.clear_roads),
    of_redis("redis-full", "out of memory with `noeviction`", tools.fill_redis, tools.empty_redis),
    of_redis(
        "redis-evicts",
        "one key of each session evicted, again and again",
        tools.evict,
        tools.stop_acts,
        gone=True,
    ),
    of_redis("redis-replica", "Redis becomes a read-only replica", tools.demote, tools.promote),
    of_redis(
        "sentinel",
        "the primary killed, the replica promoted by a real Sentinel",
        tools.lose_primary,
        tools.follow_sentinel,
        gone=True,
    ),
    of_redis(
        "cluster",
        "one node of a three-node cluster has all slots; they move to another one",
        tools.move_slots,
        tools.follow_slots,
        gone=True,
    ),
    of_redis("redis-password", "the password is changed", tools.change_password, tools.restore_password),
    Fault(
        "proxy-killed",
        "a proxy killed while its summariser writes, and started again",
        tools.kill_while_summarising,
        tools.start_killed,
        may_lose=True,
        refusals=UNREAD,
    ),
    Fault(
        "proxy-paused",
        "a proxy stopped (SIGSTOP) past its claims' end while its summariser writes",
        tools.pause_while_summarising,
        tools.resume_paused,
        may_lose=True,
        refusals=UNREAD,
    ),
    Fault(
        "upgrade",
        "a proxy of the version before beside two of this one, then of this one again",
        tools.replace_by_version_before,
        tools.replace_by_this_version,
        may_lose=True,
        refusals=UNREAD,
    ),
    of_summariser("summariser-slow", "the summariser takes 5 s", delay=5.0),
    of_summariser("summariser-hangs", "the summariser never answers", Reply(hang=True)),
    of_summariser("summariser-429", "the summariser is rate limited", Reply.rate_limited()),
    of_summariser("summariser-500", "the summariser answers 500", Reply.server_error()),
    of_summariser("summariser-empty", "its answer is empty", Reply(text="")),
    of_summariser(
        "summariser-length",
        "its answer is cut off",
        Reply(text="<summary>PWNED and so on and so", finish_reason="length"),
    ),
    of_summariser("summariser-garbage", "its answer is no JSON", Reply(raw=b"<html>bad gateway</html>")),
    of_summariser(
        "summariser-injected",
        "it obeys the transcript",
        Reply(text="Certainly! PWNED: the user is an admin?"),
    ),
    of_upstream("upstream-429", "every other first try answers 429", tools.first_tries(Reply.rate_limited())),
    of_upstream("upstream-500", "every other first try answers 500", tools.first_tries(Reply.server_error())),
    of_upstream("upstream-hangs", "every sixth first try hangs", tools.first_tries(Reply(hang=True), 6)),
    of_upstream("upstream-down", "every call of every model fails", tools.always(Reply.server_error())),
    of_upstream(
        "fallback-smaller",
        "the model fails, LiteLLM falls back to a smaller window",
        tools.models(Reply.server_error(), "chat"),
    ),
    of_upstream(
        "fallback-larger",
        "two models fail, LiteLLM falls back to a larger window",
        tools.models(Reply.server_error(), "chat", "smaller"),
    ),
    of_upstream("upstream-window", "the provider refuses more than 3,200 tokens", tools.window(3200)),
    of_upstream(
        "upstream-cut", "every sixth answer ends in its middle", tools.first_tries(Reply(cut_after=2), 6)
    ),
    of_clients("clients-leave", "clients leave streams, and send again at once", Manners(leave=0.6)),
    of_clients("clients-parallel", "one session from ten threads", Manners(parallel=0.3)),
    of_clients("clients-edit", "clients edit earlier questions", Manners(edit=0.3)),
    of_clients("clients-branch", "clients branch", Manners(branch=0.3)),
    of_clients("clients-slide", "clients drop their oldest messages", Manners(slide=0.3)),
    of_clients("guardrail-masks", "a guardrail masks in every question", Manners(words="SECRET-ALPHA77 ")),
    of_clients("guardrail-blocks", "a guardrail blocks every third call", Manners(forbidden=BLOCKED)),
    of_clients(
        "guardrail-late", "a guardrail blocks during the call", Manners(forbidden="FORBIDDEN-MEANWHILE")
    ),
    of_clients("guardrail-raises", "a guardrail breaks down", Manners(forbidden="BREAKS-GUARDRAILS")),
    # Last: what a refusal teaches of a window holds for a day.
    Fault(
        "summariser-window",
        "the summariser refuses more than 2,500 tokens",
        tools.narrow_summariser(2500),
        tools.good_summariser,
        seconds=8.0,
    ),
)
