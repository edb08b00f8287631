"""When are groups adopted without a word? In a new installation, not where kcoord ran before it could."""

from __future__ import annotations

import logging
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kcoord.group.state.settings import GroupSettings
from kcoord.instances.instance_map import Instance, InstanceMap
from kcoord.instances.instances_by_broker import MapPlaces
from kcoord.instances.instances_group_member import GroupMemberSettings
from kcoord.instances.membership import Membership
from kcoord.log.embedded import EmbeddedLog
from kcoord.protocol.generated.instance_address import InstanceAddress
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.shared_log_start import spread_beginning
from kcoord.server.startup.adopt_default import adopts_by_itself, began_new, tell_default
from kcoord.server.startup.components import make_gateway
from kcoord.settings_sources import Settings, load_settings

BROKERS = '{"format": 1, "brokers": {}}'
WHERE = GroupMemberSettings(
    group="instances",
    topic="offsets",
    kafka={},
    client_id="kcoord",
    session_timeout_ms=6_000,
    heartbeat_interval_ms=300,
)


def settings_of(data: Path, **values: str) -> Settings:
    named = {"data.dir": str(data), "upstream": "127.0.0.1:9092", "groups": ".*"}
    named |= {name.replace("_", "."): value for name, value in values.items()}
    return load_settings(options=[f"{name}={value}" for name, value in named.items()], environment={})


@pytest.fixture
async def coordinator(tmp_path: Path) -> AsyncIterator[Coordinator]:
    log = EmbeddedLog(tmp_path / "log", partitions=1)
    await log.open()
    made = Coordinator(log, GroupSettings(), 1, lambda: "id")
    yield made
    await made.stop()
    await log.close()


class Several:
    """An instance with a data directory, and the others by the maps that it gets."""

    def __init__(self, data: Path, coordinator: Coordinator, **values: str) -> None:
        self.settings = settings_of(data, **values)
        mine = self.of(1, is_new=began_new(self.settings, log_is_new=False))
        self.membership = Membership(mine, 1, WHERE, coordinator)
        spread_beginning(self.settings, self.membership)
        self.gateway = make_gateway(self.settings, coordinator, MapPlaces(self.membership), is_new=None)

    def adopts(self) -> bool:
        return self.gateway.adopts

    @staticmethod
    def of(number: int, *, is_new: bool) -> Instance:
        return Instance(instance_id=number, started_ms=1, host="h", port=9092, began_new=is_new)

    def gets_map(self, *, other_is_new: bool) -> None:
        """A map with this instance and another one is in force."""
        instances = {1: self.membership.instance, 2: self.of(2, is_new=other_is_new)}
        given = InstanceMap(epoch=self.membership.map.epoch + 1, instances=instances)
        self.membership.map = InstanceMap.decode(given.encode())
        for each in self.membership.on_change:
            each()


@pytest.mark.parametrize(
    ("given", "log_is_new", "has_broker_map", "holds"),
    [
        (None, True, False, "auto"),
        (None, False, True, "manual"),
        (None, False, False, "manual"),
        (None, True, True, "manual"),
        ("auto", False, True, "auto"),
        ("manual", True, False, "manual"),
    ],
    ids=[
        "all is new",
        "0.1.0 was here, with an embedded log",
        "0.1.0 was here, with a topic, and this data directory is new",
        "0.1.0 was here, and the log is another",
        "it is set, and 0.1.0 was here",
        "it is set, and all is new",
    ],
)
async def test_what_holds(
    coordinator: Coordinator,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    given: str | None,
    log_is_new: bool,
    has_broker_map: bool,
    holds: str,
) -> None:
    caplog.set_level(logging.INFO)
    data = tmp_path / "data"
    if has_broker_map:
        data.mkdir()
        (data / "brokers.json").write_text(BROKERS)
    settings = settings_of(data, **({} if given is None else {"gateway_adopt": given}))
    if given is not None or has_broker_map or log_is_new:
        assert adopts_by_itself(settings) == (holds == "auto"), "as `kcoord check` says before"
    is_new = began_new(settings, log_is_new)
    tell_default(settings, is_new)
    assert make_gateway(settings, coordinator, is_new=is_new).adopts == (holds == "auto")
    assert ("kcoord groups adopt" in caplog.text) == (given is None and holds == "manual")


def test_a_new_installation_stays_one(tmp_path: Path) -> None:
    """At its second start it has a log and a broker map, too."""
    settings = settings_of(tmp_path / "data")
    assert began_new(settings, log_is_new=True)
    (tmp_path / "data" / "brokers.json").write_text(BROKERS)
    assert began_new(settings, log_is_new=False)


async def test_the_others_learn_it_from_the_instance_that_made_the_topic(
    coordinator: Coordinator, tmp_path: Path
) -> None:
    """One that comes later passes it on itself, also when the first has gone and its data directory with it."""
    data = tmp_path / "data"
    second = Several(data, coordinator)
    assert not second.adopts()
    second.gets_map(other_is_new=True)
    assert second.adopts()
    second.gets_map(other_is_new=False)
    assert (second.adopts(), second.membership.map.began_new) == (True, True)
    assert Several(data, coordinator).adopts(), "after a restart too"
    shutil.rmtree(data)
    again = Several(data, coordinator)
    again.gets_map(other_is_new=False)
    assert not again.adopts(), "where nobody knows it, kcoord takes nothing"


async def test_one_that_is_told_what_to_do_passes_it_on_all_the_same(coordinator: Coordinator, tmp_path: Path) -> None:
    second = Several(tmp_path / "data", coordinator, gateway_adopt="manual")
    second.gets_map(other_is_new=True)
    assert (second.adopts(), second.membership.instance.began_new) == (False, True)


def test_release_0_1_0_does_not_say_it() -> None:
    silent = InstanceAddress(instance_id=1, host="h", port=1).encode(0)
    assert not Instance.decode(b"\0\0" + silent).began_new
