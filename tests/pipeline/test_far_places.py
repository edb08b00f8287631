"""Are tables on HDFS and in S3 those of this machine, and does the command say in a line why it cannot use a place?"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.log.history import Entry
from kcoord.pipeline.schemas import AUDIT, EPOCHS, QUARANTINE, RECORDS
from kcoord.pipeline.spark.history import Outcome
from kcoord.pipeline.spark.remote_place import HADOOP_AWS
from kcoord.protocol.records import encode_record
from tests.cli import run_cli
from tests.group.connect.world import GROUP
from tests.kafka.cluster import KafkaCluster
from tests.kafka.ports import free_port
from tests.kafka.wait import eventually
from tests.pipeline.files import copy_to_file
from tests.pipeline.hdfs import Hdfs, running_hdfs
from tests.pipeline.log_of_all_kinds import all_kinds, check_tables, raw_of, without_holes
from tests.pipeline.on_topic import put_raw
from tests.pipeline.s3 import S3, hadoop_aws, running_s3
from tests.pipeline.spark import MASTER, QUICK, bring_connectors, read, read_all
from tests.pipeline.story import PARTITIONS, entries, fleet_of_two, home

DEADLINE_S = 600
USER = "history"
STRANGER = "stranger"


@attrs.frozen
class Place:
    """A directory for tables on another file system, and what a user gives to come there."""

    uri: str
    copy: Callable[[Path], None]
    """Copies it to this machine."""
    settings: Mapping[str, str]
    environment: Mapping[str, str]


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with running_hdfs(tmp_path_factory.mktemp("hdfs")) as running:
        running.make_home(USER)
        yield running


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with running_s3(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(params=["hdfs", pytest.param("s3a", marks=pytest.mark.proof)])
def place(request: pytest.FixtureRequest) -> Place:
    """A directory that is not there yet."""
    name = f"tables-{uuid.uuid4()}"
    if request.param == "hdfs":
        hdfs: Hdfs = request.getfixturevalue("hdfs")
        path = f"/user/{USER}/{name}"
        return Place(f"hdfs://{hdfs.address}{path}", partial(hdfs.copy, path), {}, {"HADOOP_USER_NAME": USER})
    s3: S3 = request.getfixturevalue("s3")
    bucket = f"bucket-{uuid.uuid4()}"
    s3.make_bucket(bucket)
    return Place(f"s3a://{bucket}/{name}", partial(s3.copy, bucket, name), s3.settings, s3.environment)


@pytest.fixture
def log(tmp_path: Path) -> list[object]:
    """The options for a log in a file of groups of all kinds."""
    copy_to_file(raw_of(all_kinds()), tmp_path / "log", PARTITIONS)
    return ["--data-dir", tmp_path / "log"]


def run(*arguments: object, settings: Mapping[str, str], environment: Mapping[str, str]) -> run_cli.Outcome:
    """Run `kcoord pipeline history` to its end."""
    conf = [part for name, value in (QUICK | dict(settings)).items() for part in ("--conf", f"{name}={value}")]
    command = ["pipeline", "history", "--master", MASTER, *conf, *arguments]
    return run_cli.kcoord(*command, env=environment, deadline_s=DEADLINE_S)


def made_here(folder: Path, *arguments: object) -> Path:
    """Make the tables on this machine."""
    done = run("--out", folder, *arguments, settings={}, environment={})
    assert done.code == 0, done.err
    return folder


def made(place: Place, folder: Path, *arguments: object) -> Path:
    """Make the tables at the place, and copy them to this machine."""
    done = run("--out", place.uri, *arguments, settings=place.settings, environment=place.environment)
    assert done.code == 0, done.err
    assert done.out.endswith(f". The tables are in {place.uri}\n")
    to = folder / str(uuid.uuid4())
    place.copy(to)
    return to


@pytest.mark.long("starts Spark by itself")
def test_the_tables_of_a_log_in_a_file(place: Place, log: list[object], tmp_path: Path) -> None:
    found = made(place, tmp_path, *log)
    entries = all_kinds()
    counted = (len(read(found, each)) for each in (RECORDS, QUARANTINE, AUDIT))
    check_tables(found, entries, Outcome(*counted))
    assert {each.name for each in found.iterdir()} == set(read_all(found)), "nothing else is left there"


@pytest.mark.proof
def test_a_second_run_replaces_the_tables(place: Place, log: list[object], tmp_path: Path) -> None:
    fleet = entries(fleet_of_two().written, home(GROUP))
    raw = (Entry(e.partition, e.offset, e.at_ms, *encode_record(e.record)) for e in fleet)
    copy_to_file(raw, tmp_path / "small", PARTITIONS)
    first = made(place, tmp_path, "--data-dir", tmp_path / "small")
    assert [row["epoch"] for row in read(first, EPOCHS)] == [1, 2, 3]
    second = made(place, tmp_path, *log)
    assert read_all(second) == read_all(made_here(tmp_path / "here", *log))


@pytest.mark.proof
def test_a_stream_goes_on_where_it_was(place: Place, kafka: KafkaCluster, tmp_path: Path) -> None:
    """Its checkpoint is at the place too."""
    bring_connectors()
    raw = raw_of(without_holes(all_kinds()))
    topic = f"log-{uuid.uuid4()}"
    kafka.create_topic(topic, PARTITIONS, {"retention.ms": "-1"})
    source = ["--log-bootstrap", kafka.bootstrap, "--topic", topic]
    half = {partition: sum(each.partition == partition for each in raw) // 2 for partition in range(PARTITIONS)}
    put_raw(kafka.bootstrap, topic, (each for each in raw if each.position < half[each.partition]))
    first = made(place, tmp_path, *source, "--stream")
    assert len(read(first, RECORDS)) == sum(half.values())
    put_raw(kafka.bootstrap, topic, (each for each in raw if each.position >= half[each.partition]))
    second = made(place, tmp_path, *source, "--stream")
    assert len(list((second / RECORDS.name).glob("batch-*"))) == 2, "what was there has not been read again"
    assert read_all(second) == read_all(made_here(tmp_path / "here", *source))


def test_rows_that_spark_keeps_beside_rows_on_hdfs(hdfs: Hdfs, spark: Any) -> None:
    """Their tasks are to run in different places. Spark must not wait for one of them, which there is not."""
    place = f"hdfs://{hdfs.address}/rows-{uuid.uuid4()}"
    spark.range(3).coalesce(1).write.parquet(place)
    kept = spark.range(3).coalesce(1).persist()
    assert kept.count() == 3
    with ThreadPoolExecutor(1) as threads:
        counted = threads.submit(kept.union(spark.read.parquet(place)).count)
        try:
            eventually(counted.done, "a job that does not wait for a place")
        finally:
            spark.sparkContext.cancelAllJobs()
    assert counted.result() == 6
    kept.unpersist()


def failed(log: list[object], out: str, settings: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """Why the command fails, which it says in one line."""
    done = run("--out", out, *log, settings=settings, environment=environment)
    assert (done.code, done.out) == (1, ""), done
    steps = {"starting Spark", "reading and decoding the log"}
    [line] = [each for each in done.err.splitlines() if each not in steps]
    assert line.startswith("kcoord: ")
    return line.removeprefix("kcoord: ")


def test_where_nothing_answers_spark_is_not_started(log: list[object]) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    endpoint = {"spark.hadoop.fs.s3a.endpoint": f"http://{nobody}"}
    for place, settings in ((f"hdfs://{nobody}/tables", {}), ("s3a://bucket/tables", endpoint)):
        said = failed(log, place, settings, {})
        assert said.startswith(f"nothing answers at {nobody}, where {place} should be: ")
        assert said.endswith("; see that it runs and can be reached")


@pytest.mark.proof
def test_a_directory_of_hdfs_that_belongs_to_somebody_else(hdfs: Hdfs, log: list[object]) -> None:
    place = f"hdfs://{hdfs.address}/user/{USER}/theirs"
    assert f"AccessControlException: Permission denied: user={STRANGER}, access=WRITE" in failed(
        log, place, {}, {"HADOOP_USER_NAME": STRANGER}
    )


@pytest.mark.proof
def test_a_bucket_that_cannot_be_used(s3: S3, log: list[object]) -> None:
    there = f"bucket-{uuid.uuid4()}"
    s3.make_bucket(there)
    none = failed(log, f"s3a://no-{there}/tables", s3.settings, s3.environment)
    assert none.startswith(f"s3a://no-{there}/tables cannot be used: UnknownStoreException: ")
    assert "The specified bucket does not exist" in none
    wrong = failed(
        log, f"s3a://{there}/tables", s3.settings, s3.environment | {"AWS_SECRET_ACCESS_KEY": "not-the-secret"}
    )
    assert wrong.startswith(f"s3a://{there}/tables cannot be used: AccessDeniedException: ")


@pytest.mark.proof
def test_s3_without_hadoops_module_for_it(s3: S3, log: list[object]) -> None:
    assert failed(log, "s3a://bucket/tables", {}, s3.environment).endswith(
        f"S3AFileSystem not found; give --conf spark.jars.packages={HADOOP_AWS}"
    )
    assert hadoop_aws() == HADOOP_AWS, "it is of the version of Spark's Hadoop"
