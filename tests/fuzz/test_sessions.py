"""The life of sessions, in random steps: ``FUZZ_STEPS`` says how many.

Clients append, edit, branch, ask again, call twice at once, come through other doors and go on from earlier
conversations. Replicas are killed and lose the store, summarisers fail and hang, operators reset, roll back,
pin and erase, the policy changes. ``tests/fuzz/world.py`` says what must be true all the same.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.fuzz.talking import DOORS, MOODS
from tests.fuzz.world import ENDINGS, POLICIES, Client, World

STEPS = int(os.environ.get("FUZZ_STEPS", "600"))
STEPS_EACH = 60

DISTURBANCES = ("killed", "leases", "evicted", "policy", "store lost", "store back", "store back")
DEEDS = (
    "compact",
    "rebuild",
    "pin",
    "unpin",
    "rate",
    "reset",
    "forget",
    "forget tenant",
    "rollback",
    "export",
)

numbers = st.integers(0, 30)
replicas = st.integers(0, 1)
doors = st.sampled_from(["chat", "chat", "chat", *DOORS])


class Machine(RuleBasedStateMachine):
    """One step is one thing that somebody does."""

    world: World | None = None

    @initialize(
        seed=st.integers(0, 2**32), policy=st.integers(0, len(POLICIES) - 1), turns=st.integers(4, 10)
    )
    def start(self, seed: int, policy: int, turns: int) -> None:
        self.world = World(seed)
        self.world.change_policy(policy)
        self.world.is_excused = False
        self.world.begin(0, turns)

    def teardown(self) -> None:
        if self.world is not None:
            self.world.aclose()

    @property
    def alive(self) -> World:
        assert self.world is not None
        return self.world

    def client(self, number: int) -> Client:
        return self.alive.clients[-1 - number % len(self.alive.clients)]

    @precondition(lambda self: len(self.alive.clients) < 4)
    @rule(tenant=replicas, turns=st.integers(1, 9), restore=st.none() | numbers)
    def begin(self, tenant: int, turns: int, restore: int | None) -> None:
        self.alive.begin(tenant, turns, restore)

    @rule(who=numbers, replica=replicas, door=doors, ending=st.sampled_from(ENDINGS), settled=st.booleans())
    def called(self, who: int, replica: int, door: Any, ending: Any, settled: bool) -> None:
        self.alive.call(self.client(who), replica, door, ending)
        if settled:
            self.alive.settle()

    @rule(who=numbers, replica=replicas, calls=st.integers(2, 6))
    def talks_on(self, who: int, replica: int, calls: int) -> None:
        self.goes_on(who, replica, calls)

    @rule(who=numbers, replica=replicas, calls=st.integers(2, 6))
    def goes_on(self, who: int, replica: int, calls: int) -> None:
        client = self.client(who)
        for number in range(calls):
            self.alive.call(client, (replica + number) % 2, "chat", ENDINGS[0])
            self.alive.settle()

    @rule(who=numbers, replica=replicas, wish=st.sampled_from(["off", "now"]))
    def wishes(self, who: int, replica: int, wish: str) -> None:
        self.alive.call(self.client(who), replica, "chat", ENDINGS[0], wish)

    @rule(who=numbers, replica=replicas, door=doors)
    def asks_again(self, who: int, replica: int, door: Any) -> None:
        self.alive.call(self.client(who), replica, door, ENDINGS[0], again=True)

    @rule(who=numbers, door=doors)
    def calls_twice_at_once(self, who: int, door: Any) -> None:
        self.alive.call_twice(self.client(who), door)

    @rule(who=numbers, how=st.sampled_from(["edit", "branch", "slide"]))
    def client_goes_elsewhere(self, who: int, how: str) -> None:
        client = self.client(who)
        talk = client.talk
        if how == "edit" and sum(m["role"] == "user" for m in talk.messages) > 3:
            talk.edit()
            client.before = None
        elif how == "slide" and len(talk.messages) > 14:
            talk.slide()
            client.before = client.session = None
        elif how == "branch" and len(self.alive.clients) < 5:
            other = Client(client.tenant, talk.copy(), client.sources, client.restore, client.session)
            other.talk.number += 5_000
            self.alive.clients.append(other)

    @rule(replica=replicas)
    def settles(self, replica: int) -> None:
        self.alive.settle()

    @rule(mood=st.sampled_from(MOODS), open=st.booleans())
    def summariser_changes(self, mood: str, open: bool) -> None:
        self.alive.teller.mood = mood
        (self.alive.teller.gate.set if open else self.alive.teller.gate.clear)()

    @rule(replica=replicas, number=st.integers(0, 200), how=st.sampled_from(DISTURBANCES))
    def something_breaks(self, replica: int, number: int, how: str) -> None:
        world = self.alive
        if how == "killed":
            world.crash(replica)
        elif how == "leases":
            world.end_leases()
        elif how == "evicted":
            world.evict(number)
        elif how == "policy":
            world.change_policy(number)
        else:
            world.lose_store(replica, how == "store lost")

    @rule(who=numbers, number=numbers, deed=st.sampled_from(DEEDS))
    def operator_acts(self, who: int, number: int, deed: str) -> None:
        self.alive.act(self.client(who), deed, number)


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=max(1, STEPS // STEPS_EACH),
    stateful_step_count=STEPS_EACH,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
