"""Does a fleet of real Connect workers live behind kcoord as it does on Kafka?"""

from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.cells import cells
from tests.connect.fleet import ConnectFleet
from tests.connect.lines import Pipe
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import ALL_GROUPS, Front, front_of
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.java import Java

EXACTLY_ONCE: dict[str, object] = {"exactly.once.support": "required", "transaction.boundary": "poll"}


@attrs.frozen
class Variant:
    """One way to run a fleet: worker settings, what the source connectors ask for, and settings of kcoord."""

    name: str
    worker: dict[str, object]
    source: dict[str, object] = attrs.Factory(dict)
    kcoord: dict[str, object] = attrs.Factory(dict)


VARIANTS = [
    Variant("eager", {"connect.protocol": "eager"}),
    Variant("compatible", {"connect.protocol": "compatible"}),
    Variant("sessioned", {"connect.protocol": "sessioned"}),
    Variant("exactly-once", {"connect.protocol": "sessioned", "exactly.once.source.support": "enabled"}, EXACTLY_ONCE),
    Variant("individual", {"connect.protocol": "sessioned"}, kcoord={"group_connect_classic_mode": "individual"}),
]
PROVED = ("eager", "compatible", "sessioned", "individual")
"""Not run at each commit: `exactly-once` speaks sessioned too, `tests/javafleet/test_protocols.py` eager and
compatible, and `tests/javafleet/test_individual.py` is about that mode.
"""


@attrs.frozen
class Stage:
    """A fleet of three workers before a Kafka, with kcoord, which owns all groups, between them."""

    kafka: KafkaCluster
    front: Front
    fleet: ConnectFleet
    pipes: list[Pipe]
    variant: Variant

    def write_and_settle(self) -> dict[str, str]:
        """New lines arrive, and every connector and task runs on exactly one worker; which, is returned.

        No worker of the fleet is left out.
        """
        self.write()
        settled = self.settle()
        self.wait_for_lines()
        return settled

    def write(self) -> None:
        for pipe in self.pipes:
            pipe.write(50)

    def settle(self) -> dict[str, str]:
        return self.fleet.wait_until_settled(set().union(*(pipe.resources for pipe in self.pipes)))

    def wait_for_lines(self) -> None:
        for pipe in self.pipes:
            pipe.wait_until_all_arrived()


@pytest.fixture(params=cells(VARIANTS, lambda variant: variant.name in PROVED), ids=lambda variant: variant.name)
def stage(request: pytest.FixtureRequest, kafka: KafkaCluster, java: Java, tmp_path: Path) -> Iterator[Stage]:
    variant: Variant = request.param
    front = front_of(kafka, tmp_path / "kcoord", ALL_GROUPS, **variant.kcoord)
    fleet = ConnectFleet(java, tmp_path, front.bootstrap, f"fleet-{variant.name}", variant.worker)
    pipes = [Pipe(f"{variant.name}-{number}", tmp_path) for number in range(3)]
    for pipe in pipes:
        kafka.create_topic(pipe.topic)
    yield Stage(kafka, front, fleet, pipes, variant)
    fleet.remove()
    front.remove()


def test_lines_arrive_while_workers_and_kcoord_come_and_go(stage: Stage) -> None:
    fleet = stage.fleet
    first, _, third = fleet.start_workers(3)
    for pipe in stage.pipes:
        pipe.create(fleet, stage.variant.source)
    owners = stage.write_and_settle()
    check_kcoord_owns(stage.kafka, fleet.group, *(f"connect-{pipe.sink}" for pipe in stage.pipes))

    stage.write()
    stage.front.kill_and_restart()
    assert stage.write_and_settle().keys() == owners.keys()

    fleet.kill(third)
    stage.write_and_settle()

    fleet.start_workers(1)
    stage.write()
    stage.front.kill_and_restart()
    stage.write_and_settle()

    fleet.stop(first)
    stage.write_and_settle()

    if stage.variant.source == EXACTLY_ONCE:
        for pipe in stage.pipes:
            pipe.check_exactly_once(stage.kafka)

    check_sink_offsets_by_rest(stage)


def check_sink_offsets_by_rest(stage: Stage) -> None:
    """GW-25: Connect's REST for a sink's offsets, which are those of its consumer group: read, set back, forgotten."""
    fleet, pipe = stage.fleet, stage.pipes[0]
    path = f"/connectors/{pipe.sink}/offsets"
    partition = {"kafka_topic": pipe.topic, "kafka_partition": 0}

    fleet.stop_connector(pipe.sink)
    [shown] = fleet.rest("GET", path)["offsets"]
    committed = stage.kafka.committed(f"connect-{pipe.sink}")
    assert shown == {"partition": partition, "offset": {"kafka_offset": committed[pipe.topic, 0]}}
    assert committed[pipe.topic, 0] >= len(pipe.written)

    fleet.rest("PATCH", path, {"offsets": [{"partition": partition, "offset": {"kafka_offset": 1}}]})
    assert stage.kafka.committed(f"connect-{pipe.sink}") == {(pipe.topic, 0): 1}
    before = pipe.arrived()
    fleet.rest("PUT", f"/connectors/{pipe.sink}/resume")
    stage.settle()
    pipe.wait_until_all_arrived(again=before, but=pipe.written[:1])

    fleet.stop_connector(pipe.sink)
    fleet.rest("DELETE", path)
    assert stage.kafka.committed(f"connect-{pipe.sink}") == {}
    before = pipe.arrived()
    fleet.rest("PUT", f"/connectors/{pipe.sink}/resume")
    stage.settle()
    pipe.wait_until_all_arrived(again=before)
