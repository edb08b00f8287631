"""Whatever workers, admins, time and loads do, in any order.

Workers that keep the protocol (`workers.py`) among silent deaths, lost answers, frames of older connections, slow ones,
rights of an admin, and loads. `World` checks after each step that owners are disjoint, epochs do not go back, a replay
gives the live state, and the hot path's answers hold; here, that nobody runs what another runs. At the end the faults
stop, and all comes to rest.
"""

from __future__ import annotations

import attrs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from kcoord.protocol.messages import ConnectGroupHeartbeatRequest
from tests.group.connect.workers import Worker, check_running, settle
from tests.group.connect.world import INTERVAL_MS, SESSION_MS, SETTINGS, World, packed
from tests.group.sabotage import Saboteur
from tests.light import fewer

NUMBERS = st.integers(0, 1_000)
SETS = st.sampled_from(["AC0", "AC0 AT1 AT2", "AC0 AT1 BC0 BT1 BT2", ""])
INSTANCES = st.sampled_from([None, None, None, "i", "j"])
SERVERS = st.sampled_from([None, None, None, "cooperative", "uniform"])
WAITS_MS = st.sampled_from([0, 0, 700])
DELAY_MS = 5_000


class History(RuleBasedStateMachine):
    """One random history."""

    sabotaged = False
    """Whether each step breaks off on a copy first (`test_any_fault.py`)."""

    @initialize(
        listed=st.booleans(),
        delay_ms=st.sampled_from([0, DELAY_MS]),
        first=SETS,
        starting=st.lists(st.tuples(INSTANCES, SERVERS, WAITS_MS), min_size=1, max_size=4),
        settled=st.booleans(),
    )
    def begin(
        self,
        listed: bool,
        delay_ms: int,
        first: str,
        starting: list[tuple[str | None, str | None, int]],
        settled: bool,
    ) -> None:
        self.world = World(attrs.evolve(SETTINGS, rebalance_delay_ms=delay_ms))
        if self.sabotaged:
            self.world.saboteur = Saboteur(self.world.settings)
        self.workers: list[Worker] = []
        self.resources = first or "AC0"
        self.offset = 1
        self.listed = listed
        self.names = 0
        for instance, server, wait_ms in starting:
            self.somebody_starts(instance, server, wait_ms, again=False)
        if settled:
            self.a_while_goes_by()
            self.a_while_goes_by()

    # -- workers ------------------------------------------------------------------------------------------------------

    @rule(
        instance=INSTANCES,
        server=SERVERS,
        wait_ms=WAITS_MS,
        again=st.booleans(),
    )
    def somebody_starts(self, instance: str | None, server: str | None, wait_ms: int, again: bool) -> None:
        """A new process, or one that takes a dead one's name; if nobody says what exists, none asks for the server."""
        if any(each.alive and each.instance == instance for each in self.workers) and instance is not None:
            return
        dead = [each.name for each in self.workers if not each.alive and each.instance == instance]
        dead = [name for name in dead if not any(each.alive and each.name == name for each in self.workers)]
        self.names += 1
        name = dead[-1] if dead and again else f"W{self.names}"
        worker = Worker(
            self.world, name, self.resources if self.listed else None, instance, server if self.listed else None
        )
        worker.config_offset = self.offset
        worker.max_wait_ms = wait_ms
        worker.rebalance_ms = 2 * INTERVAL_MS
        self.workers.append(worker)
        worker.act()

    @precondition(lambda self: self.workers)
    @rule(number=NUMBERS, lose=st.booleans())
    def somebody_acts(self, number: int, lose: bool) -> None:
        self._pick(number).act(lose)

    @rule()
    def everybody_acts(self) -> None:
        for worker in self.workers:
            worker.act()
            check_running(self.workers)

    @rule()
    def a_while_goes_by(self) -> None:
        for _ in range(4):
            self.everybody_acts()
            self.world.pass_ms(INTERVAL_MS)

    @precondition(lambda self: self.workers)
    @rule(number=NUMBERS)
    def somebody_leaves(self, number: int) -> None:
        self._pick(number).leave()

    @precondition(lambda self: self.workers)
    @rule(number=NUMBERS)
    def somebody_dies(self, number: int) -> None:
        self._pick(number).die()

    @precondition(lambda self: self.workers)
    @rule(number=NUMBERS)
    def somebody_is_slow(self, number: int) -> None:
        worker = self._pick(number)
        worker.slow = not worker.slow

    @precondition(lambda self: self.workers)
    @rule(number=NUMBERS)
    def somebody_loses_its_connection(self, number: int) -> None:
        self._pick(number).reconnect()

    @precondition(lambda self: self.workers)
    @rule(number=NUMBERS)
    def somebody_says_something_else(self, number: int) -> None:
        self._pick(number).data = bytes([number % 250])

    @precondition(lambda self: self.listed)
    @rule(resources=SETS)
    def the_configuration_changes(self, resources: str) -> None:
        self.resources, self.offset = resources, self.offset + 1
        for worker in self.workers:
            worker.configured, worker.config_offset = resources, self.offset

    # -- others -------------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.workers)
    @rule(number=NUMBERS)
    def a_frame_of_an_older_connection_arrives(self, number: int) -> None:
        """It may have been on its way for long: twice, or for the first time."""
        group = self.world.shard.state.connect.get("g")
        members = {} if group is None else group.members
        late = [
            (request, context)
            for request, context in self.world.asked.values()
            if isinstance(request, ConnectGroupHeartbeatRequest)
            and request.member_id in members
            and members[request.member_id].connection > context.connection
        ]
        if late:
            request, context = late[number % len(late)]
            with self.world.nothing_changes():
                self.world.send(request, context.connection)

    @rule(
        member=st.sampled_from(["W1", "W2", "W3", "ghost"]),
        epoch=st.integers(0, 9),
        owned=st.sampled_from([None, "AC0", "ZC0"]),
    )
    def a_stranger_asks(self, member: str, epoch: int, owned: str | None) -> None:
        """Under a member's name, but by a connection that was never the member's."""
        self.world.send(
            ConnectGroupHeartbeatRequest(
                "g", member, epoch, connectors_and_tasks=None if owned is None else packed(owned)
            ),
            connection=1,
        )

    @rule(ms=st.sampled_from(["5000", "20000", ""]))
    def an_admin_configures(self, ms: str) -> None:
        self.world.configure(**({"session_timeout_ms": ms} if ms else {}))

    # -- time and faults ----------------------------------------------------------------------------------------------

    @rule(wait_ms=st.sampled_from([1, 500, 1_000, 4_000, SESSION_MS - 1, SESSION_MS, 31_000]))
    def time_passes(self, wait_ms: int) -> None:
        self.world.pass_ms(wait_ms)

    @rule(lost=st.booleans(), compacted=st.booleans(), lose_ms=st.sampled_from([0, 1, 3_000]))
    def the_coordinator_is_killed(self, lost: bool, compacted: bool, lose_ms: int) -> None:
        waiting = self.world.restart(lose_ms, compacted)
        for worker in self.workers:
            if lost or worker.waits_for(waiting):
                worker.reconnect()

    # -- the end ------------------------------------------------------------------------------------------------------

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        check_running(self.workers)
        self.world.configure()
        settle(self.world, self.workers)

    # -- tools --------------------------------------------------------------------------------------------------------

    def _pick(self, number: int) -> Worker:
        return self.workers[number % len(self.workers)]


TestAnyHistory = History.TestCase
TestAnyHistory.settings = settings(
    max_examples=fewer(60, 15), stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
