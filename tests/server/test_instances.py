"""Two kcoords over one topic are one cluster: as users start and stop them (design section 5, GW-19 to GW-21)."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kcoord.group.group_configs import GROUP
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.messages import (
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeConfigsRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatResponse,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
    ListGroupsResponse,
    MetadataRequest,
    MetadataResponse,
)
from tests.connectgroups.configs import change
from tests.faults.proxy import KafkaProxy
from tests.faults.wire import Wire
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port
from tests.server.harness import Client
from tests.server.members import Member

PARTITIONS = 4
NEVER_MS = 600_000
"""A session that does not end within a test."""
INTERVAL = "connect.heartbeat.interval.ms"


class Pair:
    """Two instances, which share a topic of their own."""

    def __init__(
        self,
        kafka: KafkaCluster,
        folder: Path,
        *ways: str,
        wires: Sequence[Wire] = (),
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """`ways`: the bootstrap addresses by which each gets to Kafka, where they are not Kafka's own. `wires`: by
        which each is called by the other.
        """
        name = uuid.uuid4().hex[:8]
        common = {
            "log": "kafka",
            "log.topic": f"offsets-{name}",
            "instances.group": f"instances-{name}",
            "offsets.topic.num.partitions": PARTITIONS,
            "instances.session.timeout.ms": 6_000,
            "internal.secret": "a secret of the tests",
            "group.initial.rebalance.delay.ms": 0,
        }
        self.both: list[Kcoord] = []
        for number, way in enumerate(ways or (kafka.bootstrap, kafka.bootstrap)):
            own = folder / str(number)
            own.mkdir()
            own_settings = {"log.bootstrap": way, "instance.id": number}
            if wires:
                own_settings["internal.listen"] = f"127.0.0.1:{wires[number].to}"
                own_settings["internal.advertise"] = wires[number].address
            else:
                own_settings["internal.listen"] = f"127.0.0.1:{free_port()}"
            self.both.append(Kcoord(own, settings={**common, **own_settings, **(settings or {})}))

    def other(self, one: Kcoord) -> Kcoord:
        return next(each for each in self.both if each is not one)

    def tails(self) -> str:
        return "\n\n".join(each.log.read_text()[-3000:] for each in self.both if each.log.exists())


@pytest.fixture
def pair(kafka: KafkaCluster, tmp_path: Path) -> Iterator[Pair]:
    made = Pair(kafka, tmp_path)
    try:
        for each in made.both:
            each.start()
        yield made
        print(made.tails())
    finally:
        for each in made.both:
            each.remove()


async def ask(kcoord: Kcoord, request: Any, version: int) -> Any:
    async with await Client.connect(kcoord.port) as client:
        return await client.ask(request, version)


async def owner_of(pair: Pair, group: str, among: list[Kcoord] | None = None) -> Kcoord:
    """The instance that both name, once they name the same."""
    asked = among or pair.both
    while True:
        found: set[int] = set()
        for each in asked:
            async with await Client.connect(each.port) as client:
                request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
                _, frame = client.frame(request, 4)
                client.writer.write(frame)
                if not await client.read_frame():
                    found.add(-1)
                    continue
                answer = await client.ask(request, 4)
            assert isinstance(answer, FindCoordinatorResponse)
            [named] = answer.coordinators
            found.add(named.port if named.error_code == ErrorCode.NONE else -1)
        if len(found) == 1 and -1 not in found:
            [port] = found
            return next(each for each in pair.both if each.port == port)
        await asyncio.sleep(0.1)


async def until_both_serve(pair: Pair) -> None:
    while True:
        answers = [await ask(each, DescribeClusterRequest(), 0) for each in pair.both]
        assert all(isinstance(each, DescribeClusterResponse) for each in answers)
        if all(len(each.brokers) == 2 for each in answers):
            return
        await asyncio.sleep(0.1)


async def test_every_instance_names_the_same_nodes_and_owners(pair: Pair, kafka: KafkaCluster) -> None:
    await until_both_serve(pair)
    metadata = [await ask(each, MetadataRequest(topics=[]), 9) for each in pair.both]
    assert metadata[0] == metadata[1]
    assert isinstance(metadata[0], MetadataResponse)
    assert [(each.node_id, each.host, each.port) for each in metadata[0].brokers] == [
        (number, "127.0.0.1", each.port) for number, each in enumerate(pair.both)
    ]
    assert metadata[0].controller_id == 0
    assert metadata[0].cluster_id == kafka.admin().list_topics(timeout=120).cluster_id
    owners = {await owner_of(pair, f"g{number}") is pair.both[0] for number in range(12)}
    assert owners == {True, False}, "both have groups"


async def test_only_the_owner_answers_for_a_group(pair: Pair) -> None:
    await until_both_serve(pair)
    owner = await owner_of(pair, "g")
    [other] = [each for each in pair.both if each is not owner]
    async with await Client.connect(owner.port) as client, await Client.connect(other.port) as elsewhere:
        member = await Member.joined(client, "g")
        strayed = await elsewhere.ask(member.heartbeat_request(), 4)
        assert isinstance(strayed, HeartbeatResponse)
        assert strayed.error_code == ErrorCode.NOT_COORDINATOR
        assert (await member.heartbeat()).error_code == ErrorCode.NONE
        for asked, there in ((client, ["g"]), (elsewhere, [])):
            listed = await asked.ask(ListGroupsRequest(), 4)
            assert isinstance(listed, ListGroupsResponse)
            assert [group.group_id for group in listed.groups] == there


async def test_settings_of_a_group_are_taken_anywhere_and_reach_the_owner(pair: Pair) -> None:
    await until_both_serve(pair)
    owner = await owner_of(pair, "g")
    [other] = [each for each in pair.both if each is not owner]
    while True:
        altered = await ask(other, IncrementalAlterConfigsRequest([change("g", {INTERVAL: "9000"})]), 1)
        [error] = [ErrorCode(each.error_code) for each in altered.responses]
        if error != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:  # the owner is found before it has read all
            break
        await asyncio.sleep(0.1)
    assert error == ErrorCode.NONE
    wanted = DescribeConfigsResource(GROUP, "g", [INTERVAL])
    for each in (owner, other):
        described = await ask(each, DescribeConfigsRequest([wanted]), 4)
        [result] = described.results
        assert [(config.name, config.value) for config in result.configs] == [(INTERVAL, "9000")]


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_a_group_goes_on_with_the_other_instance(pair: Pair, kill: bool) -> None:
    await until_both_serve(pair)
    owner = await owner_of(pair, "g")
    [other] = [each for each in pair.both if each is not owner]
    async with await Client.connect(owner.port) as client:
        member = await Member.joined(client, "g")
    if kill:
        owner.kill()
    else:
        assert await asyncio.to_thread(owner.stop) == 0
    while await owner_of(pair, "g", [other]) is not other:  # until the group of the instances has noticed
        await asyncio.sleep(0.05)
    async with await Client.connect(other.port) as client:
        member.client = client
        while (answer := await member.heartbeat()).error_code != ErrorCode.NONE:
            assert answer.error_code == ErrorCode.NOT_COORDINATOR
            await asyncio.sleep(0.05)


async def test_who_is_cut_off_sends_clients_away(kafka: KafkaCluster, tmp_path: Path) -> None:
    async with KafkaProxy.opened(kafka.ports) as proxy:
        made = Pair(kafka, tmp_path, kafka.bootstrap, proxy.bootstrap)
        try:
            for each in made.both:
                await asyncio.to_thread(each.start)
            await until_both_serve(made)
            whole, cut = made.both
            groups = [f"g{number}" for number in range(20)]
            [group, *_] = [each for each in groups if await owner_of(made, each) is cut]
            async with await Client.connect(cut.port) as client:
                member = await Member.joined(client, group)
                proxy.silence()
                while await owner_of(made, group, [whole]) is cut:
                    await asyncio.sleep(0.1)
                assert (await member.heartbeat()).error_code == ErrorCode.NOT_COORDINATOR
                known = await client.ask(MetadataRequest(topics=[]), 9)
                assert isinstance(known, MetadataResponse)
                assert {each.port for each in known.brokers} == {each.port for each in made.both}
            await until_sent_away(cut, group)
            async with await Client.connect(whole.port) as client:
                member.client = client
                while (answer := await member.heartbeat()).error_code != ErrorCode.NONE:
                    assert answer.error_code == ErrorCode.NOT_COORDINATOR
                    await asyncio.sleep(0.05)
            proxy.mend()
            assert await owner_of(made, group) in made.both
        finally:
            proxy.mend()
            for each in made.both:
                each.remove()


async def until_sent_away(kcoord: Kcoord, group: str) -> None:
    """Until who looks for the group's coordinator has its connection closed."""
    while True:
        async with await Client.connect(kcoord.port) as client:
            _, frame = client.frame(FindCoordinatorRequest(key_type=0, coordinator_keys=[group]), 4)
            client.writer.write(frame)
            if not await client.read_frame():
                return
        await asyncio.sleep(0.1)


# -- an instance that dies, and one that only cannot be reached --------------------------------------------------------


@asynccontextmanager
async def wired(kafka: KafkaCluster, folder: Path, session_ms: int) -> AsyncIterator[tuple[Pair, dict[str, Wire]]]:
    """Two instances, each called by the other by a wire (by the name of its folder), whose sessions last so long."""
    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(Wire.opened(free_port())) for _ in range(2)]
        made = Pair(kafka, folder, wires=wires, settings={"instances.session.timeout.ms": session_ms})
        try:
            for each in made.both:
                await asyncio.to_thread(each.start)
            await until_both_serve(made)
            for each in made.both:
                await until_linked(made, each)
            yield made, {each.folder.name: wire for each, wire in zip(made.both, wires, strict=True)}
            print(made.tails())
        finally:
            for each in made.both:
                each.remove()


async def until_linked(pair: Pair, kcoord: Kcoord) -> None:
    """Until the other has reached this one, so that it would notice its death: a call there is answered through it."""
    other = pair.other(kcoord)
    groups = (f"linked-{number}" for number in range(1000))
    while True:
        group = next(groups)
        if await owner_of(pair, group) is kcoord:
            break
    while True:
        described = await ask(other, DescribeConfigsRequest([DescribeConfigsResource(GROUP, group, [INTERVAL])]), 4)
        if described.results[0].error_code == ErrorCode.NONE:
            return
        await asyncio.sleep(0.05)


async def until_answered(member: Member, kcoord: Kcoord) -> None:
    """Until a heartbeat of the member is answered with NONE there; nothing worse is answered meanwhile."""
    async with await Client.connect(kcoord.port) as client:
        member.client = client
        while (answer := await member.heartbeat()).error_code != ErrorCode.NONE:
            assert answer.error_code == ErrorCode.NOT_COORDINATOR
            await asyncio.sleep(0.05)


async def test_the_groups_of_a_killed_instance_need_not_wait_for_the_end_of_its_session(
    kafka: KafkaCluster, tmp_path: Path
) -> None:
    """It does not end within this test: what is missed is the process, not its heartbeats."""
    async with wired(kafka, tmp_path, NEVER_MS) as (pair, wires):
        owner = await owner_of(pair, "g")
        other = pair.other(owner)
        async with await Client.connect(owner.port) as client:
            member = await Member.joined(client, "g")
        owner.kill()
        await wires[owner.folder.name].refuse()
        while (await owner_of(pair, "g", [other])) is not other:
            await asyncio.sleep(0.02)
        await until_answered(member, other)
        known = await ask(other, MetadataRequest(topics=[]), 9)
        assert [each.port for each in known.brokers] == [other.port], "clients are not sent to the dead one"


async def test_an_instance_whose_link_is_cut_keeps_its_groups(kafka: KafkaCluster, tmp_path: Path) -> None:
    async with wired(kafka, tmp_path, NEVER_MS) as (pair, wires):
        owner = await owner_of(pair, "g")
        other = pair.other(owner)
        async with await Client.connect(owner.port) as client:
            member = await Member.joined(client, "g")
            maps = [each.log.read_text().count(" map ") for each in pair.both]
            wire = wires[owner.folder.name]
            await wire.cut()
            made = wire.made
            while wire.made < made + 4:
                assert (await member.heartbeat()).error_code == ErrorCode.NONE
                assert await owner_of(pair, "g") is owner
                await asyncio.sleep(0.05)
            await wire.mend()
            await until_linked(pair, owner)
            assert (await member.heartbeat()).error_code == ErrorCode.NONE
        assert "has died" not in other.log.read_text()
        assert [each.log.read_text().count(" map ") for each in pair.both] == maps, "nothing has moved"


async def test_an_instance_that_seems_dead_and_lives_is_nobodys_second_owner(
    kafka: KafkaCluster, tmp_path: Path
) -> None:
    """Something between refuses its port. It is put out, once, and the log's fence decides; then it comes back."""
    async with wired(kafka, tmp_path, NEVER_MS) as (pair, wires):
        owner = await owner_of(pair, "g")
        other = pair.other(owner)
        async with await Client.connect(owner.port) as client:
            member = await Member.joined(client, "g")
        await wires[owner.folder.name].refuse()
        await asyncio.to_thread(other.wait_for_line, "has died")
        await until_both_serve(pair)
        answers = 0
        while answers < 10:
            found = await owner_of(pair, "g")
            async with await Client.connect(found.port) as client:
                member.client = client
                answers += (await member.heartbeat()).error_code == ErrorCode.NONE
            async with await Client.connect(pair.other(found).port) as client:
                member.client = client
                if (await member.heartbeat()).error_code == ErrorCode.NONE:
                    assert await owner_of(pair, "g") is not found, "both have answered for the group"
        assert other.log.read_text().count("has died") == 1, "who was never reached again has not died again"
        async with await Client.connect((await owner_of(pair, "g")).port) as client:
            member.client = client
            await member.rejoin()


async def test_an_instance_that_is_killed_and_starts_again_takes_the_place_of_its_former_process(
    kafka: KafkaCluster, tmp_path: Path
) -> None:
    """It is alone, and the session of the process before does not end within this test."""
    made = Pair(kafka, tmp_path, settings={"instances.session.timeout.ms": NEVER_MS})
    alone = made.both[0]
    try:
        await asyncio.to_thread(alone.start)
        await owner_of(made, "g", [alone])
        async with await Client.connect(alone.port) as client:
            member = await Member.joined(client, "g")
        await asyncio.to_thread(alone.kill_and_restart)
        await owner_of(made, "g", [alone])
        await until_answered(member, alone)
    finally:
        alone.remove()


async def test_an_instance_of_which_nothing_is_heard_is_missed_when_its_session_is_over(
    kafka: KafkaCluster, tmp_path: Path
) -> None:
    async with wired(kafka, tmp_path, 6_000) as (pair, _):
        owner = await owner_of(pair, "g")
        other = pair.other(owner)
        async with await Client.connect(owner.port) as client:
            member = await Member.joined(client, "g")
        owner.process.freeze()
        try:
            while (await owner_of(pair, "g", [other])) is not other:
                await asyncio.sleep(0.05)
            await until_answered(member, other)
            assert "has died" not in other.log.read_text(), "silence is no proof"
        finally:
            owner.process.thaw()
        await until_both_serve(pair)
        await until_answered(member, await owner_of(pair, "g"))
