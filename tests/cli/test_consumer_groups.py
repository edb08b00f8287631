"""Do the commands show what goes on in a consumer group of the new protocol, and why?

The members are scripted, so that a group stands still where something is to be seen.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from confluent_kafka import Consumer as Librdkafka

from kcoord.cli.calls.topic_calls import list_topics
from kcoord.client import Cluster, Connection, Security
from kcoord.protocol.generated.consumer_group_heartbeat_request import TopicPartitions
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from tests.cli.run_cli import Outcome, kcoord
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.topics import write_topic
from tests.kafka.wait import eventually

ALL = 12
ADA, BOB = "Zm9vYmFyYmF6cXV4AAAA", "Zm9vYmFyYmF6cXV4BBBB"
AGO = re.compile(r"\(\S+ \S+ ago\)")
AFTER = re.compile(r"after [\d.]+ \w+|at once")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """A kcoord without a cluster, with two topics."""
    settings = {"topics": f"customers:{ALL},shards:2", "group.consumer.heartbeat.wait.ms": 0}
    process = Kcoord(tmp_path_factory.mktemp("alone"), settings=settings).start()
    eventually(lambda: len(asyncio.run(names(process))) == 2, "both topics are there")
    yield process
    process.remove()


async def at(kcoord_: Kcoord, *arguments: object) -> Outcome:
    """`kcoord groups …` while the test's own members go on."""
    return await asyncio.to_thread(kcoord, "groups", *arguments, "--bootstrap-server", kcoord_.bootstrap)


@attrs.define
class Consumer:
    """A member that says what the test wants."""

    alone: Kcoord
    group: str
    member: str
    connection: Connection
    epoch: int = 0
    has: list[TopicPartitions] = attrs.Factory(list)

    @classmethod
    async def join(cls, alone: Kcoord, group: str, member: str, client: str, *topics: str, **said: Any) -> "Consumer":
        """A member on a connection of its own."""
        connection = await Connection.open("127.0.0.1", alone.port, Security(), client_id=client)
        self = cls(alone, group, member, connection)
        names = [*topics] or ["customers"]
        await self.beat(0, [], rebalance_timeout_ms=60_000, subscribed_topic_names=names, **said)
        return self

    async def beat(self, epoch: int | None = None, owned: list[TopicPartitions] | None = None, **said: Any) -> None:
        """A heartbeat. `owned`: by default what it was told last."""
        request = ConsumerGroupHeartbeatRequest(
            self.group,
            self.member,
            self.epoch if epoch is None else epoch,
            topic_partitions=self.has if owned is None else owned,
            **said,
        )
        told = await self.connection.send(request, ConsumerGroupHeartbeatResponse)
        assert not told.error_code, told.error_message
        self.epoch = told.member_epoch
        if told.assignment is not None:
            topics = told.assignment.topic_partitions
            self.has = [TopicPartitions(each.topic_id, each.partitions) for each in topics]

    async def leave(self, epoch: int = -1, instance_id: str | None = None) -> None:
        """Leave, and close the connection."""
        request = ConsumerGroupHeartbeatRequest(self.group, self.member, epoch, instance_id)
        told = await self.connection.send(request, ConsumerGroupHeartbeatResponse)
        assert not told.error_code, told.error_message
        await self.connection.close()


async def described(alone: Kcoord, group: str) -> dict[str, Any]:
    outcome = await at(alone, "describe", group, "--json")
    (found,) = json.loads(outcome.out)
    return dict(found)


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line)


async def test_a_hand_over_is_seen_while_it_goes_on(alone: Kcoord) -> None:
    """Who must let go of what, who waits for what and for whom; later, what happened and why."""
    ada = await Consumer.join(alone, "slow", ADA, "ada")
    bob = await Consumer.join(alone, "slow", BOB, "bob", instance_id="bob-1", rack_id="r1")
    await ada.beat()  # now it is told to let go of half
    group = await described(alone, "slow")
    assert (group["type"], group["state"], group["epoch"], group["assignment_epoch"], group["assignor"]) == (
        *("consumer", "Reconciling", 3, 3, "uniform"),
    )
    assert (group["coordinated_by"], group["coordinator"]) == ("kcoord", f"{alone.bootstrap} (0)")
    giver, taker = group["members"]
    first, second = {"customers": [*range(6)]}, {"customers": [*range(6, ALL)]}
    assert giver == {
        "member": ADA,
        "instance": None,
        "client": "ada",
        "host": "127.0.0.1",
        "rack": None,
        "epoch": 2,
        "state": "Releasing",
        "owns": {"customers": [*range(ALL)]},
        "target": first,
        "waits_for": {},
        "must_release": second,
        "protocol": "consumer",
        "topics": ["customers"],
        "pattern": None,
    }
    assert (taker["instance"], taker["rack"], taker["state"], taker["epoch"]) == ("bob-1", "r1", "Waiting", 3)
    assert (taker["owns"], taker["target"], taker["waits_for"], taker["must_release"]) == ({}, second, second, {})

    shown = (await at(alone, "describe", "slow")).out.splitlines()
    assert shown[0] == (f"slow: Reconciling, consumer, epoch 3, assignor uniform, coordinator {alone.bootstrap} (0)")
    assert shown[1].endswith("consumer joined: bob-BBBB; assigned at once, not in place everywhere yet")
    assert cells(shown[2]) == [
        *("MEMBER", "INSTANCE", "HOST", "RACK", "EPOCH", "STATE", "OWNS", "WAITS FOR", "MUST LET GO", "SUBSCRIBES TO")
    ]
    assert cells(shown[4])[4:] == ["2", "Releasing", "customers: 0-11", "-", "customers: 6-11", "customers"]
    assert cells(shown[5]) == [
        *("bob-BBBB", "bob-1", "127.0.0.1", "r1", "3", "Waiting", "nothing", "customers: 6-11", "-", "customers")
    ]
    told = (await at(alone, "explain", "slow")).out
    assert told.endswith(
        "\n\nada-AAAA must let go of customers: 6-11\nbob-BBBB waits for customers: 6-11 of ada-AAAA\n"
    )

    await ada.beat()  # it has let go
    await bob.beat()
    assert (await described(alone, "slow"))["state"] == "Stable"
    told = (await at(alone, "explain", "slow")).out
    assert AFTER.sub("T", AGO.sub("(AGO)", re.sub(r"\d\d:\d\d:\d\d", "CLOCK", told))).splitlines() == [
        "slow: Stable at epoch 3, 2 consumers; all that has happened",
        "",
        "epoch 2  CLOCK  (AGO)  consumer joined: ada-AAAA",
        "    to ada-AAAA  customers: 0-11",
        "    assigned T, in place everywhere T",
        "",
        "epoch 3  CLOCK  (AGO)  consumer joined: bob-BBBB",
        "    from ada-AAAA to bob-BBBB  customers: 6-11",
        "    assigned T, in place everywhere T",
    ]
    found = json.loads((await at(alone, "explain", "slow", "--last", 1, "--json")).out)
    (epoch,) = found["epochs"]
    assert (epoch["epoch"], epoch["reason"], epoch["moved"]) == (3, f"consumer joined: {BOB}", 6)
    assert epoch["moves"] == [{"from": ADA, "to": BOB, "resources": second}]
    assert 0 <= epoch["installed_after_ms"] <= epoch["converged_after_ms"]

    refused = await at(alone, "delete", "slow")
    assert (refused.code, refused.out) == (1, "slow: not deleted: it has members; stop them first\n")
    await bob.leave(-2, "bob-1")
    assert "waits for the return of bob-1: customers: 6-11" in (await at(alone, "describe", "slow")).out
    assert "customers: 6-11 waits for the return of bob-1" in (await at(alone, "explain", "slow")).out
    assert (await described(alone, "slow"))["members"][1]["state"] == "Away"
    await ada.leave()


async def test_a_group_from_the_list_to_its_deletion(alone: Kcoord) -> None:
    ada = await Consumer.join(alone, "brief", ADA, "ada", "shards", "customers")
    rows = [line.split() for line in (await at(alone, "list")).out.splitlines()]
    assert ["brief", "consumer", "consumer", "Stable", alone.bootstrap, "(0)", "kcoord"] in rows
    assert "brief" not in (await at(alone, "list", "--type", "classic")).out
    listed = json.loads((await at(alone, "list", "--type", "consumer", "--state", "stable", "--json")).out)
    [group] = [each for each in listed if each["group"] == "brief"]
    assert (group["type"], group["state"], group["coordinated_by"]) == ("consumer", "Stable", "kcoord")
    shown = (await at(alone, "describe", "brief")).out.splitlines()
    assert cells(shown[-1])[-2:] == ["customers: 0-11; shards: 0-1", "customers, shards"]

    await ada.leave()
    now_empty = (await at(alone, "describe", "brief")).out
    assert now_empty.startswith("brief: Empty, consumer, epoch 3, ")
    assert f"consumer left: {ADA}; nothing to assign\n" in now_empty
    assert now_empty.endswith("\nno members\n")
    assert "; all that has happened\n" in (await at(alone, "explain", "brief")).out
    assert (await at(alone, "delete", "brief")).out == "brief: deleted\n"
    gone = await at(alone, "describe", "brief")
    assert (gone.code, gone.out) == (1, "brief: Group brief not found.\n")
    gone = await at(alone, "explain", "brief")
    assert (gone.code, gone.err) == (1, "kcoord: brief: there is no such group\n")


async def test_topics_that_are_gone_are_told_as_gone(alone: Kcoord) -> None:
    async def topics(*arguments: object) -> Outcome:
        return await asyncio.to_thread(kcoord, "topics", *arguments, "--bootstrap-server", alone.bootstrap)

    await topics("add", "passing", 2)
    ada = await Consumer.join(alone, "left-over", ADA, "ada", "passing")
    await topics("remove", "passing")
    told = (await at(alone, "explain", "left-over")).out
    assert "    to ada-AAAA  (deleted): 0-1\n" in told
    assert "topics changed: passing\n    from ada-AAAA, to nobody  (deleted): 0-1\n" in told
    await ada.leave()


async def test_a_subscription_by_names_and_an_expression(alone: Kcoord) -> None:
    ada = await Consumer.join(alone, "by-pattern", ADA, "ada", "shards", subscribed_topic_regex="cust.*")
    (member,) = (await described(alone, "by-pattern"))["members"]
    assert (member["topics"], member["pattern"]) == (["shards"], "cust.*")
    assert (await at(alone, "describe", "by-pattern")).out.endswith("   shards, /cust.*/\n")
    await ada.leave()


async def test_what_only_connect_groups_have(alone: Kcoord) -> None:
    ada = await Consumer.join(alone, "other-kind", ADA, "ada")
    refused = await at(alone, "configured", "other-kind")
    says = "kcoord: other-kind is a consumer group: only connect groups have a configured set\n"
    assert (refused.code, refused.err) == (1, says)
    await ada.leave()


# -- offsets -----------------------------------------------------------------------------------------------------------


async def test_offsets_are_reset(alone: Kcoord) -> None:
    """Only by --execute, and only while the group has no members."""
    ada = await Consumer.join(alone, "billing", ADA, "ada")
    reset = ("reset-offsets", "billing", "--topic", "customers:0,3", "--to-offset", 42)
    refused = await at(alone, *reset, "--execute")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "kcoord: billing: not reset: it has members (Stable); stop them first\n"
    await ada.leave()

    shown = await at(alone, *reset)
    assert shown.code == 0
    assert [line.split() for line in shown.out.splitlines()][0::2] == [
        ["GROUP", "TOPIC", "PARTITION", "NEW", "OFFSET"],
        ["billing", "customers", "0", "42"],
    ]
    assert shown.err == "kcoord: nothing has been changed: give --execute to do it\n"
    assert await committed(alone, "billing") == {}
    done = await at(alone, *reset, "--execute", "--json")
    assert json.loads(done.out) == [{"topic": "customers", "partition": n, "offset": 42} for n in (0, 3)]
    assert (done.code, done.err) == (0, "")
    assert await committed(alone, "billing") == {("customers", 0): 42, ("customers", 3): 42}
    for where in ("--to-earliest", "--to-latest"):
        done = await at(alone, "reset-offsets", "new", "--topic", "shards", where, "--execute")
        assert done.code == 0
        assert await committed(alone, "new") == {("shards", 0): 0, ("shards", 1): 0}


async def committed(alone: Kcoord, group: str) -> dict[tuple[str, int], int]:
    async with Cluster([("127.0.0.1", alone.port)]) as cluster:
        connection = await cluster.any()
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)])
        (told,) = (await connection.send(request, OffsetFetchResponse)).groups
    topics = await names(alone)
    return {
        (each.name or topics[each.topic_id], part.partition_index): part.committed_offset
        for each in told.topics
        for part in each.partitions
    }


async def names(alone: Kcoord) -> dict[bytes, str]:
    async with Cluster([("127.0.0.1", alone.port)]) as cluster:
        return {each.id: each.name for each in await list_topics(cluster)}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["g", "--topic", "customers"], 2, "kcoord: give one of --to-offset, --to-earliest and --to-latest\n"),
        (["g", "--topic", "customers", "--to-latest", "--to-offset", 0], 2, "kcoord: give one of --to-offset, "),
        (["g", "--topic", "customers", "--to-latest", "--execute", "--dry-run"], 2, "not both\n"),
        (["g", "--topic", "customers:a", "--to-latest"], 2, "kcoord: --topic: 'customers:a': write a topic as NAME, "),
        (["g", "--topic", "customers:", "--to-latest"], 2, "kcoord: --topic: 'customers:': write a topic as NAME, "),
        (["g", "--topic", "customers", "--to-offset", -1], 2, "--to-offset"),
        (["g", "--to-latest"], 2, "--topic"),
        (["--topic", "customers", "--to-latest"], 2, "GROUP"),
        (["g", "--topic", "customers:12", "--to-latest"], 1, "kcoord: customers: there is no partition 12\n"),
        (["g", "--topic", "nowhere", "--to-latest"], 1, "kcoord: nowhere: there is no such topic\n"),
    ],
)
async def test_what_cannot_be_reset(alone: Kcoord, arguments: list[object], code: int, says: str) -> None:
    outcome = await at(alone, "reset-offsets", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert says in outcome.err


def test_groups_of_a_cluster(kafka: KafkaCluster, tmp_path: Path) -> None:
    """A broker describes its consumer groups, but has no history. Offsets stay within what a partition has."""

    def ask(*arguments: object) -> Outcome:
        return kcoord(*arguments, "--bootstrap-server", kafka.bootstrap)

    kafka.create_topic("cli-shares", 2)
    write_topic(kafka, "cli-shares", {f"v{n}" for n in range(20)})
    settings = {"bootstrap.servers": kafka.bootstrap, "group.id": "cli-new", "group.protocol": "consumer"}
    consumer = Librdkafka({**settings, "client.id": "ada", "auto.offset.reset": "earliest"})
    consumer.subscribe(["cli-shares"])
    while not consumer.assignment():
        consumer.poll(0.1)
    shown = ask("groups", "describe", "cli-new").out.splitlines()
    assert re.fullmatch(r"cli-new: Stable, consumer, epoch \d+, assignor uniform, coordinator \S+ \(1\)", shown[0])
    assert cells(shown[-1])[-3:] == ["Stable", "cli-shares: 0-1", "cli-shares"]
    front = kcoord_of(kafka, tmp_path)
    try:
        shown = (
            told := kcoord("groups", "describe", "cli-new", "--bootstrap-server", front.bootstrap).out
        ).splitlines()
        assert re.match(r"cli-new: Stable, consumer, epoch \d+, ", shown[0])
        assert cells(shown[-1])[-3:] == ["Stable", "cli-shares: 0-1", "cli-shares"], told
        listed = json.loads(kcoord("groups", "list", "--json", "--bootstrap-server", front.bootstrap).out)
        (group,) = [each for each in listed if each["group"] == "cli-new"]
        assert (group["type"].lower(), group["coordinated_by"]) == ("consumer", "cluster")
    finally:
        front.remove()
    why = ask("groups", "explain", "cli-new")
    assert (why.code, why.out) == (1, "")
    assert f"kcoord: {kafka.bootstrap} (1) keeps no history of cli-new: only kcoord keeps one, of the " in why.err
    consumer.close()
    for to, offsets in ((["--to-latest"], {20}), (["--to-earliest"], {0}), (["--to-offset", 1_000], {20})):
        done = ask("groups", "reset-offsets", "cli-new", "--topic", "cli-shares", *to, "--execute", "--json")
        assert {sum(each["offset"] for each in json.loads(done.out))} == offsets
        assert {sum(kafka.committed("cli-new").values())} == offsets
    assert ask("groups", "delete", "cli-new").out == "cli-new: deleted\n"


def test_consumer_groups_that_kcoord_has_in_front_of_a_cluster(kafka: KafkaCluster, tmp_path: Path) -> None:
    """They are listed as kcoord's, and a release of all groups names those that it must leave."""
    kafka.create_topic("cli-front", 2)
    front = kcoord_of(kafka, tmp_path, ("cli-front-.*",), group_consumer_enable="true")
    settings = {"bootstrap.servers": front.bootstrap, "group.id": "cli-front-new", "group.protocol": "consumer"}
    consumer = Librdkafka({**settings, "client.id": "ada"})
    consumer.subscribe(["cli-front"])
    try:
        while not consumer.assignment():
            consumer.poll(0.1)
        listed = json.loads(kcoord("groups", "list", "--json", "--bootstrap-server", front.bootstrap).out)
        (group,) = [each for each in listed if each["group"] == "cli-front-new"]
        assert (group["type"], group["coordinated_by"]) == ("consumer", "kcoord")
        done = kcoord("groups", "release", "--all", "--bootstrap-server", front.bootstrap)
        assert (done.code, done.out.startswith("cli-front-new: it cannot be released, because ")) == (1, True), done
    finally:
        consumer.close()
        front.remove()
