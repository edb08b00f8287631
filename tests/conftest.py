"""Which fixtures do all tests share? The real Kafka, and what runs on its jars."""

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from tests.containers.place import place
from tests.kafka.choice import choice
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.kafka.libs import MissingTool
from tests.light import LIGHT
from tests.parts import Parts, processes, put_in_order

SAME_EXAMPLES = "TESTS_SAME_EXAMPLES" in os.environ
settings.register_profile(
    "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=SAME_EXAMPLES
)
settings.load_profile("tests")
"""No example fails for the time that it takes; the same sources give the same result in continuous integration."""


def pytest_configure(config: pytest.Config) -> None:
    """Ending the tests ends the servers that they started."""
    if config.getoption("--light"):
        os.environ[LIGHT] = "1"
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # pytest takes SystemExit for one failed test


HEAVY = frozenset({"image", "java", "kafka", "spark", "start_kafka"})
"""Fixtures that start a JVM or a container. A test that needs one of them by way of another fixture counts too; one
that asks for it only while it runs is skipped.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--light", action="store_true", help="only tests that need no Kafka, JVM or Spark, nor long")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests live until the end, so the garbage collector leaves them alone: to go through all of them takes
    a quarter of a second each time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long comes first. With `--light`, tests that need a JVM, and long ones, are left out."""
    if config.getoption("--light"):
        heavy = {each for each in items if is_heavy(each)}
        config.hook.pytest_deselected(items=[each for each in items if each in heavy])
        items[:] = [each for each in items if each not in heavy]
    put_in_order(items)


def is_heavy(item: pytest.Item) -> bool:
    """Whether `make check` leaves the test out."""
    return not HEAVY.isdisjoint(getattr(item, "fixturenames", ())) or item.get_closest_marker("long") is not None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many processes `-n auto` means."""
    return processes()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Who gets which tests."""
    return Parts(config, log)


def pytest_report_header() -> list[str]:
    """Which Kafka these tests run on, and why that one; whether kcoord's own image is tested."""
    return [f"kafka: {choice()}", f"containers: {place()}"]


def _started(*arguments: Any, **options: Any) -> KafkaCluster:
    """A new cluster; that there can be none here is a failure of one line."""
    if LIGHT in os.environ:
        pytest.skip("with --light, no Kafka is started")
    try:
        return KafkaCluster.start(*arguments, **options)
    except MissingTool as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest.fixture(scope="session")
def java() -> Java:
    """A JDK with Kafka's jars: runs Kafka's tools and Connect's workers."""
    try:
        return Java.find()
    except MissingTool as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest.fixture(scope="session")
def kafka_libs(java: Java) -> Path:
    """The directory of Kafka's jars."""
    return java.libs


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """The Kafka that most tests share: one broker, plain text. Tests use topics and groups of their own names."""
    cluster = _started(tmp_path_factory.mktemp("kafka"))
    yield cluster
    cluster.remove()


@pytest.fixture(scope="module")
def start_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., KafkaCluster]]:
    """Starts special clusters, as `KafkaCluster.start` without the folder; removed with the module's last test."""
    started: list[KafkaCluster] = []

    def start(*arguments: Any, **options: Any) -> KafkaCluster:
        started.append(_started(tmp_path_factory.mktemp("kafka"), *arguments, **options))
        return started[-1]

    yield start
    for cluster in started:
        cluster.remove()
