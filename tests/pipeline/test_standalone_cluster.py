"""Does the pipeline run on a real Spark cluster, whose executors have nothing of kcoord?"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kcoord import pipeline
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.pipeline.lab import cells, row_of
from kcoord.pipeline.schemas import EPOCHS, RECORDS, WHATIF
from kcoord.pipeline.spark.history import Outcome, run_batch, run_stream
from kcoord.pipeline.spark.lab import run_cells
from kcoord.pipeline.spark.session import session
from kcoord.pipeline.spark.sources import FileSource, TopicSource
from kcoord.pipeline.spark.store import Store
from kcoord.pipeline.spark.whatif import replay_all
from kcoord.pipeline.whatif.question import Asked, question
from kcoord.pipeline.whatif.replay import replay_of
from kcoord.sim.scenario import Kind, built_in, load
from tests.cli.run_cli import kcoord
from tests.kafka.cluster import KafkaCluster
from tests.kafka.wait import eventually
from tests.pipeline.files import copy_to_file
from tests.pipeline.killed_stream import kill_a_stream
from tests.pipeline.log_of_all_kinds import all_kinds, check_tables, raw_of, without_holes
from tests.pipeline.on_topic import put_raw
from tests.pipeline.replayed import history
from tests.pipeline.shared_spark import SharedSpark
from tests.pipeline.spark import bring_connectors
from tests.pipeline.standalone_cluster import OF_PANDAS, SparkCluster, bare_python, spark_cluster
from tests.pipeline.story import PARTITIONS, tables
from tests.pipeline.streaming import AT_ONCE

DEADLINE_S = 600


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of the executors."""
    return bare_python(tmp_path_factory.mktemp("executors") / "python")


@pytest.fixture(scope="module")
def cluster(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with spark_cluster(tmp_path_factory.mktemp("cluster"), python) as running:
        yield running


@pytest.fixture
def on_cluster(spark: SharedSpark, cluster: SparkCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session on it."""
    spark.give_way()
    bring_connectors()
    log = tmp_path_factory.mktemp("spark") / "spark.log"
    log.touch()
    with session(cluster.master, log, kafka=True, delta=True, settings=cluster.settings, shared=[log]) as running:
        assert running.sparkContext.master == cluster.master
        yield running


@pytest.mark.long("starts a cluster")
def test_a_log_in_a_file_of_this_machine(on_cluster: Any, tmp_path: Path) -> None:
    log = all_kinds()
    copy_to_file(raw_of(log), tmp_path / "log", PARTITIONS)
    outcome = run_batch(Store(on_cluster, str(tmp_path / "tables")), FileSource.look(tmp_path / "log"))
    check_tables(tmp_path / "tables", log, outcome)


@pytest.mark.proof
@pytest.mark.parametrize("run", [run_batch, run_stream], ids=["batch", "stream"])
def test_a_log_in_a_topic(
    on_cluster: Any, kafka: KafkaCluster, tmp_path: Path, run: Callable[[Store, TopicSource], Outcome]
) -> None:
    log, topic = without_holes(all_kinds()), f"log-{uuid.uuid4()}"
    kafka.create_topic(topic, PARTITIONS, {"retention.ms": "-1"})
    put_raw(kafka.bootstrap, topic, raw_of(log))
    source = TopicSource.look(KafkaLogSettings(bootstrap=kafka.bootstrap, topic=topic))
    check_tables(tmp_path / "tables", log, run(Store(on_cluster, str(tmp_path / "tables")), source))


@pytest.mark.proof
def test_a_stream_whose_driver_is_killed(spark: SharedSpark, python: Path, kafka: KafkaCluster, tmp_path: Path) -> None:
    """On a cluster of its own: a session keeps the cores that it has."""
    log, topic, place = without_holes(all_kinds()), f"log-{uuid.uuid4()}", tmp_path / "tables"
    kafka.create_topic(topic, PARTITIONS, {"retention.ms": "-1"})
    put_raw(kafka.bootstrap, topic, raw_of(log))
    source = TopicSource.look(KafkaLogSettings(bootstrap=kafka.bootstrap, topic=topic))
    with spark_cluster(tmp_path / "cluster", python) as cluster:
        settings = [f"{name}={value}" for name, value in cluster.settings.items()]
        kill_a_stream([kafka.bootstrap, topic, str(place), cluster.master, *settings], place)
        spark.give_way()
        with session(cluster.master, tmp_path / "spark.log", kafka=True, settings=cluster.settings) as own:
            check_tables(place, log, run_stream(Store(own, str(place)), source, at_once=AT_ONCE))
    assert len(list((place / "records").glob("batch-*"))) > 2


@pytest.mark.proof
def test_a_program_gets_the_tables_of_a_topic(on_cluster: Any, kafka: KafkaCluster) -> None:
    """The executors read the topic themselves, with what kcoord has brought along."""
    log, topic = without_holes(all_kinds()), f"log-{uuid.uuid4()}"
    kafka.create_topic(topic, PARTITIONS, {"retention.ms": "-1"})
    put_raw(kafka.bootstrap, topic, raw_of(log))
    found = pipeline.tables(on_cluster, {"bootstrap.servers": kafka.bootstrap, "topic": topic})
    assert found[RECORDS.name].count() == sum(map(len, log.values()))
    expected = [row for partition, each in log.items() for row in tables(each, PARTITIONS, partition)[EPOCHS.name]]
    wanted = ("group_id", "epoch", "reason", "members")
    there = [tuple(row[name] for name in wanted) for row in found[EPOCHS.name].collect()]
    assert sorted(there, key=repr) == sorted((tuple(row[name] for name in wanted) for row in expected), key=repr)


@pytest.mark.proof
def test_the_lab_while_an_executor_is_killed(on_cluster: Any, cluster: SparkCluster) -> None:
    scenarios = {"death": load(built_in()["death"])}
    todo = cells(list(scenarios), list(Kind), ["uniform", "eager"], [None], range(8))
    tracker = on_cluster.sparkContext.statusTracker()

    def under_way() -> bool:
        stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
        return any(each is not None and 0 < each.numCompletedTasks < each.numTasks for each in stages)

    with ThreadPoolExecutor() as pool:
        rows = pool.submit(lambda: run_cells(on_cluster, scenarios, todo).collect())
        eventually(under_way, "some cells are done and some are not")
        cluster.kill_executor()
        found = rows.result()
    expected = [row_of(scenarios[each.scenario], each) for each in todo]
    assert sorted((row.asDict() for row in found), key=repr) == sorted(expected, key=repr)


@pytest.mark.proof
def test_what_if(on_cluster: Any, tmp_path: Path) -> None:
    past = history(load(built_in()["death"]), Kind.BARRIER, "kip-415")
    wanted = question(past.tables, Asked(heartbeat=3.0, seeds=1, delays=[0, 30]))
    episodes = {each.name: each for each in wanted.episodes}
    found = replay_all(Store(on_cluster, str(tmp_path / "whatif"), (WHATIF,)), episodes, wanted.cells)
    expected = [replay_of(episodes[each.scenario], each) for each in wanted.cells]
    assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.proof
def test_executors_without_pyarrow(tmp_path: Path) -> None:
    python = bare_python(tmp_path / "python", OF_PANDAS)
    with spark_cluster(tmp_path / "cluster", python) as cluster:
        said = refused(cluster, tmp_path)
    assert f"cannot run kcoord's functions: in {python}, pyarrow is not installed. Install there: pip install" in said


def refused(cluster: SparkCluster, folder: Path) -> str:
    """The line with which the lab ends."""
    conf = [part for name, value in cluster.settings.items() for part in ("--conf", f"{name}={value}")]
    lab = ["pipeline", "lab", "--seeds", 1, "--out", folder / "lab", "--master", cluster.master, *conf]
    done = kcoord(*lab, deadline_s=DEADLINE_S)
    assert (done.code, done.out) == (1, ""), done
    *_, line = done.err.splitlines()
    return line
