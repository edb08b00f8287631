"""What does a test of mixed groups work with? A fleet of scripted Java workers, and beside them workers of the new
protocol that compute when they are chosen, and know what is configured as they read it in the workers' topic.
"""

from __future__ import annotations

from kcoord.assign.connect import MixedAssignor
from kcoord.assign.model import Departed, Group, Member
from kcoord.group.state.connect_settings import ClassicMode, ConnectSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as heartbeat_request
from kcoord.protocol.generated import connect_group_install_assignment_request as install_request
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
)
from kcoord.protocol.resources import pack, unpack
from kcoord.sim.classic_worker import Configs
from kcoord.sim.classic_worker.actions import Send
from tests.conversion.fleet import INTERVAL_MS, NewWorker
from tests.conversion.fleet import Fleet as ConvertedFleet
from tests.group.connect.world import assignor
from tests.sim.classic_worker.house import GROUP, Call

READS_ALL = assignor("connect", -1, 0, version=0)
READS_NEW = assignor("connect", 0, 0)


class Worker(NewWorker):
    """A worker of the new protocol that does all that one does."""

    nonsense = False
    """It installs what makes no sense."""
    stubborn = False
    """It does not stop what it is told to."""
    configs: Configs | None = None
    """What it knows and has not said yet."""

    def send(self, request: Request) -> None:
        """Ask by the newest connection."""
        self._number += 1
        call = Call(self, self.connection, self._number, request, 0)  # type: ignore[arg-type]
        self.house.events.after(1, self.house.arrive, call)

    def beat(self, epoch: int | None = None) -> None:
        """Send a heartbeat; one that joins says all."""
        if self.configs is None or epoch is not None or self.closed is not None:
            super().beat(epoch)
            return
        configs, self.configs = self.configs, None
        owned = pack(self.runs, heartbeat_request.ConnectorsAndTasks, heartbeat_request.ConnectorTaskId)
        configured = pack(configs.resources(), heartbeat_request.ConnectorsAndTasks, heartbeat_request.ConnectorTaskId)
        self.send(
            ConnectGroupHeartbeatRequest(
                GROUP,
                self.member_id,
                self.epoch,
                connectors_and_tasks=owned,
                config_offset=configs.offset,
                configured_connectors_and_tasks=configured,
                **({} if self.epoch else self.fields),
            )
        )

    def lose(self) -> None:
        """Its next heartbeat says all again."""
        self.configs = self.house.topic.newest
        super().lose()

    def hear(self, configs: object) -> None:
        """It has read on."""
        assert isinstance(configs, Configs)
        self.configs = configs

    def received(self, number: int, response: Response, now_ms: int) -> list[Send]:
        """Compute, too."""
        match response:
            case ConnectGroupPrepareAssignmentResponse():
                if not response.error_code and self.closed is None:
                    self.send(self._computed(response))
            case ConnectGroupInstallAssignmentResponse():
                pass
            case ConnectGroupHeartbeatResponse():
                return self._told(number, response, now_ms)
        return []

    def _told(self, number: int, response: ConnectGroupHeartbeatResponse, now_ms: int) -> list[Send]:
        if response.error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH):
            self.configs = self.house.topic.newest
        computes = response.error_code == ErrorCode.COMPUTE_ASSIGNMENT
        if computes:
            response.error_code = ErrorCode.NONE
        super().received(number, response, now_ms)
        if computes and self.closed is None:
            self.send(ConnectGroupPrepareAssignmentRequest(GROUP, self.member_id, self.epoch))
        return []

    def _computed(self, prepared: ConnectGroupPrepareAssignmentResponse) -> ConnectGroupInstallAssignmentRequest:
        made = MixedAssignor().assign(_input(prepared))
        members = [
            install_request.Member(
                each.member_id,
                pack(each.resources, install_request.ConnectorsAndTasks, install_request.ConnectorTaskId),
            )
            for each in made.members
        ]
        if self.nonsense:
            members.append(install_request.Member("nobody"))
        return ConnectGroupInstallAssignmentRequest(
            GROUP,
            self.member_id,
            self.epoch,
            prepared.group_epoch,
            made.error,
            members,
            made.scheduled_delay_ms,
        )


def _input(prepared: ConnectGroupPrepareAssignmentResponse) -> Group:
    configured = prepared.configured_connectors_and_tasks
    return Group(
        tuple(
            Member(
                each.member_id,
                each.instance_id,
                each.url,
                unpack(each.connectors_and_tasks),
                each.assignor.version,
                metadata=each.assignor.metadata,
            )
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


class Fleet(ConvertedFleet):
    """Both kinds of workers, and what is always true after each step."""

    def __init__(self, mode: ClassicMode = ClassicMode.INDIVIDUAL) -> None:
        super().__init__(
            GroupSettings(
                initial_rebalance_delay_ms=100,
                connect=ConnectSettings(
                    heartbeat_interval_ms=INTERVAL_MS,
                    min_heartbeat_interval_ms=100,
                    rebalance_delay_ms=5_000,
                    classic_mode=mode,
                ),
            )
        )

    def check(self) -> None:
        """`take` looks at each step already; a load at each would take long."""

    def new(self, name: str, reads_all: bool = True) -> Worker:
        """Start a worker of the new protocol."""
        listed = READS_ALL if reads_all else READS_NEW
        worker = Worker(self, name, {"client_assignors": [listed]})
        worker.configs = self.topic.newest
        self.news.append(worker)
        self.hosts.append(worker)  # type: ignore[arg-type]
        worker.beat()
        return worker
