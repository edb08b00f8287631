"""The member of the instances' group: aiokafka's group member with kcoord's own assignor.

This module uses aiokafka's internals, so that no other module must. aiokafka's `GroupCoordinator` is what makes an
`AIOKafkaConsumer` a member. Here it works without a consumer, because nothing is fetched. Rules:

1. aiokafka uses the eager protocol: each join announces that the member has given everything up. The instance does not
   do that. It goes on serving through a round, and `Hooks.joining` releases only what the last map took away.
2. An aiokafka assignor is a class without instances, so each member makes a class of its own.
3. aiokafka does not tell a member that it is cut off, and waits for a heartbeat as long as for a whole round. So
   heartbeats have a limit of their own here, and `alive_ms` keeps the time of the last sign of membership.
4. Errors that aiokafka passes to the user (missing rights, an unknown answer) are logged, and the member goes on. If
   aiokafka's task ends altogether, a new one starts, as a new member.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import attrs
from aiokafka.abc import ConsumerRebalanceListener
from aiokafka.client import ConnectionGroup, CoordinationType
from aiokafka.conn import CloseReason
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.consumer.subscription_state import SubscriptionState
from aiokafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment, ConsumerProtocolMemberMetadata
from aiokafka.errors import KafkaError, RequestTimedOutError, for_code
from aiokafka.protocol.admin import DescribeGroupsRequest
from aiokafka.protocol.group import HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest

from kcoord.log.clock import lease_now_ms
from kcoord.log.kafka.kafka_client import KafkaClient
from kcoord.protocol.errors import ErrorCode

__all__ = ["GroupMember", "GroupMemberSettings", "Hooks", "Unreachable"]

log = logging.getLogger("kcoord.instances")

PROTOCOL_NAME = "kcoord"
USER_DATA_VERSION = 0
NEVER_IDLE_MS = 10**15
"""aiokafka makes a member leave that fetches nothing for this long; this member never fetches."""
ROUND_SLACK_MS = 5_000
"""The answer to a round's request may come this much later than the round may last."""
RETRY_MS = 100
LEAVE_S = 1.0
START_AGAIN_S = 1.0
ERRORS_PAUSE_S = 5.0
STILL_MEMBER = (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
NO_MEMBER = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)
ASKED_IN_VAIN = (KafkaError, TimeoutError, OSError)
"""Errors of a request without an answer."""


class Unreachable(Exception):
    """The group's coordinator cannot be reached at the moment."""


@attrs.frozen(kw_only=True)
class GroupMemberSettings:
    """The group, its topic, and its timeouts."""

    group: str
    topic: str
    kafka: Mapping[str, Any]
    """aiokafka's arguments: `bootstrap_servers` and security."""
    client_id: str
    session_timeout_ms: int
    heartbeat_interval_ms: int

    @property
    def rebalance_timeout_ms(self) -> int:
        """How long a round waits for a living member. It is the session timeout, because a round waits that long for a
        dead member in any case.
        """
        return self.session_timeout_ms

    @property
    def heartbeat_limit_s(self) -> float:
        """How long a heartbeat may take before its connection counts as broken."""
        return max(self.heartbeat_interval_ms, self.session_timeout_ms / 3) / 1000


class Hooks(Protocol):
    """What the member needs from its user. A place is a member id: a member that falls out of the group gets
    another.
    """

    async def connected(self) -> None:
        """Called when there is a connection, before the first round."""
        ...

    def facts(self, place: str) -> bytes:
        """The metadata for joining a round from `place`; an empty `place` means none yet."""
        ...

    def divide(self, leader: str, generation: int, members: Mapping[str, bytes]) -> dict[str, tuple[list[int], bytes]]:
        """Called on the leader of a round. Returns for each member the partitions that Kafka's tools show, and the data
        for it.
        """
        ...

    def told(self, place: str, data: bytes) -> None:
        """Called with the data from the leader of the round."""
        ...

    async def joining(self, place: str) -> None:
        """Called before a round is joined from `place`. An empty `place` means that the member fell out of the
        group.
        """
        ...


class GroupMember:
    """One member of the instances' group, for as long as the instance runs."""

    def __init__(self, settings: GroupMemberSettings, hooks: Hooks) -> None:
        self._settings = settings
        self._hooks = hooks
        self._client: Any = None
        self._coordinator: _Coordinator | None = None
        self._running: asyncio.Task[None] | None = None

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to join. The member keeps trying until `leave`, whatever Kafka does."""
        self._running = asyncio.get_running_loop().create_task(self._run())

    async def leave(self) -> None:
        """Leave the group, so that the others need not wait for the end of the session. Takes a few seconds at most."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait({self._running})
            self._running = None
        coordinator, client = self._coordinator, self._client
        self._coordinator = self._client = None
        if coordinator is not None:
            await coordinator.stop()
        if client is not None:
            await client.close_in_time()

    def rejoin(self) -> None:
        """Ask for another round."""
        if self._coordinator is not None:
            self._coordinator.request_rejoin()

    # -- facts --------------------------------------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """The member id; empty if there is none."""
        return "" if self._coordinator is None else str(self._coordinator.member_id)

    @property
    def alive_ms(self) -> int | None:
        """When the group last confirmed this member (`lease_now_ms`); None: never."""
        return None if self._coordinator is None else self._coordinator.alive_ms

    @property
    def is_joining(self) -> bool:
        """Whether a round has been joined and has not ended yet. No heartbeats are sent then."""
        return self._coordinator is not None and self._coordinator.in_round

    async def is_current(self) -> bool:
        """Ask the group now whether this is still a member. Raises Unreachable."""
        coordinator = self._coordinator
        if coordinator is None:
            raise Unreachable("the instances' group has not been joined")
        return await coordinator.ask(self._settings.heartbeat_limit_s)

    async def evict(self, place: str) -> None:
        """Remove another member, which has died and cannot leave by itself, from the group. Raises Unreachable."""
        coordinator = self._coordinator
        node = None if coordinator is None else coordinator.coordinator_id
        answer = await self._ask_group(LeaveGroupRequest(self._settings.group, place), node)
        if answer.error_code not in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID):
            raise Unreachable(f"{place} could not be taken out of the group: {_said(for_code(answer.error_code)())}")

    async def described(self) -> dict[str, bytes]:
        """The metadata with which each member joined the last round, by place; empty while a round is under way. Raises
        Unreachable.
        """
        answer = await self._ask_group(DescribeGroupsRequest([self._settings.group]), None)
        described: dict[str, bytes] = {}
        for group in answer.groups:
            for member_id, *_, metadata, _assignment in group[5]:
                if metadata:
                    said = ConsumerProtocolMemberMetadata.decode(metadata)
                    described[str(member_id)] = bytes(said.user_data or b"")
        return described

    async def _ask_group(self, request: Any, node: int | None) -> Any:
        """The answer of the broker that coordinates the group; `node` is that broker if it is known. Raises
        Unreachable.
        """
        client = self._client
        if client is None:
            raise Unreachable("the instances' group has not been joined")
        try:
            async with asyncio.timeout(self._settings.heartbeat_limit_s):
                if node is None:
                    node = await client.coordinator_lookup(CoordinationType.GROUP, self._settings.group)
                    await client.ready(node)
                return await client.send(node, request)
        except ASKED_IN_VAIN as error:
            raise Unreachable(f"the coordinator of the instances' group does not answer: {error!r}") from error

    async def ask_any_broker(self, request: Any) -> Any:
        """The answer of some broker to a request that every broker can answer. Raises Unreachable."""
        client = self._client
        node = None if client is None else client.get_random_node()
        if node is None:
            raise Unreachable("no broker is known")
        try:
            async with asyncio.timeout(self._settings.heartbeat_limit_s):
                return await client.send(node, request)
        except ASKED_IN_VAIN as error:
            raise Unreachable(f"broker {node} does not answer: {error!r}") from error

    # -- running ------------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            try:
                await self._connect()
                await self._watch()
            except (KafkaError, OSError) as error:
                log.error(
                    "the instances' group %s cannot be joined at %s: %s. Trying again",
                    self._settings.group,
                    self._settings.kafka.get("bootstrap_servers"),
                    _said(error),
                )
            except Exception:  # without a retry it would stay out, and hold what others have taken
                log.exception("a fault in the instances' group %s, trying again", self._settings.group)
            coordinator, self._coordinator = self._coordinator, None
            if coordinator is not None:
                await coordinator.stop()
            await self._hooks.joining("")
            await asyncio.sleep(START_AGAIN_S)

    async def _connect(self) -> None:
        settings = self._settings
        if self._client is None:
            client = KafkaClient(
                client_id=settings.client_id,
                request_timeout_ms=settings.rebalance_timeout_ms + ROUND_SLACK_MS,
                retry_backoff_ms=RETRY_MS,
                **settings.kafka,
            )
            client.set_topics([settings.topic])
            try:
                await client.bootstrap()
            except BaseException:
                await client.close_in_time()
                raise
            self._client = client
        await self._client._wait_on_metadata(settings.topic)
        await self._hooks.connected()
        self._coordinator = _Coordinator(self._client, settings, self._hooks)

    async def _watch(self) -> None:
        """Log aiokafka's errors. Returns when aiokafka's task has ended."""
        coordinator = self._coordinator
        assert coordinator is not None
        while not coordinator.has_ended:
            pause = self._settings.heartbeat_interval_ms / 1000
            try:
                coordinator.check_errors()
            except KafkaError as error:
                log.error("the instances' group %s: %s", self._settings.group, _said(error))
                coordinator.go_on()
                pause = ERRORS_PAUSE_S
            await asyncio.wait({coordinator.routine}, timeout=pause)


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    """The listener that aiokafka waits for before a round."""

    def __init__(self, joining: Any) -> None:
        self._joining = joining

    async def on_partitions_revoked(self, revoked: Any) -> None:
        await self._joining()

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Does nothing: the assignor already has the assignment."""


class _Coordinator(GroupCoordinator):  # type: ignore[misc]
    """aiokafka's member, which here keeps the time of the last sign of membership and limits the wait for a
    heartbeat.
    """

    def __init__(self, client: Any, settings: GroupMemberSettings, hooks: Hooks) -> None:
        self.alive_ms: int | None = None
        self.in_round = False
        self._limit_s = settings.heartbeat_limit_s
        self._hooks = hooks
        subscription = SubscriptionState()
        subscription.register_fetch_waiters(set())  # as aiokafka's fetcher does; else any error ends its task
        super().__init__(
            client,
            subscription,
            group_id=settings.group,
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            retry_backoff_ms=RETRY_MS,
            enable_auto_commit=False,
            assignors=(_assignor(self, hooks, settings.topic),),
            max_poll_interval_ms=NEVER_IDLE_MS,
            rebalance_timeout_ms=settings.rebalance_timeout_ms,
        )
        subscription.subscribe({settings.topic}, _Listener(self._about_to_join))

    @property
    def routine(self) -> asyncio.Task[None]:
        """aiokafka's own task."""
        task: asyncio.Task[None] = self._coordination_task
        return task

    @property
    def has_ended(self) -> bool:
        return self.routine.done()

    async def stop(self) -> None:
        """Leave within a bounded time, even in the middle of a round."""
        try:
            async with asyncio.timeout(LEAVE_S):
                if self.in_round:
                    self._coordination_task.cancel()
                    await asyncio.wait({self._coordination_task})
                    if self.coordinator_id is not None:  # a broker reads nothing after a join that waits
                        self._close_connection(self.coordinator_id, ConnectionGroup.COORDINATION)
                await self.close()
        except (Exception, asyncio.CancelledError) as error:
            log.warning("the instances' group %s could not be left in good order: %s", self.group_id, _said(error))
            for task in (self._coordination_task, self._heartbeat_task, self._commit_refresh_task):
                if task is not None:
                    task.cancel()
            stopping = asyncio.current_task()
            if stopping is not None and stopping.cancelling():  # the caller was cancelled, not one of these tasks
                raise

    def go_on(self) -> None:
        """Ask for another round if heartbeats have ended: aiokafka ends them with an error that it passes to the user,
        and starts them again only in another round.
        """
        if self._heartbeat_task is not None and self._heartbeat_task.done():
            self.request_rejoin()

    async def ask(self, limit_s: float) -> bool:
        """Whether the group knows this member in its generation. Raises Unreachable.

        This uses another connection than the round, because a broker answers nothing after a join that waits.
        """
        place, generation, node = self.member_id, self.generation, self.coordinator_id
        if not place or generation < 0:
            return False
        if node is None:
            raise Unreachable("the coordinator of the instances' group is not known")
        try:
            async with asyncio.timeout(limit_s):
                answer = await self._client.send(node, HeartbeatRequest(self.group_id, generation, place))
        except ASKED_IN_VAIN as error:
            self._close_connection(node, ConnectionGroup.DEFAULT)
            raise Unreachable(f"broker {node} does not answer: {_said(error)}") from error
        code = answer.error_code
        if code in STILL_MEMBER:
            return True
        if code in NO_MEMBER:
            return False
        is_the_newest = not self.in_round and (place, generation) == (self.member_id, self.generation)
        if code == ErrorCode.ILLEGAL_GENERATION and is_the_newest:  # else a round's answer may be under way
            return False
        raise Unreachable(f"broker {node} cannot tell: {_said(for_code(code)())}")

    async def _send_req(self, request: Any) -> Any:
        began_ms = lease_now_ms()
        of_round = isinstance(request, JoinGroupRequest | SyncGroupRequest)
        self.in_round = self.in_round or of_round
        try:
            if isinstance(request, HeartbeatRequest):
                answer = await self._heartbeat(request)
            else:
                answer = await super()._send_req(request)
        except KafkaError:
            self.in_round = False
            raise
        if of_round:
            began_ms = lease_now_ms()  # the group has waited, and knew this member to the end
            self.in_round = answer.error_code == ErrorCode.NONE and isinstance(request, JoinGroupRequest)
        if answer.error_code in STILL_MEMBER:
            self.alive_ms = began_ms
        return answer

    async def _heartbeat(self, request: Any) -> Any:
        node = self.coordinator_id
        try:
            async with asyncio.timeout(self._limit_s):
                return await super()._send_req(request)
        except TimeoutError:
            if node is not None:
                self._close_connection(node, ConnectionGroup.COORDINATION)
            self.coordinator_dead()
            raise RequestTimedOutError from None

    def _close_connection(self, node: int, group: ConnectionGroup) -> None:
        connection = self._client._conns.get((node, group))
        if connection is not None:
            connection.close(reason=CloseReason.CONNECTION_TIMEOUT)

    async def _about_to_join(self) -> None:
        await self._hooks.joining(str(self.member_id))


def _assignor(coordinator: _Coordinator, hooks: Hooks, topic: str) -> type[AbstractPartitionAssignor]:
    class InstancesAssignor(AbstractPartitionAssignor):  # type: ignore[misc]
        name = PROTOCOL_NAME

        @classmethod
        def metadata(cls, topics: Iterable[str]) -> Any:
            facts = hooks.facts(str(coordinator.member_id))
            return ConsumerProtocolMemberMetadata(USER_DATA_VERSION, sorted(topics), facts)

        @classmethod
        def assign(cls, cluster: Any, members: Mapping[str, Any]) -> dict[str, Any]:
            said = {member: bytes(metadata.user_data or b"") for member, metadata in members.items()}
            divided = hooks.divide(str(coordinator.member_id), int(coordinator.generation), said)
            return {
                member: ConsumerProtocolMemberAssignment(USER_DATA_VERSION, [(topic, partitions)], data)
                for member, (partitions, data) in divided.items()
            }

        @classmethod
        def on_assignment(cls, assignment: Any) -> None:
            hooks.told(str(coordinator.member_id), bytes(assignment.user_data or b""))

    return InstancesAssignor


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__
