"""The description of a connect group: the response of ConnectGroupDescribe, as commands use it."""

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs

from kcoord.assign import Resource
from kcoord.cli.calls.group_ownership import KCOORD, UNKNOWN, Ownership, owner_of
from kcoord.cli.calls.modern_groups import Epoch, GroupView, MemberView, Words, none_if_unset
from kcoord.cli.output.resource_texts import resources_json, resources_text
from kcoord.cli.output.times import span
from kcoord.client import Broker, ClientError, Cluster
from kcoord.client.connection import error_name
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_describe_response as wire
from kcoord.protocol.messages import ConnectGroupDescribeRequest, ConnectGroupDescribeResponse
from kcoord.protocol.resources import unpack

Resources = frozenset[Resource]

PUT_OUT = "PutOut"
"""The state of a worker that has left without having stopped, or that did not stop in time. Its work is kept for it."""
NEW_PROTOCOL = "connect"


@attrs.frozen
class Worker(MemberView[Resource]):
    """A member of the group. Its state may also be PutOut."""

    url: str | None = None
    protocol: str = NEW_PROTOCOL
    """connect; or, for a classic worker, its newest embedded protocol: default, compatible, sessioned."""
    generation: int | None = None
    """For a classic worker: the generation that it knows."""
    leads: bool = False
    """Whether it is the leader that the classic workers know."""
    trouble: str | None = None
    """The trouble that the worker reports about itself."""

    @property
    def is_classic(self) -> bool:
        """Whether it speaks the classic protocol."""
        return self.protocol != NEW_PROTOCOL

    def as_json(self) -> dict[str, Any]:
        return {
            "member": self.member,
            "instance": self.instance,
            "client": self.client,
            "host": self.host,
            "url": self.url,
            "epoch": self.epoch,
            "state": self.state,
            "owns": resources_json(self.owns),
            "target": resources_json(self.target),
            "waits_for": resources_json(self.waits_for),
            "must_release": resources_json(self.must_release),
            "protocol": self.protocol,
            "generation": self.generation,
            "leads": self.leads,
            "trouble": self.trouble,
        }


@attrs.frozen
class Departed:
    """A worker that has left, whose resources wait for its return."""

    member: str
    instance: str | None
    url: str | None
    resources: Resources

    def as_json(self) -> dict[str, Any]:
        return {
            "member": self.member,
            "instance": self.instance,
            "url": self.url,
            "resources": resources_json(self.resources),
        }


@attrs.frozen
class ClassicPart:
    """How a group manages classic workers. All fields are None if the coordinator does not say."""

    mode: str | None = None
    """The value of connect.classic.mode in force."""
    policy: str | None = None
    """The value of connect.migration.policy in force."""
    protocol: str | None = None
    """The embedded protocol that the classic workers speak with each other."""
    barrier: str | None = None
    """Why they must all join together. None: each is managed by itself, or there are none."""

    def as_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


@attrs.frozen
class Delay:
    """How long a gone worker's resources wait for its return. Release 0.1.0 does not say."""

    ms: int | None = None
    source: int = 0
    """1: the group's own setting, 2: its workers, 3: the server's setting."""

    def told(self) -> str:
        """The delay for people."""
        who = {1: "the group's setting", 2: "its workers' own setting", 3: "the server's setting"}.get(self.source, "")
        return "" if self.ms is None else f"{span(self.ms)}, by {who}"


@attrs.frozen
class Misplaced:
    """Resources that cannot be where the placement rules want them."""

    reason: str
    is_running: bool
    """Whether they still run where they were."""
    resources: Resources

    def as_json(self) -> dict[str, Any]:
        return {"reason": self.reason, "running": self.is_running, "resources": resources_json(self.resources)}


@attrs.frozen
class PlacementStanding:
    """How far a group's placement rules are met."""

    state: int = 0
    """0: no rules; 1: met; 2: more has to move; 3: not followed, because workers compute the assignment; 4: no rules,
    and rules would not be followed, because workers compute.
    """
    misplaced: tuple[Misplaced, ...] = ()

    @property
    def is_possible(self) -> bool:
        """Whether rules are followed, or would be."""
        return self.state not in (3, 4)

    def told(self) -> Iterator[str]:
        """Lines for people."""
        words = {2: "more is to move", 3: "not followed: workers compute the assignment, all together or one of them"}
        if self.state in words:
            yield f"placement rules: {words[self.state]}"
        for each in self.misplaced:
            where = "runs on where it was" if each.is_running else "runs nowhere"
            yield f"{resources_text(each.resources)} {where}: {each.reason}"

    def as_json(self) -> dict[str, Any]:
        names = ("none", "followed", "moving", "not followed", "none")
        state = names[self.state] if self.state < len(names) else str(self.state)
        return {"state": state, "misplaced": [each.as_json() for each in self.misplaced]}


NO_DELAY_TOLD, NO_PLACEMENT = Delay(), PlacementStanding()


@attrs.frozen
class Repeats:
    """Whether a group's rebalances repeat themselves."""

    times: int = 0
    """How many of the latest rebalances in a row had the same input and the same result as an earlier one."""
    waits_ms: int | None = None
    """How long the next rebalance still waits because of that. None: it does not wait."""

    def told(self) -> Iterator[str]:
        """A line for people if a rebalance waits."""
        if self.waits_ms is not None:
            yield f"the last {self.times} rebalances changed nothing: the next one waits another {span(self.waits_ms)}"

    def as_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


NO_REPEATS = Repeats()


@attrs.frozen
class ConnectGroup(GroupView[Worker]):
    """A connect group as its coordinator describes it."""

    KIND: ClassVar[str] = "connect"
    WORDS: ClassVar[Words] = Words("worker", "workers", "connector or task", "connectors and tasks")
    FIRST_EPOCH: ClassVar[int] = 0

    computing: str | None
    """The worker that computes the next assignment. None: nobody computes, or the coordinator does."""
    configured: Resources | None
    """All resources that exist. None if no worker has reported them."""
    departed: tuple[Departed, ...]
    delay_ms: int | None
    """How much longer the resources of departed workers wait. None: no such delay is running."""
    error: int
    error_message: str | None
    classic: ClassicPart = ClassicPart()
    note: str = ""
    """For a group in quarantine: that it is in quarantine."""
    repeats: Repeats = NO_REPEATS
    config_offset: int = -1
    """The config offset that `configured` comes from. -1: none."""
    config_source: int = 0
    """What that offset counts, see `protocol/config_source`."""
    delay: Delay = NO_DELAY_TOLD
    placement: PlacementStanding = NO_PLACEMENT

    def shares_json(self, shares: Resources) -> dict[str, Any]:
        """Connectors and tasks, for programs."""
        return resources_json(shares)

    @property
    def free(self) -> Resources:
        """Resources that exist and that no worker owns."""
        return (self.configured or frozenset()).difference(*(each.owns for each in self.workers))

    def as_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "exists": True,
            "type": self.KIND,
            "coordinated_by": KCOORD,
            "state": self.state,
            "coordinator": self.coordinator,
            "epoch": self.epoch,
            "assignment_epoch": self.assignment_epoch,
            "assignor": self.assignor,
            "computing": self.computing,
            "delay_ms": self.delay_ms,
            "assignment_error": self.error,
            "assignment_error_message": self.error_message,
            "configured": None if self.configured is None else resources_json(self.configured),
            "members": [each.as_json() for each in self.workers],
            "departed": [each.as_json() for each in self.departed],
            "classic": self.classic.as_json(),
            "legacy": self.classic.as_json(),
            "note": self.note,
            "repeats": self.repeats.as_json(),
            "rebalance_delay": attrs.asdict(self.delay),
            "placement": self.placement.as_json(),
        }


@attrs.frozen
class NoConnectGroup:
    """Why a group cannot be described as a connect group."""

    served: bool
    """Whether the coordinator knows connect groups at all."""
    why: str
    classic: ClassicPart | None = None
    """Set for a classic group of Connect workers."""
    repeats: Repeats = NO_REPEATS
    ownership: Ownership = UNKNOWN


async def describe_connect_group(cluster: Cluster, broker: Broker, group: str) -> ConnectGroup | NoConnectGroup:
    """Ask the group's coordinator. Raises ClientError."""
    connection = await cluster.to(broker)
    address = address_of(broker)
    if not connection.serves(ConnectGroupDescribeRequest):
        return NoConnectGroup(False, f"{address} does not serve connect groups (ConnectGroupDescribe)")
    response = await connection.send(ConnectGroupDescribeRequest(group_ids=[group]), ConnectGroupDescribeResponse)
    for each in response.groups:
        if each.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
            classic = None if each.classic_mode is None else _classic(each)
            why = each.error_message or f"Group {group} not found."
            return NoConnectGroup(True, why, classic, _repeats(each), owner_of(each, connection))
        if each.error_code:
            raise ClientError(
                f"{address} does not describe {group}: {each.error_message or error_name(each.error_code)}"
            )
        return _group(each, address)
    raise ClientError(f"{address} says nothing about {group}")


def address_of(broker: Broker) -> str:
    """`host:port (node id)`."""
    return f"{broker.host}:{broker.port} ({broker.node_id})"


def _group(told: wire.DescribedGroup, address: str) -> ConnectGroup:
    return ConnectGroup(
        group=told.group_id,
        coordinator=address,
        state=told.group_state,
        epoch=told.group_epoch,
        assignment_epoch=told.assignment_epoch,
        assignor=told.assignor_name,
        workers=tuple(sorted(map(_worker, told.members), key=lambda each: (each.instance or "", each.member))),
        computing=told.computing_member_id,
        configured=None if told.configured is None else unpack(told.configured),
        config_offset=told.config_offset,
        config_source=told.config_source,
        departed=tuple(
            Departed(each.member_id, each.instance_id, each.url, unpack(each.connectors_and_tasks))
            for each in told.departed
        ),
        delay_ms=none_if_unset(told.remaining_delay_ms),
        error=told.assignment_error,
        error_message=told.assignment_error_message,
        history=tuple(
            Epoch.of(each, lambda move: unpack(move.connectors_and_tasks))
            for each in sorted(told.history, key=lambda each: each.epoch)
        ),
        classic=_classic(told),
        note=told.error_message or "",
        repeats=_repeats(told),
        delay=Delay(none_if_unset(told.rebalance_delay_ms), told.rebalance_delay_source),
        placement=PlacementStanding(
            told.placement_state,
            tuple(
                [Misplaced(each.reason, each.is_running, unpack(each.connectors_and_tasks)) for each in told.misplaced]
            ),
        ),
    )


def _repeats(told: wire.DescribedGroup) -> Repeats:
    return Repeats(told.repeated_rebalances, none_if_unset(told.computes_in_ms))


def _classic(told: wire.DescribedGroup) -> ClassicPart:
    return ClassicPart(told.classic_mode, told.migration_policy, told.embedded_protocol, told.barrier)


def _worker(told: wire.Member) -> Worker:
    return Worker(
        member=told.member_id,
        instance=told.instance_id,
        client=told.client_id,
        host=told.client_host.removeprefix("/"),
        url=told.url,
        epoch=told.member_epoch,
        state=told.state,
        owns=unpack(told.owned),
        target=unpack(told.target),
        waits_for=unpack(told.waiting_for),
        must_release=unpack(told.to_release),
        protocol=told.protocol,
        generation=none_if_unset(told.generation),
        leads=told.leads,
        trouble=told.trouble,
    )
