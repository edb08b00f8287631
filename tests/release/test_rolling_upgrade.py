"""A rolling upgrade from 0.1.0, and back, under load: instances of both releases share the groups.

The members of classic and connect groups live through it. In the end the checker judges what they wrote down, and both
releases find the log sound.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.cli.run_cli import kcoord as run
from tests.faults.history import Expired
from tests.faults.instances import Instances, instances, loaded
from tests.faults.length import SEED
from tests.faults.stage import Stage, stage
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import QUICK
from tests.kafka.kcoord_process import Kcoord
from tests.repository import ROOT

COMPATIBLE = "compatible.with"


def set_site(kcoord: Kcoord, site: Path) -> None:
    """What the instance runs from its next start on; 0.1.0 does not know that it is to be compatible with itself."""
    settings = {name: value for name, value in kcoord.settings.items() if name != COMPATIBLE}
    kcoord.site, kcoord.settings = site, settings | ({COMPATIBLE: "0.1.0"} if site == ROOT else {})


async def replace_each(all_: Instances, on: Stage, site: Path, *, kill: bool = False) -> None:
    """Every instance is ended and comes back as the release of `site`, one after the other. The way back stays open."""
    for kcoord in all_.kcoords:
        on.history.note(f"{kcoord.folder.name} becomes {site.name}")
        if kill:
            kcoord.kill()
        else:
            assert await asyncio.to_thread(kcoord.stop) == 0
        await on.go_on(5)
        set_site(kcoord, site)
        await all_.start(kcoord)
        await on.go_on(5)


async def verify(all_: Instances, kafka: KafkaCluster, site: Path) -> None:
    """The log is sound, says the release of `site`."""
    arguments = ["--log-bootstrap", kafka.bootstrap, "--topic", all_.topic]
    verified = await asyncio.to_thread(run, "log", "verify", *arguments, site=site)
    assert verified.code == 0, verified


async def test_up_and_down_costs_nobody_its_membership(kafka: KafkaCluster, tmp_path: Path, release: Path) -> None:
    async with loaded(kafka, tmp_path, site=release) as (all_, on):
        await replace_each(all_, on, ROOT)
        await replace_each(all_, on, release)
        assert not [event for event in on.history.events if isinstance(event, Expired)]
        await verify(all_, kafka, release)


@pytest.mark.proof
@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_up_and_down_again_and_again(
    kafka: KafkaCluster, tmp_path: Path, release: Path, number: int, kill: bool
) -> None:
    async with loaded(kafka, tmp_path, number, site=release, reload=True) as (all_, on):
        await on.go_on()
        for _ in range(3):
            await replace_each(all_, on, ROOT, kill=kill)
            await verify(all_, kafka, release)
            await replace_each(all_, on, release, kill=kill)
        await verify(all_, kafka, ROOT)


@pytest.mark.proof
async def test_one_instance_of_each_release_goes_on(kafka: KafkaCluster, tmp_path: Path, release: Path) -> None:
    """A mixed pair is killed by turns: each release takes over from the other."""
    async with loaded(kafka, tmp_path, site=release, reload=True) as (all_, on):
        all_.kcoords[1].kill()
        all_.kcoords[1].site = ROOT
        await all_.start(all_.kcoords[1])
        for number in range(10):
            await on.go_on()
            kcoord = all_.kcoords[number % 2]
            on.history.note(f"kill {number}: {kcoord.folder.name} of {kcoord.site.name}")
            kcoord.kill()
            await on.go_on(5)
            await all_.start(kcoord)
        await on.go_on()


@pytest.mark.proof
async def test_up_and_down_in_front_of_a_cluster(kafka: KafkaCluster, tmp_path: Path, release: Path) -> None:
    """Half of the groups' calls are relayed from one release to the other."""
    async with (
        instances(kafka, tmp_path, upstream=True, settings=QUICK, site=release) as all_,
        stage(all_.bootstrap, tmp_path, SEED, commits=False) as on,
    ):
        for _ in range(3):
            await replace_each(all_, on, ROOT)
            await replace_each(all_, on, release)
        await on.go_on()
