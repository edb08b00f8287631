"""Does what the gateway remembers stay bounded, whatever clients ask about and whoever never comes back?"""

from pathlib import Path

from kcoord.gateway.coordinators import keep_newest
from kcoord.gateway.gateway import Gateway
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.settings import GroupSettings
from kcoord.log.embedded import EmbeddedLog
from kcoord.server.coordinator import Coordinator


def test_what_is_known_longest_is_forgotten_first() -> None:
    known = {str(number): number for number in range(5)}
    keep_newest(known, 3)
    assert known == {"2": 2, "3": 3, "4": 4}


async def test_rule_10_members_that_never_come_back_are_forgotten_when_their_sessions_run_again(tmp_path: Path) -> None:
    log = EmbeddedLog(tmp_path, partitions=1)
    await log.open()
    coordinator = Coordinator(log, GroupSettings(), 1, lambda: "id")
    settings = GatewaySettings(
        bootstrap=(("kafka", 9092),), groups=(".*",), listen_port=9092, data_dir=tmp_path, outage_ms=60_000
    )
    gateway = Gateway(settings, coordinator)
    gateway.pause("group", ["here", "gone"])
    now_ms = gateway.now_ms()
    gateway.pause("group", ["gone", "later"])
    gateway.returned("group", "here")
    gateway._forget_paused(now_ms)
    assert set(gateway._paused) == {("group", "gone"), ("group", "later")}
    gateway._forget_paused(max(gateway._paused.values()))
    assert not gateway._paused
    await coordinator.stop()
    await log.close()
