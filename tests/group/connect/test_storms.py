"""Does a group of the new protocol come to rest where its assignors ask for the same again and again?
(`kcoord/group/state/repeated_rebalances.py`)
"""

from __future__ import annotations

import attrs
import pytest

from kcoord.group.state.metrics import CONNECT
from kcoord.group.state.repeated_rebalances import FREE
from kcoord.protocol.errors import ErrorCode
from tests.group.connect.world import SETTINGS, World, assignor, packed

HOUR_MS = 3_600_000
RARELY = 1 + FREE + 6 + 60
"""So many computations come in an hour in which the same is asked for all the time."""


@attrs.define
class Storm:
    """Two workers; W1 computes, and answers the same again and again."""

    world: World
    delay_ms: int = 0
    asks: bool = False
    """Whether its assignor asks for a new assignment at each heartbeat."""
    epoch: int = 2
    computed: int = 0
    beats: int = 0

    def beat(self) -> None:
        """One heartbeat of each, and a computation if W1 is told to."""
        self.world.pass_ms(1_000)
        self.beats += 1
        if self.asks:
            asks = [assignor(reason=1 + self.beats % 2)]
            told = self.world.beat("W1", self.epoch, "AC0 AT0", client_assignors=asks)
        else:
            told = self.world.beat("W1", self.epoch, "AC0 AT0")
        self.epoch = max(self.epoch, told.epoch)
        if told.error is ErrorCode.COMPUTE_ASSIGNMENT:
            self.computed += 1
            self.world.compute("W1", self.epoch, {"W1": "AC0 AT0", "W2": "BC0"}, self.delay_ms)
        self.world.beat("W2", self.world.member("W2").epoch, "BC0", connection=2)


def storm(**how: object) -> Storm:
    world = World.settled({"W1": "AC0 AT0", "W2": "BC0"}, attrs.evolve(SETTINGS, session_timeout_ms=30_000))
    world.checked = False
    return Storm(world, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("how", [{"asks": True}, {"delay_ms": 1}], ids=["its assignor asks", "it lets nothing wait"])
def test_who_asks_for_the_same_all_the_time_computes_once_a_minute(how: dict[str, object]) -> None:
    found = storm(**how)
    if "delay_ms" in how:
        found.world.beat("W1", 2, "AC0 AT0", client_assignors=[assignor(reason=1)])
    while found.beats * 1_000 < HOUR_MS:
        found.beat()
    assert FREE < found.computed <= RARELY
    counters = found.world.shard.metrics().connect
    assert counters.repeated[CONNECT] > FREE
    assert counters.slowed[CONNECT] > 0
    assert found.world.describe().repeated_rebalances > FREE


def test_a_worker_that_comes_is_given_its_part_at_once() -> None:
    found = storm(asks=True)
    while found.beats < 600:
        found.beat()
    assert found.world.describe().computes_in_ms > 0
    assert found.world.join("W3", connection=3).error is ErrorCode.NONE
    assert found.world.describe().computes_in_ms == -1
    assert found.world.beat("W1", found.epoch, "AC0 AT0").error is ErrorCode.COMPUTE_ASSIGNMENT


def test_a_change_of_configuration_is_not_slowed_down() -> None:
    found = storm(delay_ms=1)
    found.world.beat("W1", 2, "AC0 AT0", client_assignors=[assignor(reason=1)])
    for _ in range(600):
        found.beat()
    epoch = found.world.member("W2").epoch
    listed = packed("AC0 AT0 BC0 BT0")
    found.world.beat("W2", epoch, connection=2, config_offset=7, configured_connectors_and_tasks=listed)
    assert found.world.describe().computes_in_ms == -1
