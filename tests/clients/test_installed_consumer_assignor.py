"""Does an assignor that somebody has installed beside kcoord serve real consumers? (KG-7; docs/assignors.md)"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from kcoord.server.startup.assignors import CONSUMER_ENTRY_POINTS
from tests.assign.test_documentation import DOCUMENT
from tests.kafka.installed_package import install
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import eventually

TOPIC, PARTITIONS = "orders", {0, 1, 2, 3}
NAME, CLASS = "home-rack", "HomeRackAssignor"


@pytest.fixture
def kcoord(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kcoord]:
    """A lone kcoord with the assignor of the documentation."""
    [program] = [each for each in re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL) if f"class {CLASS}" in each]
    install(tmp_path, monkeypatch, program, CONSUMER_ENTRY_POINTS, NAME, CLASS)
    process = Kcoord(
        tmp_path, settings={"group.consumer.assignors": f"uniform,{NAME}", "topics": f"{TOPIC}:{len(PARTITIONS)}"}
    )
    yield process.start()
    process.remove()


def consumer(kcoord: Kcoord, group: str, rack: str) -> Consumer:
    made = Consumer(
        {
            "bootstrap.servers": kcoord.bootstrap,
            "group.id": group,
            "group.protocol": "consumer",
            "group.remote.assignor": NAME,
            "client.rack": rack,
        }
    )
    made.subscribe([TOPIC])
    return made


def has(consumer: Consumer) -> set[int]:
    consumer.poll(0.1)
    return {each.partition for each in consumer.assignment()}


def test_consumers_at_home_have_all_until_the_last_of_them_has_gone(kcoord: Kcoord, name: str) -> None:
    with closing(consumer(kcoord, name, "elsewhere")) as away:
        eventually(lambda: has(away) == PARTITIONS, "whoever is alone has all")
        with closing(consumer(kcoord, name, "home")) as here:
            eventually(lambda: (has(away), has(here)) == (set(), PARTITIONS), "who is at home has all")
        eventually(lambda: has(away) == PARTITIONS, "it has all again")
