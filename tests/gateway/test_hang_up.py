"""What becomes of what a client sent just before it hung up? As in Kafka: it is carried out, in order."""

from __future__ import annotations

import socket
from typing import Literal

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import LeaveGroupRequest, MetadataRequest
from tests.gateway.records import batch, produce
from tests.gateway.scripted import ScriptedMember, ask, connect, describe, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.topics import read_topic
from tests.server.harness import Client

SENT = 200
"""Small requests: more than are begun in one go, in one packet."""
Ending = Literal["close", "half-close"]
both_endings = pytest.mark.parametrize("ending", ["close", "half-close"])


async def broker_port(bootstrap: str) -> int:
    client = await connect(bootstrap)
    return int((await ask(client, MetadataRequest(topics=[]))).brokers[0].port)


def send_and_hang_up(port: int, data: bytes, ending: Ending) -> socket.socket:
    """Connect, send and end in one go: whoever is behind the port has not even seen the connection yet."""
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(data)
    if ending == "half-close":
        client.shutdown(socket.SHUT_WR)
    else:
        client.close()
    return client


def requests(client: Client, topic: str, acks: int) -> bytes:
    return b"".join(client.frame(produce(topic, batch(b"%d" % at), acks=acks), 9)[1] for at in range(SENT))


@both_endings
@pytest.mark.parametrize("place", ["Kafka", "kcoord"])
async def test_records_that_want_no_answer_are_all_there(
    ending: Ending, place: str, kafka: KafkaCluster, kcoord: Kcoord, topic: str, through: Client
) -> None:
    port = await broker_port(kafka.bootstrap if place == "Kafka" else kcoord.bootstrap)
    with send_and_hang_up(port, requests(through, topic, acks=0), ending):
        await until(lambda: are_in(kafka, topic), "all records are there, in order")


@pytest.mark.parametrize("place", ["Kafka", "kcoord"])
async def test_records_of_a_client_that_sends_no_more_are_all_there(
    place: str, kafka: KafkaCluster, kcoord: Kcoord, topic: str, through: Client
) -> None:
    """A client that goes for good before the answers loses the end of its records on Kafka; here it does not."""
    port = await broker_port(kafka.bootstrap if place == "Kafka" else kcoord.bootstrap)
    with send_and_hang_up(port, requests(through, topic, acks=1), "half-close"):
        await until(lambda: are_in(kafka, topic), "all records are there, in order")


async def are_in(kafka: KafkaCluster, topic: str) -> bool:
    return read_topic(kafka, topic) == [str(at) for at in range(SENT)]


@both_endings
async def test_a_member_commits_and_leaves_and_hangs_up(
    ending: Ending, kafka: KafkaCluster, kcoord: Kcoord, name: str, topic: str, through: Client
) -> None:
    """All of it waits in the gateway when the connection ends: each commit asks the cluster, and must be answered."""
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    commits = [member.client.frame(member.commit_request(topic, at), 8)[1] for at in range(SENT)]
    leave = LeaveGroupRequest(group_id=name, members=[MemberIdentity(member_id=member.member_id)])
    member.client.writer.write(b"".join(commits) + member.client.frame(leave, 5)[1])
    if ending == "half-close":
        member.client.writer.write_eof()
    else:
        await member.client.close()

    async def has_left() -> bool:
        described = await describe(through, name)
        assert described.error_code == ErrorCode.NONE
        return bool(described.group_state != "Stable")

    await until(has_left, "the member has left, long before its session ends")
    assert kafka.committed(name) == {(topic, 0): SENT - 1}
