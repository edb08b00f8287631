"""Does a fleet of real Connect workers survive the death of the instance that coordinates it, in the worst moment?

Two instances stand as the gateway before two brokers; three Java workers come by both. While connectors are being
created the owner of the fleet's group is killed, and comes back. In the end every connector and task runs once, and all
lines arrive.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from tests.connect.fleet import ConnectFleet
from tests.connect.lines import Pipe
from tests.faults.instances import make_instance
from tests.faults.length import SEED, rounds
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import QUICK
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually, let_pass

GROUP = "fleet"
KAFKAS_PARTITIONS = 5
"""As the brokers of the tests have it: with as many here, ownership follows the brokers."""


@pytest.mark.proof
def test_the_owner_is_killed_while_connectors_are_created(
    start_kafka: Callable[..., KafkaCluster], java: Java, tmp_path: Path
) -> None:
    random = Random(SEED)
    kafka = start_kafka(brokers=2)
    settings = {**QUICK, "offsets.topic.num.partitions": KAFKAS_PARTITIONS}
    kcoords = [make_instance(kafka, tmp_path, number, "fleet", settings=settings, upstream=True) for number in range(2)]
    with ExitStack() as stack:
        for kcoord in kcoords:
            stack.callback(kcoord.remove)
            kcoord.start(wait=False)
        for kcoord in kcoords:
            kcoord.wait_until_it_answers()
        bootstrap = ",".join(kcoord.bootstrap for kcoord in kcoords)
        fleet = ConnectFleet(java, tmp_path, bootstrap, GROUP, {})
        stack.callback(fleet.remove)
        fleet.start_workers(3)
        pipes: list[Pipe] = []
        for number in range(rounds(1, 20)):
            new = [Pipe(f"{number}-{letter}", tmp_path) for letter in "ab"]
            for pipe in new:
                kafka.create_topic(pipe.topic)
            pipes += new
            owner = the_owner(kcoords)
            with ThreadPoolExecutor() as pool:
                creating = [pool.submit(pipe.create, fleet, {}) for pipe in new]
                let_pass(2 * random.random())
                owner.kill()
                let_pass(3 * random.random())
                owner.start()
                for each in creating:
                    each.result()
            for pipe in pipes:
                pipe.write(20)
            fleet.wait_until_settled(set().union(*(pipe.resources for pipe in pipes)))
            for pipe in pipes:
                pipe.wait_until_all_arrived()
            check_kcoord_owns(kafka, GROUP, *(f"connect-{pipe.sink}" for pipe in pipes))


def the_owner(kcoords: list[Kcoord]) -> Kcoord:
    """Who coordinates the fleet's group: who told of its newest generation."""

    def found() -> Kcoord:
        told = [
            (max(map(int, generations)), kcoord)
            for kcoord in kcoords
            if (generations := re.findall(rf"group {GROUP}: generation (\d+)", kcoord.log.read_text()))
        ]
        if not told:
            raise NotYet("no generation was told of")
        return max(told, key=lambda each: each[0])[1]

    return eventually(found, f"somebody coordinates {GROUP}")
