"""What becomes of a Java fleet whose group somebody names for a worker with connectors of a file? Nothing.

The file's offset is the time of its last change, above all that Connect's configuration topic ever has: taken for the
newest configuration, it stopped the whole fleet. On Kafka's own coordinator nobody can be refused, so the worker itself
leaves when it sees whom it is with.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.connect.fleet import ConnectFleet
from tests.connect.lines import Pipe
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.java import Java
from tests.repository import ROOT

pytestmark = pytest.mark.proof


@pytest.fixture(params=["classic", "connect"])
def fleet(request: pytest.FixtureRequest, kafka: KafkaCluster, java: Java, tmp_path: Path) -> Iterator[ConnectFleet]:
    """Two workers: on Kafka's own coordinator, and on kcoord."""
    group = f"mistaken-{request.param}"
    kcoord = None
    if request.param == "connect":
        kcoord = kcoord_of(kafka, tmp_path / "kcoord", [group], group_connect_rebalance_delay_ms=1_000)
    settings = {"scheduled.rebalance.max.delay.ms": 1_000}
    fleet = ConnectFleet(java, tmp_path, kcoord.bootstrap if kcoord else kafka.bootstrap, group, settings)
    yield fleet
    fleet.remove()
    if kcoord is not None:
        kcoord.remove()


def running(fleet: ConnectFleet) -> list[str]:
    return sorted(each for worker in fleet.workers for each in worker.running())


async def until_all_run(fleet: ConnectFleet, everything: list[str]) -> None:
    async with asyncio.timeout(240):
        while await asyncio.to_thread(running, fleet) != everything:
            await asyncio.sleep(0.3)


async def test_a_worker_with_a_file_ends_and_the_fleet_goes_on(
    fleet: ConnectFleet, kafka: KafkaCluster, tmp_path: Path
) -> None:
    pipe = Pipe(fleet.group, tmp_path)
    kafka.create_topic(pipe.topic)
    await asyncio.to_thread(fleet.start_workers, 2)
    await asyncio.to_thread(pipe.create, fleet, {})
    everything = sorted(
        [f"connector {pipe.source}", f"connector {pipe.sink}", f"task {pipe.source}-0", f"task {pipe.sink}-0"]
    )
    await until_all_run(fleet, everything)
    file = tmp_path / "connectors.toml"
    file.write_text(f'[x]\nclass = "tests.worker.connectors:Noting"\nnotes = "{tmp_path / "notes"}"\n')
    protocol = "classic" if fleet.group.endswith("classic") else "connect"
    command = ["worker", str(file), "--group", fleet.group, "--bootstrap-server", fleet.bootstrap]
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "kcoord", *command, "--protocol", protocol],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    assert "--config-topic TOPIC, or use another group" in ended.stderr
    await until_all_run(fleet, everything)
    stops = sum(len(worker.stops()) for worker in fleet.workers)
    assert stops <= len(everything), "nothing was stopped for good"
