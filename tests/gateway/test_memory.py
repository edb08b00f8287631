"""Does what the gateway remembers stay bounded, whatever clients ask about and whoever never comes back?"""

from pathlib import Path

from kcoord.gateway.gateway import Gateway
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.state.settings import GroupSettings
from kcoord.log.embedded import EmbeddedLog
from kcoord.server.shards.coordinator import Coordinator


async def test_rule_10_members_that_never_come_back_are_forgotten_when_their_sessions_run_again(tmp_path: Path) -> None:
    log = EmbeddedLog(tmp_path, partitions=1)
    await log.open()
    coordinator = Coordinator(log, GroupSettings(), 1, lambda: "id")
    settings = GatewaySettings(
        bootstrap=(("kafka", 9092),), groups=(".*",), listen_port=9092, data_dir=tmp_path, outage_ms=60_000
    )
    sessions = Gateway(settings, coordinator).paused_sessions
    sessions.pause("group", ["here", "gone"], 1_000)
    sessions.pause("group", ["gone", "later"], 2_000)
    sessions.returned("group", "here")
    sessions.forget_over(1_000 + 60_000)
    assert len(sessions) == 2
    sessions.forget_over(2_000 + 60_000)
    assert not sessions
    await coordinator.stop()
    await log.close()
