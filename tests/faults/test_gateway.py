"""Do two instances as the gateway before a cluster keep what was acknowledged, when one of them is killed?

All clients come by the instance that stands before the one broker, and half of the groups are the other's: every call
for these is relayed. Either may die.
"""

from __future__ import annotations

from pathlib import Path

from tests.faults.instances import instances
from tests.faults.length import SEED, has_long_form, rounds
from tests.faults.stage import stage
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import QUICK


@has_long_form
async def test_kill_9_of_one_of_two_entries(kafka: KafkaCluster, tmp_path: Path) -> None:
    async with (
        instances(kafka, tmp_path, upstream=True, settings=QUICK) as all_,
        stage(all_.bootstrap, tmp_path, SEED, commits=False) as on,
    ):
        for number in range(rounds(2, 30)):
            await on.go_on()
            killed = all_.kcoords[number % 2]
            on.history.note(f"kill {number}: {killed.folder.name}")
            killed.kill()
            if on.random.random() < 0.5:
                await on.go_on()
            await all_.start(killed)
        await on.go_on()
