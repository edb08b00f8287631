"""Does everything that is not kcoord's business go through as it is? GW-4, on one connection."""

import asyncio
import struct
from collections.abc import Callable
from pathlib import Path

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import decode_response_header
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import FetchRequest, FetchResponse, LeaveGroupRequest, MetadataRequest, Request
from tests.gateway.records import batch, fetch, produce
from tests.gateway.scripted import ScriptedMember, ask, connect, describe, topic_id, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.topics import read_topic
from tests.server.harness import Client

MIB = 1024 * 1024


async def exchange(client: Client, frame: bytes) -> bytes:
    client.writer.write(frame)
    async with asyncio.timeout(180):
        return await client.read_frame()


async def to_broker(bootstrap: str) -> Client:
    """A connection to the only broker's own port, as metadata names it."""
    client = await connect(bootstrap)
    metadata = await ask(client, MetadataRequest(topics=[]))
    return await connect(metadata.brokers[0].port)


async def test_rule_4_responses_pass_byte_for_byte(kafka: KafkaCluster, kcoord: Kcoord, topic: str) -> None:
    """The same frame sent directly and through kcoord gets the same bytes, in every version of Fetch."""
    through, direct = await to_broker(kcoord.bootstrap), await to_broker(kafka.bootstrap)
    for values in ([b"one"], [b"two" * 50_000], [b"three", b"four"]):
        answer = await ask(through, produce(topic, batch(*values)), 12)
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE
    by_id = await topic_id(direct, topic)
    for version in range(FetchRequest.MIN_VERSION, FetchRequest.MAX_VERSION + 1):
        _, frame = direct.frame(fetch(topic, topic_id=by_id), version)
        answers = [await exchange(direct, frame), await exchange(through, frame)]
        assert answers[0] == answers[1]
        body = FetchResponse.decode(answers[0], version, decode_response_header(1, version, answers[0])[1])
        assert len(body.responses[0].partitions[0].records or b"") > 150_000
    list_offsets = struct.pack(">hhihi", 2, 1, 5, -1, -1) + struct.pack(">i", 1)
    list_offsets += struct.pack(">h", len(topic)) + topic.encode() + struct.pack(">iiq", 1, 0, -1)
    frame = struct.pack(">i", len(list_offsets)) + list_offsets
    assert await exchange(through, frame) == await exchange(direct, frame)


async def test_rule_4_acks_0_takes_no_place_in_the_queue(kafka: KafkaCluster, kcoord: Kcoord, topic: str) -> None:
    """Produce without an answer, with one, without: then what was asked behind them. Cut into small pieces as well."""
    client = await to_broker(kcoord.bootstrap)
    by_id = await topic_id(client, topic)
    wanted: list[tuple[Request, int]] = [
        (produce(topic, batch(b"a"), acks=0), 3),
        (produce(topic, batch(b"b"), acks=1), 8),
        (produce(topic, batch(b"c"), acks=0), 9),
        (produce("", batch(b"d"), acks=0, topic_id=by_id), 13),
        (produce("", batch(b"e"), acks=-1, topic_id=by_id), 13),
        (produce(topic, batch(b"f"), acks=0), 12),
        (MetadataRequest(topics=[]), 12),
    ]
    frames = [(request, version, *client.frame(request, version)) for request, version in wanted]
    data = b"".join(frame for *_, frame in frames)
    for start in range(0, len(data), 7):
        client.writer.write(data[start : start + 7])
        await asyncio.sleep(0)
    for request, version, correlation_id, _ in frames:
        if getattr(request, "acks", 1):
            async with asyncio.timeout(180):
                await client.read(request, version, correlation_id)
    await until(lambda: has_values(kafka, topic, 6), "all records are there")
    assert sorted(read_topic(kafka, topic)) == ["a", "b", "c", "d", "e", "f"]


async def test_rule_4_what_was_sent_before_the_client_hung_up_arrives(
    kafka: KafkaCluster, kcoord: Kcoord, topic: str
) -> None:
    """Some MB with acks=0: more than the broker has read when the connection ends."""
    client = await to_broker(kcoord.bootstrap)
    requests = [produce(topic, batch(bytes(500_000)), acks=0) for _ in range(40)]
    client.writer.write(b"".join(client.frame(request, 12)[1] for request in requests))
    await client.writer.drain()
    await client.close()
    await until(lambda: has_values(kafka, topic, len(requests)), "all records are there")


async def has_values(kafka: KafkaCluster, topic: str, count: int) -> bool:
    return len(await asyncio.to_thread(read_topic, kafka, topic)) == count


async def test_rule_4_one_connection_is_one_queue(kcoord: Kcoord, name: str, topic: str) -> None:
    """Behind a Fetch that waits, a heartbeat (which kcoord would answer at once) and a LeaveGroup wait too.

    Not only for their answers: the LeaveGroup is not even processed.
    """
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    assert [await member.heartbeat() for _ in range(3)] == [ErrorCode.NONE] * 3  # the hot path knows it now
    identity = MemberIdentity(member_id=member.member_id)
    requests: list[tuple[Request, int]] = [
        (fetch(topic, max_wait_ms=60_000), 12),
        (member.heartbeat_request(), 4),
        (member.heartbeat_request(), 4),
        (LeaveGroupRequest(group_id=name, members=[identity]), 5),
        (member.heartbeat_request(), 4),
        (MetadataRequest(topics=[]), 12),
    ]
    frames = [(request, version, *member.client.frame(request, version)) for request, version in requests]
    member.client.writer.write(b"".join(frame for *_, frame in frames))
    other = await to_broker(kcoord.bootstrap)
    for _ in range(20):
        assert (await describe(other, name)).group_state == "Stable"
    await ask(other, produce(topic, batch(b"lets the fetch go")), 12)
    answers = []
    for request, version, correlation_id, _ in frames:
        async with asyncio.timeout(180):
            answers.append(await member.client.read(request, version, correlation_id))
    errors = [ErrorCode(getattr(answer, "error_code", 0)) for answer in answers]
    assert errors == [ErrorCode.NONE] * 4 + [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE]


async def test_rule_4_when_upstream_ends_a_connection_so_does_kcoord(kcoord: Kcoord) -> None:
    """And the other way round: a request that Kafka hangs up on."""
    client = await to_broker(kcoord.bootstrap)
    bad = struct.pack(">hhih", 3, 12, 1, -1) + b"\0" + b"\xff" * 20  # Metadata v12 with a body of nonsense
    client.writer.write(struct.pack(">i", len(bad)) + bad)
    async with asyncio.timeout(180):
        assert await client.read_frame() == b""


def peak_mib(kcoord: Kcoord) -> float:
    """The most memory that kcoord ever had, in MiB."""
    status = Path(f"/proc/{kcoord.process.popen.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


async def test_rule_4_large_frames_stream_and_are_not_collected(
    start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord]
) -> None:
    """95 MiB in one frame, there and back, while kcoord takes memory for a small part of it."""
    size = 95 * MIB
    limits = {"message.max.bytes": size + MIB, "socket.request.max.bytes": size + 2 * MIB}
    kafka = start_kafka(overrides=limits, heap_mb=900)
    kcoord = start_kcoord(kafka)
    topic = kafka.create_topic("large")
    client = await to_broker(kcoord.bootstrap)
    by_id = await topic_id(client, topic)
    before = peak_mib(kcoord)
    records = batch(bytes(size))
    correlation_id, frame = client.frame(produce(topic, records), 12)
    for start in range(0, len(frame), MIB):
        client.writer.write(frame[start : start + MIB])
        await client.writer.drain()
    async with asyncio.timeout(180):
        answer = await client.read(produce(topic, b""), 12, correlation_id)
    assert ErrorCode(answer.responses[0].partition_responses[0].error_code) == ErrorCode.NONE  # type: ignore[attr-defined]
    for version in (12, 18):
        async with asyncio.timeout(180):
            while True:
                fetched = await ask(client, fetch(topic, max_wait_ms=1000, topic_id=by_id), version)
                if found := bytes(fetched.responses[0].partitions[0].records or b""):  # a busy broker may have none yet
                    break
        is_whole = found[61:] == records[61:]  # not to be shown where it is not
        assert is_whole
    assert peak_mib(kcoord) - before < 30
