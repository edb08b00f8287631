"""Is one step of a group of 5,000 members whole or nothing, also when its coordinator is killed in the middle of it?

An install for all of them is one step of more than 4 MiB of records. The coordinator is killed when a part of these has
gone to Kafka: at one of the batches, before the end of the transaction, and when that end is on its way.

The members stand in the log when the instances start: 5,000 joins of clients would take longer than all the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest
from aiokafka.protocol.produce import ProduceRequest
from aiokafka.protocol.transaction import EndTxnRequest

from kcoord.group.partition_of_group import partition_of
from kcoord.group.shard import Shard
from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext
from kcoord.log.kafka.log import KafkaLog
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_install_assignment_request as install
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
)
from kcoord.protocol.records import (
    ConnectWorkerGroupTargetAssignmentKey,
    ConnectWorkerGroupTargetAssignmentMemberKey,
    decode_record,
    encode_record,
)
from kcoord.protocol.resources import unpack
from tests.faults.caller import Caller, Lost
from tests.faults.checker import PASSING, errors
from tests.faults.connect_member import ASSIGNOR
from tests.faults.history import History
from tests.faults.instances import PARTITIONS, Instances, instances
from tests.faults.length import has_long_form, rounds
from tests.faults.log_contents import records
from tests.faults.proxy import KafkaProxy
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import DEADLINE_S

GROUP = "large"
MEMBERS = 5_000
LONG_MS = 600_000
METADATA = 1_000
"""So many bytes for each member make a step of more than 4 MiB."""
SETTINGS: dict[str, object] = {
    "group.connect.max.session.timeout.ms": LONG_MS,
    "group.connect.session.timeout.ms": LONG_MS,
    "group.connect.heartbeat.interval.ms": 10_000,
    "coordinator.lease.ms": 5_000,
    "instances.session.timeout.ms": 6_000,
}
CONNECTOR = "connector-" + "x" * 50
PRODUCE, END = ProduceRequest.API_KEY, EndTxnRequest.API_KEY
WAIT_S = 60.0
BEGUN = 2
"""When so many batches have passed, the step is being written: an end is its own then."""


@attrs.frozen
class Moment:
    """When the coordinator dies: at the so manieth request of an API. `passed`: that one reaches Kafka nevertheless."""

    name: str
    api_key: int
    number: int
    passed: bool = False


MOMENTS = [
    Moment("at the second batch", PRODUCE, 2),
    Moment("at the last batch but one", PRODUCE, 5),
    Moment("before the end", END, 1),
    Moment("with the end on its way", END, 1, passed=True),
]


@attrs.define
class Killer:
    """Kills the instance behind a proxy at a moment."""

    moment: Moment | None = None
    seen: int = 0
    produced: int = 0
    killed: list[Kcoord] = attrs.Factory(list)

    def of(self, kcoord: Callable[[], Kcoord]) -> Callable[[int], Awaitable[None]]:
        """What the proxy of this one is to call. An end before batches is that of a tick, which has none."""

        async def catch(api_key: int) -> None:
            moment = self.moment
            if moment is None or self.killed:
                return
            self.produced += api_key == PRODUCE
            if api_key != moment.api_key or (api_key == END and self.produced < BEGUN):
                return
            self.seen += 1
            if self.seen == moment.number:
                self.killed.append(kcoord())
                kcoord().kill()
                if not moment.passed:
                    raise ConnectionResetError(moment.name)

        return catch


@attrs.define
class Client:
    """Everybody in one: it says what any member says."""

    caller: Caller

    async def until_told(self, call: str, request: Any, answer: type[Any], error: Callable[[Any], int]) -> Any:
        """Ask until there is an answer that does not pass."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + 2 * DEADLINE_S
        while True:
            try:
                told, reply = await self.caller.ask(call, request, answer, wait_s=WAIT_S, error=error)
                if not reply.passing:
                    return told
            except Lost:
                pass
            assert loop.time() < deadline_s, f"{call} is not answered"

    async def describe(self) -> Any:
        request = ConnectGroupDescribeRequest([GROUP])
        answer = await self.until_told(
            "describe", request, ConnectGroupDescribeResponse, lambda answer: int(answer.groups[0].error_code)
        )
        return answer.groups[0]

    async def prepare(self) -> tuple[str, int]:
        """Be the member that was chosen; its id and the group epoch."""
        chosen = (await self.describe()).computing_member_id
        assert chosen is not None
        await self.until_told(  # after a load nobody prepares before the next heartbeat (CG-19)
            "heartbeat",
            ConnectGroupHeartbeatRequest(GROUP, chosen, 0),
            ConnectGroupHeartbeatResponse,
            lambda answer: int(answer.error_code),
        )
        prepared = await self.until_told(
            "prepare",
            ConnectGroupPrepareAssignmentRequest(GROUP, chosen, 0),
            ConnectGroupPrepareAssignmentResponse,
            lambda answer: int(answer.error_code),
        )
        assert prepared.error_code == ErrorCode.NONE, prepared
        assert len(prepared.members) == MEMBERS
        return chosen, prepared.group_epoch

    async def install(self, chosen: str, group_epoch: int) -> ErrorCode | None:
        """One task for each; None where no answer comes."""
        members = [
            install.Member(
                name(number),
                [install.ConnectorsAndTasks([], [install.ConnectorTaskId(CONNECTOR, number)])],
                0,
                Random(number).randbytes(METADATA),
            )
            for number in range(MEMBERS)
        ]
        request = ConnectGroupInstallAssignmentRequest(GROUP, chosen, 0, group_epoch, members=members)
        try:
            _, reply = await self.caller.ask("install", request, ConnectGroupInstallAssignmentResponse, wait_s=WAIT_S)
        except Lost:
            return None
        return reply.error


def name(number: int) -> str:
    """A member's id."""
    return f"worker-{number:05}"


async def write_members(kafka: KafkaCluster, topic: str) -> None:
    """A log of a group that all members have joined: the records of one join, for each of them."""
    session = ConnectSettings(session_timeout_ms=LONG_MS, max_session_timeout_ms=LONG_MS)
    shard = Shard(GroupSettings(connect=session), lambda: "id")
    join = ConnectGroupHeartbeatRequest(
        GROUP, name(0), 0, rebalance_timeout_ms=LONG_MS, client_assignors=[ASSIGNOR], connectors_and_tasks=[]
    )
    step = shard.handle(join, RequestContext(0, "everybody", "/127.0.0.1", 1, 1), object(), 1)
    first = [encode_record(record) for record in step.records]
    log = KafkaLog(KafkaLogSettings(bootstrap=kafka.bootstrap, topic=topic, partitions=PARTITIONS))
    await log.open()
    partition = partition_of(GROUP, PARTITIONS)
    assert [chunk async for chunk in log.load(partition)] == []
    for number in range(MEMBERS):
        one, other = name(0).encode(), name(number).encode()
        batch = [(key.replace(one, other), value) for key, value in first if number == 0 or one in key]
        appended = log.append(partition, batch)
    await appended
    await log.close()


@has_long_form
@pytest.mark.parametrize("moments", [MOMENTS[: rounds(1, 3)] + MOMENTS[-1:]], ids=["in turns"])
async def test_an_install_for_5000_members(kafka: KafkaCluster, tmp_path: Path, moments: list[Moment]) -> None:
    killer = Killer()
    topic = f"large-{tmp_path.name}"
    await write_members(kafka, topic)
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(KafkaProxy.opened(kafka.ports)) for _ in range(2)]
        all_ = await stack.enter_async_context(
            instances(
                kafka, tmp_path, by=lambda number: proxies[number].bootstrap, settings={**SETTINGS, "log.topic": topic}
            )
        )
        for proxy, kcoord in zip(proxies, all_.kcoords, strict=True):
            proxy.catch = killer.of(lambda kcoord=kcoord: kcoord)  # type: ignore[misc]
        history = History()
        client = Client(Caller(all_.bootstrap, history, GROUP, "everybody", Random(0)))
        for moment in moments:
            await install_and_kill(client, killer, moment, all_)
            described = await client.describe()
            assert len(described.members) == MEMBERS, "nobody was lost"
            targets = [unpack(member.target) for member in described.members]
            epochs, written = await asyncio.to_thread(installed, kafka, all_.topic)
            if moment.passed:
                assert described.assignment_epoch == described.group_epoch == max(epochs)
                assert sorted(targets, key=sorted) == [frozenset({(CONNECTOR, number)}) for number in range(MEMBERS)]
                assert written == MEMBERS
            else:
                assert (described.assignment_epoch, set(targets), written) == (0, {frozenset()}, 0), moment
            await all_.start(*killer.killed)
        await client.caller.hang_up()
        assert not list(errors(history.events))


async def install_and_kill(client: Client, killer: Killer, moment: Moment, all_: Instances) -> None:
    """The coordinator dies at that moment of an install."""
    killer.killed.clear()
    while not killer.killed:
        chosen, group_epoch = await client.prepare()
        killer.moment, killer.seen, killer.produced = moment, 0, 0
        told = await client.install(chosen, group_epoch)
        killer.moment = None
        passed = told is not None and told.name in PASSING  # the shard was dropped before that moment
        assert told is None or passed, "nobody is told of what was not finished"


def installed(kafka: KafkaCluster, topic: str) -> tuple[list[int], int]:
    """The assignment epochs that the log has, and how many members have a target in it."""
    epochs, members = [], set()
    for key, value in records(kafka, topic):
        record = decode_record(key, value)
        if isinstance(record.key, ConnectWorkerGroupTargetAssignmentKey) and record.value is not None:
            epochs.append(getattr(record.value, "assignment_epoch", 0))
        elif isinstance(record.key, ConnectWorkerGroupTargetAssignmentMemberKey) and record.value is not None:
            members.add(record.key.member_id)
    return epochs, len(members)
