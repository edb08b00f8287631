"""Does `kcoord log` show what is in the log, of a file and of a topic, and does it find what is wrong?"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from kcoord.client import Cluster
from kcoord.group.partition_of_group import partition_of
from kcoord.log.sqlite_file import FILE_NAME
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import OffsetCommitRequest, OffsetCommitResponse
from kcoord.protocol.records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    encode_record,
)
from tests.cli.run_cli import Outcome, kcoord
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import Security, password_of
from tests.log.places import PARTITIONS, Directory, Place, Topic, opened
from tests.repository import ROOT

GROUP, TOPIC = "dumped", "orders"
OTHER = next(name for name in map(str, range(99)) if partition_of(name, PARTITIONS) != partition_of(GROUP, PARTITIONS))
AT = partition_of(GROUP, PARTITIONS)


def group_record(generation: int, group: str = GROUP) -> Record:
    members = [MemberMetadata(member_id="m", client_id="c", client_host="/1.2.3.4", subscription=b"\x00\xff")]
    value = GroupMetadataValue("consumer", generation, "range", "m", 5, members, state="Stable")
    return Record(GroupMetadataKey(group), value)


COMMIT = Record(OffsetCommitKey(GROUP, TOPIC, 3), OffsetCommitValue(offset=42, metadata="é", commit_timestamp=7))


@pytest.fixture(params=["embedded", "kafka"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Directory(tmp_path) if request.param == "embedded" else Topic(request.getfixturevalue("kafka"))


def where(place: Place) -> list[object]:
    """The options that name it."""
    if isinstance(place, Topic):
        return ["--log-bootstrap", place.cluster.bootstrap, "--topic", place.name]
    assert isinstance(place, Directory)
    return ["--data-dir", place.path]


async def command(name: str, place: Place, *options: object) -> Outcome:
    return await asyncio.to_thread(kcoord, "log", name, *where(place), *options)


async def dumped(place: Place, *options: object) -> list[dict[str, Any]]:
    outcome = await command("dump", place, *options)
    assert (outcome.code, outcome.err) == (0, "")
    return [json.loads(line) for line in outcome.out.splitlines()]


async def write(place: Place, *steps: list[Record]) -> None:
    async with opened(place.make(), *range(PARTITIONS)) as log:
        for step in steps:
            partition = partition_of(getattr(step[0].key, "group", ""), PARTITIONS)
            await log.append(partition, [encode_record(record) for record in step])


async def test_every_record_is_a_line(place: Place) -> None:
    await write(
        place, [group_record(1), COMMIT], [group_record(2, OTHER)], [Record(COMMIT.key, None)], [group_record(2)]
    )
    lines = await dumped(place)
    assert [(each["partition"], each["type"], each["value"] is None) for each in lines if each["partition"] == AT] == [
        (AT, "GroupMetadata", False),
        (AT, "OffsetCommit", False),
        (AT, "OffsetCommit", True),
        (AT, "GroupMetadata", False),
    ]
    offsets = [each["offset"] for each in lines if each["partition"] == AT]
    assert offsets == sorted(set(offsets))
    assert all(each["at"].startswith("20") and each["at"].endswith("Z") for each in lines)
    first, commit = [each for each in lines if each["partition"] == AT][:2]
    assert first["key"] == {"group": GROUP}
    assert first["value"]["generation"] == 1
    [member] = first["value"]["members"]
    assert base64.b64decode(member["subscription"]) == b"\x00\xff"
    assert commit["key"] == {"group": GROUP, "topic": TOPIC, "partition": 3}
    assert {**commit["value"], "offset": 42, "metadata": "é"} == commit["value"]
    assert {each["key"]["group"] for each in await dumped(place, "--group", OTHER)} == {OTHER}
    assert {each["partition"] for each in await dumped(place, "-p", AT)} == {AT}
    sound = await command("verify", place)
    assert (sound.code, sound.out) == (0, "")
    assert sound.err == f"5 records of 2 groups in {PARTITIONS} partitions: sound\n"
    beyond = await command("dump", place, "-p", PARTITIONS)
    assert (beyond.code, beyond.out) == (1, "")
    assert beyond.err == f"kcoord: there is no partition {PARTITIONS}: the log has {PARTITIONS}, from 0\n"


async def test_what_cannot_be_read_is_shown_and_said(place: Place) -> None:
    """Of a newer kcoord, say; a key that is known with a value that is cut short."""
    async with opened(place.make(), AT) as log:
        key, value = encode_record(COMMIT)
        assert value is not None
        await log.append(AT, [(b"\x7f\xff rest", b"newer"), (key, value[:-3])])
        await log.append(AT, [encode_record(group_record(4))])
    unknown, cut, fine = await dumped(place)
    assert (base64.b64decode(unknown["key"]), base64.b64decode(unknown["value"])) == (b"\x7f\xff rest", b"newer")
    assert unknown["error"].startswith("record key of type 32767, known are ")
    assert cut["error"]
    assert fine["type"] == "GroupMetadata"
    verified = await command("verify", place)
    assert verified.code == 1
    first, second = verified.out.splitlines()
    said = f"partition {AT}, offset {unknown['offset']}: the record cannot be read: record key of type 32767"
    assert first.startswith(said)
    assert second.startswith(f"partition {AT}, offset {cut['offset']}: the record cannot be read: ")
    assert verified.err.endswith(": 2 faults\n")


async def test_faults_are_found(place: Place) -> None:
    await write(
        place,
        [group_record(5)],
        [group_record(4)],
        [Record(GroupMetadataKey(OTHER), GroupMetadataValue(state="Stable"))],
    )
    verified = await command("verify", place)
    assert verified.code == 1
    back, empty = sorted(verified.out.splitlines(), key=lambda line: "in the end" in line)
    assert back.startswith(f"partition {AT}, offset ")
    assert back.endswith(f"group {GROUP}: the generation goes back from 5 to 4")
    assert empty.endswith(f"in the end: group {OTHER}: it is Stable and has no members")


# -- beside a running server -------------------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Kcoord]:
    process = Kcoord(tmp_path, settings={"group.initial.rebalance.delay.ms": 0}).start()
    yield process
    process.remove()


async def test_beside_a_running_server(server: Kcoord) -> None:
    """It reads only: the server goes on, and after a kill the log is as it was."""
    for turn in range(3):
        await _commit(server.bootstrap, turn)
        for name in ("dump", "verify"):
            outcome = await asyncio.to_thread(kcoord, "log", name, "--data-dir", server.data)
            assert outcome.code == 0, outcome
        outcome = await asyncio.to_thread(kcoord, "log", "dump", "--data-dir", server.data, "--group", f"beside-{turn}")
        assert '"type": "OffsetCommit"' in outcome.out
    before = await asyncio.to_thread(kcoord, "log", "dump", "--data-dir", server.data)
    server.kill()
    killed = await asyncio.to_thread(kcoord, "log", "dump", "--data-dir", server.data)
    assert killed.out == before.out
    server.start()
    server.stop()
    stopped = await asyncio.to_thread(kcoord, "log", "dump", "--data-dir", server.data)
    assert stopped.out.startswith(before.out[:200])
    os.chmod(server.data, 0o555)  # noqa: PTH101
    assert (await asyncio.to_thread(kcoord, "log", "verify", "--data-dir", server.data)).code == 0
    os.chmod(server.data, 0o755)  # noqa: PTH101


async def _commit(bootstrap: str, turn: int) -> None:
    topic = OffsetCommitRequestTopic(TOPIC, partitions=[OffsetCommitRequestPartition(0, turn)])
    host, _, port = bootstrap.partition(":")
    async with Cluster([(host, int(port))]) as cluster:
        connection = await cluster.any()
        answer = await connection.send(OffsetCommitRequest(f"beside-{turn}", topics=[topic]), OffsetCommitResponse)
    assert answer.topics[0].partitions[0].error_code == 0


async def test_following(place: Place) -> None:
    async with opened(place.make(), *range(PARTITIONS)) as log:
        await log.append(AT, [encode_record(group_record(1))])
        env = {name: value for name, value in os.environ.items() if not name.startswith("KCOORD_")}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "kcoord", "log", "dump", "--follow", *map(str, where(place)),
            stdout=subprocess.PIPE, env={**env, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert process.stdout is not None
        for generation in range(1, 4):
            async with asyncio.timeout(180):
                line = json.loads(await process.stdout.readline())
            assert line["value"]["generation"] == generation
            await log.append(AT, [encode_record(group_record(generation + 1))])
        process.terminate()
        await process.wait()


# -- what is wrong with the place --------------------------------------------------------------------------------------


def failed(outcome: Outcome) -> str:
    assert (outcome.code, outcome.out) == (1, ""), outcome
    assert outcome.err.count("\n") == 1
    return outcome.err


def test_a_place_without_a_log(tmp_path: Path, kafka: KafkaCluster) -> None:
    assert "there is no log in " in failed(kcoord("log", "dump", "--data-dir", tmp_path / "none"))
    (tmp_path / FILE_NAME).write_bytes(b"not a database at all")
    assert "file is not a database" in failed(kcoord("log", "verify", "--data-dir", tmp_path))
    bootstrap = ["--log-bootstrap", kafka.bootstrap]
    assert "there is no topic not-there at " in failed(kcoord("log", "dump", *bootstrap, "--topic", "not-there"))
    assert "not-there" not in kafka.admin().list_topics(timeout=120).topics
    both = kcoord("log", "dump", *bootstrap, "--data-dir", tmp_path)
    assert (both.code, both.err.count("give only")) == (2, 1)


async def test_a_damaged_file_is_found(tmp_path: Path) -> None:
    await write(Directory(tmp_path / "log"), [group_record(1)], [COMMIT])
    shutil.copytree(tmp_path / "log", tmp_path / "damaged")
    with sqlite3.connect(tmp_path / "damaged" / FILE_NAME) as connection:
        connection.execute("UPDATE record SET value = x'00' WHERE position = (SELECT max(position) FROM record)")
    connection.close()
    for name in ("dump", "verify"):
        outcome = kcoord("log", name, "--data-dir", tmp_path / "damaged")
        assert outcome.code == 1
        assert f"record 1 of partition {AT} does not match its checksum" in outcome.err


async def test_records_of_somebody_else(kafka: KafkaCluster) -> None:
    topic = Topic(kafka)
    async with opened(topic.make()):
        pass
    producer = AIOKafkaProducer(bootstrap_servers=kafka.bootstrap)
    await producer.start()
    await producer.send_and_wait(topic.name, b"value", b"key", partition=1)
    await producer.stop()
    [line] = await dumped(topic)
    assert line["error"].startswith("record key of type 27493, known are ")
    assert (await command("verify", topic)).code == 1


def test_with_the_servers_settings(start_kafka: Callable[..., KafkaCluster], tmp_path: Path) -> None:
    cluster = start_kafka(security=Security.SASL_PLAINTEXT)
    config = tmp_path / "kcoord.toml"
    settings = {
        "log": "kafka",
        "log.bootstrap": cluster.bootstrap,
        "log.topic": "secured",
        "offsets.topic.num.partitions": PARTITIONS,
        "log.security.protocol": "SASL_PLAINTEXT",
        "log.sasl.mechanism": "SCRAM-SHA-256",
        "log.sasl.username": "admin",
        "log.sasl.password": password_of("admin"),
    }
    config.write_text("".join(f'"{name}" = {json.dumps(value)}\n' for name, value in settings.items()))
    cluster.create_topic("secured", PARTITIONS)
    assert (
        kcoord("log", "verify", "--config", config).err == f"0 records of 0 groups in {PARTITIONS} partitions: sound\n"
    )
    wrong = tmp_path / "wrong"
    wrong.write_text("not the password\n")
    assert "SaslAuthenticationFailed" in failed(
        kcoord("log", "dump", "--config", config, "-o", f"log.sasl.password.file={wrong}")
    )
    warned = kcoord("log", "dump", "--config", config, "-o", "log.sasl.password=exposed").err
    assert "every user of this machine can read a command line" in warned
    assert "exposed" not in warned
