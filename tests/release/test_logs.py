"""A log of one release is taken up by the other, in a file and in a topic, up and down.

Groups of every kind are told as before, and every member goes on.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.gateway.scripted import close_all
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.release.cast import SETTINGS, ask_all, bring_to_rest, go_on, play
from tests.release.comparison import differences, restricted
from tests.release.stored import read
from tests.repository import ROOT


async def take_over(folder: Path, sites: list[Path], settings: Mapping[str, object] | None = None) -> None:
    """The first release writes the log, and each one after it takes it up from the one before."""
    kcoord = Kcoord(folder, settings={**SETTINGS, **(settings or {})}, site=sites[0]).start()
    known = read("answers.json")
    try:
        cast = await play(kcoord.port)
        for site in sites[1:]:
            before = restricted(await ask_all(kcoord.port), known)
            await close_all()
            assert kcoord.stop() == 0
            kcoord.site = site
            kcoord.start()
            assert differences(restricted(await ask_all(kcoord.port), known), before) == []
            await go_on(kcoord.port, cast)
        await bring_to_rest(kcoord.port, cast)
    finally:
        await close_all()
        kcoord.remove()


async def test_what_is_written_now_is_loaded_by_0_1_0(tmp_path: Path, release: Path) -> None:
    await take_over(tmp_path, [ROOT, release])


@pytest.mark.proof
@pytest.mark.parametrize("log", ["embedded", "kafka"])
@pytest.mark.parametrize("way", ["up", "up and down", "down and up"])
async def test_logs_are_taken_over(
    tmp_path: Path, release: Path, log: str, way: str, request: pytest.FixtureRequest
) -> None:
    sites = {"up": [release, ROOT], "up and down": [release, ROOT, release], "down and up": [ROOT, release, ROOT]}[way]
    settings: dict[str, object] = {}
    if log == "kafka":
        kafka: KafkaCluster = request.getfixturevalue("kafka")
        name = uuid.uuid4().hex[:8]
        settings = {
            "log": "kafka",
            "log.bootstrap": kafka.bootstrap,
            "log.topic": f"offsets-{name}",
            "instances.group": f"instances-{name}",
        }
    await take_over(tmp_path, sites, settings)
