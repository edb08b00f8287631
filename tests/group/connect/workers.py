"""What does a worker do that keeps the protocol? The least there is, so that histories need not tell every answer.

It reports what it runs, starts what it is granted, stops what is withdrawn by its next heartbeat, abandons all when it
is fenced or its session is over, and computes when it is chosen. `running` is what it really runs: no two workers may
ever run the same (CG-2).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.model import Departed, Group, Member
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_install_assignment_request as install_request
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
)
from kcoord.protocol.resources import pack, unpack
from kcoord.resource import Resource
from tests.group.connect.world import INTERVAL_MS, REBALANCE_MS, World, assignor, packed, text

NOTHING: frozenset[Resource] = frozenset()
SERIAL = [100]
"""Connections, so that each one is newer than those before."""


class Worker:
    """One process; another one of the same `instance` may follow it."""

    def __init__(
        self,
        world: World,
        name: str,
        configured: str | None = None,
        instance: str | None = None,
        server_assignor: str | None = None,
    ) -> None:
        self.world = world
        self.name = name
        self.configured = configured
        self.config_offset = 1
        self.instance = instance
        self.server_assignor = server_assignor
        self.alive = True
        self.slow = False
        """It does not stop what it is told to."""
        self.data = b""
        self.epoch: int | None = None
        """None while it is no member."""
        self.max_wait_ms = 0
        self.rebalance_ms = REBALANCE_MS
        self._runs: frozenset[Resource] = NOTHING
        self._told: frozenset[Resource] = NOTHING
        self._sent: frozenset[Resource] | None = None
        """What it last reported by this connection."""
        self._session_ms = 0
        self._stops_ms = 0
        self._token: object = None
        self.reconnect()

    def __repr__(self) -> str:
        return f"{self.name}@{self.epoch}({text(self._runs)})"

    @property
    def running(self) -> frozenset[Resource]:
        """What it runs at this moment."""
        if not self.alive or self.world.now_ms >= self._stops_ms:
            return NOTHING
        return self._runs

    def reconnect(self) -> None:
        """Its connection is lost, and with it every answer under way."""
        SERIAL[0] += 1
        self.connection = SERIAL[0]
        self._sent = None
        self._token = None

    def waits_for(self, tokens: list[object]) -> bool:
        """Whether one of these is its open request."""
        return any(token is self._token for token in tokens)

    def act(self, lose: bool = False) -> None:
        """One heartbeat, and what follows from it; `lose`: its answer is lost with the connection."""
        if not self.alive:
            return
        if self._token is not None and not self._hear():
            return  # it waits for an answer that is kept back
        if self.world.now_ms >= self._stops_ms:
            self._abandon()
        if not self.slow:
            self._runs &= self._told
        self._began_ms = self.world.now_ms
        self._token = self.world.send(self._heartbeat(), self.connection)
        if lose:
            self.reconnect()
        else:
            self._hear()

    def leave(self) -> None:
        """It stops all, says so, and is gone."""
        if self.alive and self.epoch is not None:
            self._runs = NOTHING
            epoch = -1 if self.instance is None else -2
            self.world.beat(self.name, epoch, connection=self.connection, instance_id=self.instance)
        self.alive = False

    def die(self) -> None:
        """It is gone without a word."""
        self.alive = False

    def _heartbeat(self) -> ConnectGroupHeartbeatRequest:
        full = self._sent is None or self.epoch is None
        listed = self.configured is not None
        request = ConnectGroupHeartbeatRequest(
            self.world.group_id,
            self.name,
            0 if self.epoch is None else self.epoch,
            self.instance,
            self.rebalance_ms if full else -1,
            self.server_assignor if full else None,
            [] if self.server_assignor is not None else [assignor(data=self.data)],
            packed(text(self._runs)) if full or self._runs != self._sent else None,
            max_wait_ms=0 if full else self.max_wait_ms,
            config_offset=self.config_offset if listed else -1,
            configured_connectors_and_tasks=packed(self.configured or "") if listed else None,
        )
        self._sent = self._runs
        return request

    def _hear(self) -> bool:
        """Take the answer, if there is one."""
        answer = self.world.answers.get(self._token)
        if answer is None:
            return False
        self._token = None
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        error = ErrorCode(answer.error_code)
        if error not in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT):
            assert error in (
                ErrorCode.FENCED_MEMBER_EPOCH,
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.UNRELEASED_INSTANCE_ID,
                ErrorCode.FENCED_INSTANCE_ID,
                ErrorCode.INVALID_REQUEST,
            ), (error, answer.error_message)
            self._abandon()
            return True
        assert answer.member_epoch >= (self.epoch or 0), "its epoch goes back"
        self.epoch = answer.member_epoch
        self._stops_ms = self._began_ms + answer.session_timeout_ms
        if answer.assignment is not None:
            self._told = unpack(answer.assignment.connectors_and_tasks)
            assert not (self._told - self._runs and self._runs - self._told), "it grows and shrinks at once"
            self._runs |= self._told
        if error is ErrorCode.COMPUTE_ASSIGNMENT:
            self._compute()
        return True

    def _abandon(self) -> None:
        self.epoch = None
        self._runs = self._told = NOTHING
        self._sent = None

    def _compute(self) -> None:
        assert self.epoch is not None
        prepared = self.world.prepare(self.name, self.epoch, self.connection)
        if prepared.error_code:
            return
        assignment = CooperativeAssignor().assign(_input(prepared))
        members = [
            install_request.Member(
                each.member_id,
                pack(each.resources, install_request.ConnectorsAndTasks, install_request.ConnectorTaskId),
            )
            for each in assignment.members
        ]
        request = ConnectGroupInstallAssignmentRequest(
            self.world.group_id,
            self.name,
            self.epoch,
            prepared.group_epoch,
            0,
            members,
            assignment.scheduled_delay_ms,
        )
        self.world.send(request, self.connection)


def _input(prepared: ConnectGroupPrepareAssignmentResponse) -> Group:
    configured = prepared.configured_connectors_and_tasks
    return Group(
        tuple(
            Member(each.member_id, each.instance_id, each.url, unpack(each.connectors_and_tasks))
            for each in prepared.members
        ),
        None if configured is None else unpack(configured),
        prepared.config_offset,
        tuple(
            Departed(each.member_id, each.instance_id, each.url, unpack(each.connectors_and_tasks))
            for each in prepared.departed
        ),
        prepared.remaining_delay_ms,
        prepared.rebalance_delay_ms,
    )


def check_running(workers: Iterable[Worker]) -> None:
    """Nobody runs what another runs (CG-2), whatever the coordinator's books say."""
    for one, other in combinations(workers, 2):
        assert not one.running & other.running, f"{one} and {other} run the same"


def settle(world: World, workers: list[Worker], rounds: int = 200) -> None:
    """Faults have stopped: everybody who lives becomes a member, and the group comes to rest."""
    quiet = 0
    for _ in range(rounds):
        for worker in workers:
            worker.slow = False
            worker.act()
            check_running(workers)
        world.pass_ms(INTERVAL_MS)
        check_running(workers)
        quiet = quiet + 1 if _at_rest(world, workers) else 0
        if quiet > 3:
            return
    raise AssertionError(f"the group does not come to rest: {world.describe()}")


def _at_rest(world: World, workers: list[Worker]) -> bool:
    group = world.shard.state.connect.get(world.group_id)
    alive = [worker for worker in workers if worker.alive]
    if group is None or set(group.members) != {worker.name for worker in alive}:
        return group is None and not alive
    for worker in alive:
        if worker.epoch != group.epoch or worker.running != (group.target_of(group.members[worker.name]) or NOTHING):
            return False
    if group.epoch != group.assignment_epoch or group.unconverged or group.error:
        return False
    owned = frozenset().union(*[worker.running for worker in alive])
    return not alive or group.configured is None or owned == group.configured.resources
