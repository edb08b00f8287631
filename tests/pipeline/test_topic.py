"""Are the tables of a real topic what really happened? Filled by a kcoord that is killed, and its successor."""

from __future__ import annotations

import asyncio
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pyarrow.parquet as parquet
import pytest
from aiokafka import AIOKafkaProducer

from kcoord.log.history import Entry
from kcoord.log.kafka.history import TopicHistory
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.schemas import AUDIT, EPOCHS, OUTAGES, OWNERSHIP, QUARANTINE, REBALANCES, RECORDS, SESSIONS, WHATIF
from kcoord.pipeline.spark.history import run_batch, run_stream
from kcoord.pipeline.spark.sources import FileSource, TopicSource
from kcoord.pipeline.spark.store import Store
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_worker_group_current_member_assignment_value as record7
from kcoord.protocol.records import (
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupCurrentMemberAssignmentValue,
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupMemberMetadataValue,
    Record,
    encode_record,
)
from kcoord.protocol.resources import pack
from kcoord.resource import Resource
from tests.cli.run_cli import kcoord
from tests.connectgroups.worker import Worker, resources
from tests.gateway.scripted import close_all, connect, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import eventually
from tests.pipeline.killed_stream import kill_a_stream
from tests.pipeline.spark import MASTER, QUICK, read, read_all
from tests.pipeline.story import PARTITIONS, home
from tests.pipeline.streaming import AT_ONCE

GROUP = "fleet"
ALL = resources("a", "a-0", "a-1", "b", "b-0", "b-1")
SESSION_MS = 15_000
DEADLINE_S = 600


@attrs.frozen
class Happened:
    """What the script knows."""

    settings: KafkaLogSettings
    shares: dict[str, list[frozenset[Resource]]]
    """What each worker was told to run, one time after the other."""
    records: list[Entry]


def _instance(kafka: KafkaCluster, topic: str, folder: Path, number: int) -> Kcoord:
    folder.mkdir()
    settings = {
        "log": "kafka",
        "log.bootstrap": kafka.bootstrap,
        "log.topic": topic,
        "offsets.topic.num.partitions": PARTITIONS,
        "instance.id": number,
        "instances.group": f"instances-{topic}",
        "group.connect.session.timeout.ms": SESSION_MS,
        "group.connect.min.session.timeout.ms": SESSION_MS,
        "group.connect.heartbeat.interval.ms": 500,
        "group.connect.min.heartbeat.interval.ms": 500,
        "group.connect.rebalance.delay.ms": 0,
    }
    return Kcoord(folder, settings=settings)


async def play(kafka: KafkaCluster, folder: Path) -> Happened:
    """w1 comes; w2 comes; kcoord is killed, and another instance takes over; w2 leaves; w3 comes; w1 dies. Each time
    they settle.
    """
    topic = f"offsets-{uuid.uuid4()}"
    server, successor = (_instance(kafka, topic, folder / f"kcoord-{number}", number) for number in (1, 2))
    server.start()
    shares: dict[str, list[frozenset[Resource]]] = {}
    there: dict[str, Worker] = {}

    async def settle() -> None:
        async def settled() -> bool:
            for worker in there.values():
                assert await worker.heartbeat() == ErrorCode.NONE, worker.last
            owned = [worker.owned for worker in there.values()]
            sizes = {len(each) for each in owned}
            return sum(map(len, owned)) == len(ALL) and max(sizes) - min(sizes) <= 1

        await until(settled, "all is shared out evenly")
        for name, worker in there.items():
            told = shares.setdefault(name, [])
            if not told or told[-1] != worker.owned:
                told.append(worker.owned)

    async def come(name: str) -> None:
        worker = Worker(await connect(server.port), GROUP, name)

        async def joined() -> bool:
            return await worker.join(ALL) == ErrorCode.NONE

        await until(joined, f"{name} has joined")
        there[name] = worker
        await settle()

    try:
        await come("w1")
        await come("w2")
        await close_all()
        server.kill()
        server = successor.start()
        for worker in there.values():
            worker.client = await connect(server.port)

            async def answered(worker: Worker = worker) -> bool:
                error = await worker.heartbeat()
                if error == ErrorCode.NOT_COORDINATOR:  # a connection of before the load proves nothing (CG-4)
                    worker.client = await connect(server.port)
                return error == ErrorCode.NONE

            await until(answered, "the groups are loaded")
        await settle()
        assert await there.pop("w2").leave() == ErrorCode.NONE
        await settle()
        await come("w3")
        there.pop("w1")
        await settle()
        await close_all()
    finally:
        server.remove()
        successor.remove()
    settings = KafkaLogSettings(bootstrap=kafka.bootstrap, topic=topic, partitions=PARTITIONS)
    async with TopicHistory(settings) as history:
        found = [each async for step in history.read(home(GROUP)) for each in step]
    return Happened(settings, shares, found)


@pytest.fixture(scope="module")
def happened(kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Happened:
    return asyncio.run(play(kafka, tmp_path_factory.mktemp("kcoord")))


@pytest.fixture(scope="module")
def tables(happened: Happened, spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of that topic, by a batch."""
    place = tmp_path_factory.mktemp("tables") / "out"
    run_batch(Store(spark, str(place)), TopicSource.look(happened.settings))
    return place


def test_every_record_is_there_once(happened: Happened, tables: Path) -> None:
    rows = {row["offset"]: row for row in read(tables, RECORDS) if row["partition"] == home(GROUP)}
    assert sorted(rows) == [each.position for each in happened.records]
    for each in happened.records:
        row = rows[each.position]
        assert (row["key"], row["value"], row["tombstone"]) == (each.key, each.value, each.value is None)
        assert int(row["at"].timestamp() * 1000 + 0.5) == each.at_ms
        assert row["group_id"] == GROUP
    assert read(tables, QUARANTINE) == []


def test_epochs_and_sessions_are_what_happened(happened: Happened, tables: Path) -> None:
    epochs = sorted(read(tables, EPOCHS), key=lambda row: row["offset"])
    assert [(row["epoch"], row["reason"], row["members"]) for row in epochs] == [
        (1, "worker joined", 1),
        (2, "worker joined", 2),
        (3, "worker left", 1),
        (4, "worker joined", 2),
        (5, "session expired", 1),
    ]
    stays = {row["member_id"]: row for row in read(tables, SESSIONS)}
    assert {name: row["ended"] for name, row in stays.items()} == {
        "w1": "session expired",
        "w2": "worker left",
        "w3": None,
    }
    assert (
        stays["w1"]["from_offset"] < stays["w2"]["from_offset"] < stays["w2"]["to_offset"] < stays["w3"]["from_offset"]
    )
    assert all(row["whole"] for row in stays.values())


def test_ownership_is_what_the_workers_were_told(happened: Happened, tables: Path) -> None:
    rows = read(tables, OWNERSHIP)
    for name, shares in happened.shares.items():
        before: frozenset[Resource] = frozenset()
        granted: list[Resource] = []
        for share in shares:
            granted += sorted(share - before)
            before = share
        told = sorted((row["connector"], row["task"]) for row in rows if row["member_id"] == name)
        assert told == sorted(granted), name
    assert {(row["connector"], row["task"]) for row in rows if row["ended"] is None} == ALL
    assert {row["member_id"] for row in rows if row["ended"] is None} == {"w3"}


def test_rebalances_are_counted(happened: Happened, tables: Path) -> None:
    rows = {row["epoch"]: row for row in read(tables, REBALANCES)}
    half = len(ALL) // 2
    counts = {epoch: (row["granted"], row["stopped"], row["lost"], row["interrupted"]) for epoch, row in rows.items()}
    assert counts == {
        1: (len(ALL), 0, 0, 0),
        2: (half, half, 0, 1),
        3: (half, 0, half, 0),
        4: (half, half, 0, 1),
        5: (half, 0, half, 0),
    }
    assert all(row["moved"] == row["granted"] and row["settled"] is not None for row in rows.values())


def test_nothing_is_found_in_it(tables: Path) -> None:
    assert read(tables, AUDIT) == []


def test_a_stream_that_is_killed_loses_nothing_and_doubles_nothing(
    happened: Happened, tables: Path, spark: Any, tmp_path: Path
) -> None:
    place = tmp_path / "streamed"
    kill_a_stream([happened.settings.bootstrap, happened.settings.topic, str(place)], place)
    run_stream(Store(spark, str(place)), TopicSource.look(happened.settings), at_once=AT_ONCE)
    assert len(list((place / "records").glob("batch-*"))) > 2
    assert read_all(place) == read_all(tables)


def test_a_stream_that_goes_on_has_the_tables_after_each_batch(
    happened: Happened, tables: Path, spark: Any, tmp_path: Path
) -> None:
    place = tmp_path / "followed"
    begun: list[str] = []
    source = TopicSource.look(happened.settings)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run_stream, Store(spark, str(place)), source, begun.append, every_s=1)

        def all_is_there() -> bool:
            if running.done():
                running.result()
            return begun[-1:] == ["counting"] and not (place / "_next").exists()

        try:
            eventually(all_is_there, "a batch and its tables are written", deadline_s=300)
            assert read_all(place) == read_all(tables)
        finally:
            for query in spark.streams.active:
                query.stop()
        running.result()
    assert read_all(place) == read_all(tables)


def test_the_same_records_in_a_file_give_the_same_tables(
    happened: Happened, tables: Path, spark: Any, tmp_path: Path
) -> None:
    from tests.pipeline.files import copy_to_file

    copy_to_file(happened.records, tmp_path / "log", PARTITIONS)
    place = tmp_path / "out"
    run_batch(Store(spark, str(place)), FileSource.look(tmp_path / "log"))
    found = read_all(place)
    assert found == read_all(tables) | {OUTAGES.name: []}, "a file that was copied has never been open"
    assert {row["partition"] for row in read(tables, OUTAGES)} <= {home(GROUP)}, "in others nobody is a member"
    with pytest.raises(PipelineError, match="is filled by a batch"):
        Store(spark, str(place)).check(stream=True)
    with pytest.raises(PipelineError, match=r"holds something else \(kcoord.db\)"):
        Store(spark, str(tmp_path / "log")).check(stream=False)


@pytest.mark.proof
def test_history_report_and_whatif_of_it_by_command(happened: Happened, tables: Path, tmp_path: Path) -> None:
    """Three workers, two of which went for good: what if Connect's delay had been 0, 30 or 300 s?"""
    quick = [part for name, value in QUICK.items() for part in ("--conf", f"{name}={value}")]
    spark = ["--master", MASTER, *quick]
    made, tried, page = (tmp_path / name for name in ("tables", "tried", "report.html"))
    topic = ["--log-bootstrap", happened.settings.bootstrap, "--topic", happened.settings.topic]
    done = kcoord("pipeline", "history", *topic, "--out", made, *spark, deadline_s=DEADLINE_S)
    assert done.code == 0, done.err
    assert read_all(made) == read_all(tables)
    done = kcoord("pipeline", "report", "--tables", made, "--out", page, deadline_s=DEADLINE_S)
    assert (done.code, done.out) == (0, f"1 group in {page}\n")
    delays = [part for delay in ("0", "30", "300") for part in ("--delay", delay)]
    asked = ["--tables", made, "--out", tried, "--was-delay", "0", "--seeds", "2", *delays]
    done = kcoord("pipeline", "whatif", *asked, *spark, deadline_s=DEADLINE_S)
    assert done.code == 0, done.err
    assert f"{GROUP}: " in done.out
    assert "Really run: connect by " in done.out
    if "Nothing is recommended: the replays of what was really run and the recorded log disagree." not in done.out:
        assert "Recommended: a delay of 0 s, as it was." in done.out
        assert "2 workers went, 0 came back" in done.out
    assert "How well the replays agree: with what was really run their logs say" in done.out
    rows = parquet.read_table(tried / WHATIF.name).to_pylist()
    assert len(rows) == int(re.findall(r"([\d,]+) runs\. ", done.out)[0].replace(",", ""))
    assert {(row["error"], row["doubles"]) for row in rows} == {(None, 0)}
    assert {row["delay"] for row in rows if row["policy"] == "design-2"} == {0.0, 30.0, 300.0}


async def _forge(happened: Happened, *records: tuple[bytes, bytes | None]) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=happened.settings.bootstrap)
    await producer.start()
    try:
        for key, value in records:
            await producer.send_and_wait(happened.settings.topic, value, key, partition=home(GROUP))
            await asyncio.sleep(0.01)
    finally:
        await producer.stop()


def _current(member: str, owned: frozenset[Resource]) -> tuple[bytes, bytes | None]:
    packed = pack(owned, record7.ConnectorsTasks, record7.ConnectorTaskId)
    value = ConnectWorkerGroupCurrentMemberAssignmentValue(5, 0, packed)
    return encode_record(Record(ConnectWorkerGroupCurrentMemberAssignmentKey(GROUP, member), value))


def test_planted_faults_are_found_and_nothing_else(
    happened: Happened, tables: Path, spark: Any, tmp_path: Path
) -> None:
    """The last one: it writes to the topic."""
    said = ConnectWorkerGroupMemberMetadataValue(client_id="forged", client_host="/10.0.0.9")
    forged = [
        encode_record(Record(ConnectWorkerGroupMemberMetadataKey(GROUP, "forged"), said)),
        _current("forged", resources("a-0")),
        _current("w3", ALL - resources("b-1")),
        (b"\x7f\xff of a newer kcoord", b"value"),
        (b"\x00\x03\x00", None),
    ]
    asyncio.run(_forge(happened, *forged))
    place = tmp_path / "out"
    outcome = run_batch(Store(spark, str(place)), TopicSource.look(happened.settings))
    found = sorted((row["finding"], row["connector"], row["task"]) for row in read(place, AUDIT))
    assert found == [("double owner", "a", 0), ("gap", "b", 1)]
    kept = sorted(read(place, QUARANTINE), key=lambda row: row["offset"])
    assert [(row["key"], row["value"], row["newer"]) for row in kept] == [(*forged[3], True), (*forged[4], False)]
    assert all(row["reason"] for row in kept)
    assert (outcome.quarantined, outcome.findings) == (2, 2)
    assert outcome.records == len(read(tables, RECORDS)) + 3
