"""Do connect groups work before a cluster that does not know them? Taking, lists, settings, offsets, deleting."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kcoord.gateway.rewriting.api_versions import OF_CONSUMER_GROUPS
from kcoord.group.group_configs import GROUP, Operation, Source
from kcoord.group.group_setting_definitions import DEFINITIONS
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.unassigned import ADOPT_GROUP, DECLARED_TOPICS
from kcoord.protocol.messages import (
    OWN_APIS,
    ApiVersionsRequest,
    ConnectGroupDescribeRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
)
from kcoord.worker import Configured
from kcoord.worker import Worker as LibraryWorker
from tests.connectgroups.configs import asked, change
from tests.connectgroups.through import found_by_name
from tests.connectgroups.through import member as joined
from tests.connectgroups.worker import Worker, describe, resources
from tests.gateway.conftest import start_kcoord  # noqa: F401 (a fixture)
from tests.gateway.scripted import ScriptedMember, ask, connect, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client
from tests.worker.house import House

A = resources("a", "a-0", "a-1")
DELAY, INTERVAL = "connect.rebalance.delay.ms", "connect.heartbeat.interval.ms"
CONSUMER_SESSION = "consumer.session.timeout.ms"
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def kcoord(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Kcoord:  # noqa: F811
    """kcoord that takes groups whose name has "own" in it."""
    return start_kcoord(kafka, ".*own.*", group_connect_rebalance_delay_ms=0)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return f"own-{request.node.originalname.removeprefix('test_')[:60]}-{next(_numbers)}"


@pytest.fixture
async def client(kcoord: Kcoord) -> Client:
    """A connection at the only broker's port of kcoord: the coordinator of all groups."""
    await found_by_name(await connect(kcoord.bootstrap), "any")
    return await connect(kcoord.port + 2)


@pytest.fixture
async def direct(kafka: KafkaCluster) -> Client:
    """A connection to Kafka itself."""
    return await connect(kafka.bootstrap)


async def upstream_has(direct: Client, group: str) -> tuple[str, str]:
    """State and member of the group, as the cluster sees it."""
    described = await ask(direct, DescribeGroupsRequest([group]), 5)
    return described.groups[0].group_state, "".join(each.group_instance_id for each in described.groups[0].members)


async def member(kcoord: Kcoord, group: str, member_id: str = "w1", **fields: Any) -> Worker:
    """A worker that has joined, and knows what is configured."""
    return await joined(kcoord, group, member_id, configured=A, **fields)


async def test_the_apis_are_offered_beside_the_clusters(kcoord: Kcoord, client: Client, direct: Client) -> None:
    for at in (client, await connect(kcoord.bootstrap)):
        there = {each.api_key for each in (await ask(direct, ApiVersionsRequest("test", "1"))).api_keys}
        here = {each.api_key for each in (await ask(at, ApiVersionsRequest("test", "1"))).api_keys}
        assert here - there == OWN_APIS - OF_CONSUMER_GROUPS - {ADOPT_GROUP, DECLARED_TOPICS}
        assert not there & OWN_APIS


async def test_a_group_lives_and_the_cluster_sees_the_sentinel(kcoord: Kcoord, direct: Client, name: str) -> None:
    one = await member(kcoord, name)
    await one.settle(A)
    two = await member(kcoord, name, "w2")
    await one.heartbeat()
    await one.heartbeat()
    await two.settle(A - one.owned)
    described = await describe(one.client, name)
    assert (described.group_state, len(described.members)) == ("Stable", 2)
    assert {each.client_host for each in described.members} == {"/127.0.0.1"}

    async def taken() -> bool:
        return await upstream_has(direct, name) == ("Stable", "kcoord")

    await until(taken, "the sentinel is in")
    outsider = ScriptedMember(direct, name, protocol_type="connect")
    assert (await outsider.try_join()).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    classic = ScriptedMember(await connect(kcoord.port + 2), name, protocol_type="connect")
    assert (await classic.try_join()).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "CG-29"

    assert await one.leave() == await two.leave() == ErrorCode.NONE

    async def given_back() -> bool:
        return (await upstream_has(direct, name))[0] in ("Empty", "Dead")

    await until(given_back, "the sentinel has left")


async def test_rule_26_an_answer_is_held_and_let_go(kcoord: Kcoord, name: str) -> None:
    import asyncio

    one = await member(kcoord, name)
    await one.settle(A)
    request = one.request(max_wait_ms=4_000_000)
    correlation_id, frame = one.client.frame(request, 0)
    one.client.writer.write(frame)
    held = asyncio.create_task(one.client.read(request, 0, correlation_id))
    for _ in range(3):
        await describe(await connect(kcoord.port + 2), name)
    assert not held.done()
    two = await member(kcoord, name, "w2")
    one.take(await held)  # type: ignore[arg-type]
    assert one.owned < A
    # and by what stands behind it
    requests = [two.request(max_wait_ms=4_000_000), two.request(), ConnectGroupDescribeRequest([name])]
    frames = [two.client.frame(each, 0) for each in requests]
    two.client.writer.write(b"".join(data for _, data in frames))
    async with asyncio.timeout(180):
        for each, (correlation_id, _) in zip(requests, frames, strict=True):
            await two.client.read(each, 0, correlation_id)


async def test_a_group_with_members_at_the_cluster_is_not_taken(kcoord: Kcoord, direct: Client, name: str) -> None:
    there = ScriptedMember(direct, name, protocol_type="connect")
    await there.join_and_sync()
    worker = Worker(await connect(kcoord.port + 2), name)
    await found_by_name(worker.client, name)
    assert await worker.join(A) == ErrorCode.GROUP_ID_NOT_FOUND
    assert "has members at the cluster" in (worker.last.error_message or "")
    assert await there.heartbeat() == ErrorCode.NONE
    await there.leave()
    worker = await member(kcoord, name)
    await worker.settle(A)


async def test_a_group_that_is_not_kcoords_is_not_found(kcoord: Kcoord, client: Client) -> None:
    worker = Worker(client, "somebody-elses")
    assert await worker.join(A) == ErrorCode.GROUP_ID_NOT_FOUND
    assert "not among those that kcoord coordinates" in (worker.last.error_message or "")
    assert (await worker.prepare()).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert (await worker.install(1, {})).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert (await describe(client, "somebody-elses")).error_code == ErrorCode.GROUP_ID_NOT_FOUND


async def test_workers_compute_through_it_too(kcoord: Kcoord, name: str) -> None:
    from kcoord.protocol.generated.connect_group_heartbeat_request import Assignor

    worker = await member(kcoord, name, server_assignor=None, client_assignors=[Assignor("eager", 0, 0, 0, 0, b"x")])
    assert worker.last.error_code == ErrorCode.COMPUTE_ASSIGNMENT
    prepared = await worker.prepare()
    assert (prepared.error_code, prepared.assignor_name) == (ErrorCode.NONE, "eager")
    assert (await worker.install(prepared.group_epoch, {"w1": A})).error_code == ErrorCode.NONE
    await worker.settle(A)


async def listed(client: Client, **filters: Any) -> dict[str, tuple[str, str, str]]:
    answer = await ask(client, ListGroupsRequest(**filters))
    assert answer.error_code == ErrorCode.NONE
    names = [each.group_id for each in answer.groups]
    assert len(names) == len(set(names))
    return {each.group_id: (each.protocol_type, each.group_state, each.group_type) for each in answer.groups}


async def test_it_is_listed_with_its_type_and_state_with_members_and_without(
    kcoord: Kcoord, client: Client, direct: Client, name: str
) -> None:
    worker = await member(kcoord, name)
    await worker.settle(A)

    async def at_the_cluster() -> bool:
        return name in await listed(direct)

    await until(at_the_cluster, "the sentinel is in")
    assert (await listed(client))[name] == ("connect", "Stable", "connect")
    assert name in await listed(client, types_filter=["connect"], states_filter=["stable"])
    assert name not in await listed(client, types_filter=["classic"])
    assert name not in await listed(client, states_filter=["Empty"])
    assert await worker.leave() == ErrorCode.NONE

    async def empty() -> bool:
        return (await listed(client, types_filter=["connect"])).get(name) == ("connect", "Empty", "connect")

    await until(empty, "listed as empty")
    assert name in await listed(client, states_filter=["Empty"])


async def test_it_is_deleted_when_it_is_empty_and_keeps_its_settings(kcoord: Kcoord, client: Client, name: str) -> None:
    worker = await member(kcoord, name)
    altered = await ask(client, IncrementalAlterConfigsRequest([change(name, {DELAY: "77"})]))
    assert altered.responses[0].error_code == ErrorCode.NONE
    delete = DeleteGroupsRequest([name])
    assert (await ask(client, delete)).results[0].error_code == ErrorCode.NON_EMPTY_GROUP
    assert await worker.leave() == ErrorCode.NONE
    assert (await ask(client, delete)).results[0].error_code == ErrorCode.NONE
    assert name not in await listed(client)
    assert (await describe(client, name)).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert (await ask(client, delete)).results[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND
    shown = await ask(client, DescribeConfigsRequest([asked(name, DELAY)]))
    assert shown.results[0].configs[0].value == "77"


async def test_offsets_cannot_be_committed_for_it(kcoord: Kcoord, client: Client, name: str) -> None:
    from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic

    await member(kcoord, name)
    commit = OffsetCommitRequest(
        name, 1, "w1", topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])]
    )
    answer = await ask(client, commit, 9)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND


# -- settings ---------------------------------------------------------------------------------------------------------


async def values(client: Client, group: str, *names: str) -> dict[str, str]:
    answer = await ask(client, DescribeConfigsRequest([asked(group, *names)]))
    [result] = answer.results
    assert result.error_code == ErrorCode.NONE, result.error_message
    return {each.name: each.value for each in result.configs}


async def test_a_groups_settings_are_the_clusters_and_kcoords(
    kcoord: Kcoord, client: Client, direct: Client, name: str
) -> None:
    there = await values(direct, name)
    here = await values(client, name)
    session = there[CONSUMER_SESSION]
    assert set(here) - set(there) == set(DEFINITIONS)
    assert {key: value for key, value in here.items() if key in there} == there
    assert await values(client, "somebody-elses") == await values(direct, "somebody-elses")
    assert await values(client, name, DELAY, CONSUMER_SESSION) == {CONSUMER_SESSION: session, DELAY: "0"}
    assert set(await values(client, name, DELAY)) == {DELAY}


async def test_changes_go_to_whom_they_concern(
    kcoord: Kcoord, kafka: KafkaCluster, client: Client, direct: Client, name: str
) -> None:
    topic = kafka.create_topic(f"topic-{name}"[:200])
    both = change(name, {DELAY: "11", CONSUMER_SESSION: "50000"})
    other, of_topic = (
        change("somebody-elses", {CONSUMER_SESSION: "51000"}),
        change(topic, {"retention.ms": "999"}, kind=2),
    )
    answer = await ask(client, IncrementalAlterConfigsRequest([of_topic, both, other]))
    assert [(each.error_code, each.resource_name) for each in answer.responses] == [
        (0, topic),
        (0, name),
        (0, "somebody-elses"),
    ]

    async def everywhere() -> bool:  # the cluster's brokers learn of changes by and by
        return (await values(direct, name))[CONSUMER_SESSION] == "50000"

    await until(everywhere, "the cluster has its part")
    assert await values(client, name, DELAY, CONSUMER_SESSION) == {CONSUMER_SESSION: "50000", DELAY: "11"}
    assert (await values(direct, "somebody-elses"))[CONSUMER_SESSION] == "51000"
    described = await ask(client, DescribeConfigsRequest([asked(topic, "retention.ms", kind=2), asked(name, DELAY)]))
    assert [[entry.value for entry in each.configs] for each in described.results] == [["999"], ["11"]]


BAD_HERE, BAD_THERE = {DELAY: "-1"}, {CONSUMER_SESSION: "1"}


@pytest.mark.parametrize("validate_only", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {**BAD_HERE, CONSUMER_SESSION: "50000"},
        {DELAY: "22", **BAD_THERE},
        {**BAD_HERE, **BAD_THERE},
        {DELAY: "22", "consumer.colour": "red"},
        {DELAY: "22", "connect.colour": "red", CONSUMER_SESSION: "50000"},
    ],
    ids=["here", "there", "both", "unknown there", "unknown here"],
)
async def test_a_group_is_changed_on_both_sides_or_on_none(
    client: Client, direct: Client, name: str, changes: dict[str, str | None], validate_only: bool
) -> None:
    before = await values(client, name)
    request = IncrementalAlterConfigsRequest([change(name, changes)], validate_only=validate_only)
    [answer] = (await ask(client, request)).responses
    assert answer.error_code == ErrorCode.INVALID_CONFIG, answer.error_message
    assert answer.error_message
    assert await values(client, name) == before


async def test_validate_only_changes_neither_side(client: Client, direct: Client, name: str) -> None:
    before = await values(client, name)
    both = change(name, {DELAY: "11", CONSUMER_SESSION: "50000"})
    [answer] = (await ask(client, IncrementalAlterConfigsRequest([both], validate_only=True))).responses
    assert answer.error_code == ErrorCode.NONE
    assert await values(client, name) == before


LIKE_KAFKAS: list[tuple[str, str, int, str | None]] = [
    ("set", INTERVAL, Operation.SET, "6000"),
    ("not a number", INTERVAL, Operation.SET, "soon"),
    ("too little", INTERVAL, Operation.SET, "1"),
    ("too much", INTERVAL, Operation.SET, "99999999"),
    ("empty", INTERVAL, Operation.SET, ""),
    ("null", INTERVAL, Operation.SET, None),
    ("delete", INTERVAL, Operation.DELETE, None),
    ("delete with a value", INTERVAL, Operation.DELETE, "5"),
    ("append to a number", INTERVAL, Operation.APPEND, "5"),
    ("take from a number", INTERVAL, Operation.SUBTRACT, "5"),
    ("unknown", "connect.colour", Operation.SET, "red"),
    ("delete unknown", "connect.colour", Operation.DELETE, None),
    ("append to unknown", "connect.colour", Operation.APPEND, "red"),
]
"""Each is done to the consumer's setting in the cluster, and to the connect one here: both answer alike."""


@pytest.mark.parametrize(("why", "setting", "operation", "value"), LIKE_KAFKAS, ids=[row[0] for row in LIKE_KAFKAS])
async def test_changes_are_answered_as_kafka_answers_them(
    client: Client, direct: Client, name: str, why: str, setting: str, operation: int, value: str | None
) -> None:
    kafkas = setting.replace("connect.", "consumer.")
    for first in ([], [AlterableConfig(kafkas, Operation.SET, "7000")]):
        theirs = change(name, {kafkas: value}, operation)
        ours = change(name, {setting: value}, operation)
        if first:
            theirs.configs = [*theirs.configs, *theirs.configs]
            ours.configs = [*ours.configs, *ours.configs]
        [there] = (await ask(direct, IncrementalAlterConfigsRequest([theirs]))).responses
        [here] = (await ask(client, IncrementalAlterConfigsRequest([ours]))).responses
        assert ErrorCode(here.error_code) == ErrorCode(there.error_code), (here, there)
        assert (here.error_message is None) == (there.error_message is None)


async def test_where_a_value_comes_from_is_told_as_kafka_tells_it(kcoord: Kcoord, client: Client, name: str) -> None:
    theirs, ours = "consumer.heartbeat.interval.ms", DELAY  # both servers were started with a value of their own

    async def told(setting: str) -> list[tuple[str, int]]:
        request = DescribeConfigsRequest([asked(name, setting)], include_synonyms=True)
        [entry] = (await ask(client, request)).results[0].configs
        assert (entry.value, entry.config_source) == (entry.synonyms[0].value, entry.synonyms[0].source)
        return [(each.name.replace(setting, "it"), each.source) for each in entry.synonyms]

    assert await told(ours) == await told(theirs) == [("group.it", Source.STATIC), ("group.it", Source.DEFAULT)]
    both = change(name, {theirs: "6000", ours: "6000"})
    assert (await ask(client, IncrementalAlterConfigsRequest([both]))).responses[0].error_code == ErrorCode.NONE

    async def learned() -> bool:
        return await told(theirs) == await told(ours)

    await until(learned, "both say the same")
    assert (await told(ours))[0] == ("it", Source.GROUP)


async def test_what_kafka_says_of_resources_holds_here(client: Client, direct: Client, name: str) -> None:
    tried: list[Callable[[str], list[AlterConfigsResource]]] = [
        lambda prefix: [change("", {f"{prefix}.heartbeat.interval.ms": "6000"})],
        lambda prefix: [change(name, {f"{prefix}.heartbeat.interval.ms": "6000"})] * 2,
        lambda prefix: [change(name, {f"{prefix}.heartbeat.interval.ms": "6000"}, kind=99)],
    ]
    for resources_of in tried:
        there = (await ask(direct, IncrementalAlterConfigsRequest(resources_of("consumer")))).responses
        here = (await ask(client, IncrementalAlterConfigsRequest(resources_of("connect")))).responses
        assert [each.error_code for each in here] == [each.error_code for each in there]
    for resource in (asked(""), asked("x", kind=99)):
        request = DescribeConfigsRequest([resource])
        there, here = await ask(direct, request), await ask(client, request)
        assert [each.error_code for each in here.results] == [each.error_code for each in there.results]
    assert GROUP == 32


# -- the worker library ----------------------------------------------------------------------------------------------


async def test_workers_of_the_library_share_and_hand_over(kcoord: Kcoord, direct: Client, name: str) -> None:
    house = House()

    def worker(who: str) -> LibraryWorker:
        configured = Configured(1, A)
        return LibraryWorker(kcoord.bootstrap, name, listener=house.listener(who), url=who, configured=configured)

    every = "a a-0 a-1"
    async with worker("w1"):
        await house.shared_by("w1", all_of=every)
        async with worker("w2"):
            await house.shared_by("w1", "w2", all_of=every)
            kcoord_sees = await describe(await connect(kcoord.port + 2), name)
            assert {each.url for each in kcoord_sees.members} == {"w1", "w2"}
            assert (await upstream_has(direct, name))[1] == "kcoord"
        await house.shared_by("w1", all_of=every)
    assert not house.running
    assert not house.twice


# -- failures ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def another(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Iterator[Kcoord]:  # noqa: F811
    """A kcoord to be killed."""
    kcoord = start_kcoord(kafka, ".*own.*", group_connect_rebalance_delay_ms=0)
    yield kcoord
    kcoord.remove()


async def test_kill_9_of_kcoord_costs_no_worker_anything(another: Kcoord, direct: Client, name: str) -> None:
    one = await member(another, name)
    await one.settle(A)
    await ask(one.client, IncrementalAlterConfigsRequest([change(name, {DELAY: "33"})]))
    another.kill_and_restart()
    one.client = await connect(another.port + 2)

    async def goes_on() -> bool:
        return await one.heartbeat() == ErrorCode.NONE

    await until(goes_on, "loaded")
    assert (one.epoch, one.owned) == (1, A)
    assert await values(one.client, name, DELAY) == {DELAY: "33"}
    assert (await listed(one.client))[name] == ("connect", "Stable", "connect")

    async def taken_over() -> bool:
        return await upstream_has(direct, name) == ("Stable", "kcoord")

    await until(taken_over, "the sentinel is back")
