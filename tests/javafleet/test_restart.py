"""A kcoord that runs alone is started again while real Connect workers work, and its listening sockets are kept.

Connect stops all of its tasks when it finds no coordinator for one heartbeat interval, 3 s here as by default. A busy
machine may take longer than that to start kcoord, so this is a proof.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.javafleet.figures import Watch
from tests.javafleet.fleet import JavaFleet
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import QUICK
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.kept_sockets import kept

GROUP = "restarted"
RESTARTS = 3


@pytest.mark.proof
def test_no_task_stops_while_kcoord_is_started_again(
    kafka: KafkaCluster, java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "byte-code"))
    folder = tmp_path / "kcoord"
    folder.mkdir()
    kcoord = Kcoord(folder, kafka.bootstrap, (GROUP,), dict(QUICK))
    brokers = [kcoord.port + 1 + number for number in kafka.ports]
    with kept(kcoord, [kcoord.port, *brokers]) as keeper:
        keeper.start()
        fleet = JavaFleet(java, tmp_path / "fleet", kcoord.bootstrap, GROUP)
        try:
            fleet.start("w1", "w2")
            fleet.create("a", 3)
            fleet.wait_until_quiet()
            for end in (kcoord.stop, kcoord.kill) * RESTARTS:
                watch = Watch(fleet)
                end()
                keeper.start()
                fleet.wait_until_quiet()
                figures = watch.figures()
                assert not figures.stopped, f"tasks stopped: {figures.stopped}"
                assert not any(figures.joins.values()), f"workers joined: {figures.joins}"
        finally:
            fleet.remove()
