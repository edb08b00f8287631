"""What does a connect group do when the time of day jumps, here or over a load? Only the steps' clock counts (CG-22).

Each story has W2's resources waiting for it, for a minute.
"""

from __future__ import annotations

import attrs
import pytest

from kcoord.group.state.groups.connect_group import UNKNOWN_DELAY
from kcoord.protocol.generated.connect_worker_group_target_assignment_value import (
    ConnectWorkerGroupTargetAssignmentValue,
)
from kcoord.protocol.records import Record, decode_record, encode_record
from tests.group.connect.test_configured_and_delay import remaining, waiting
from tests.group.connect.world import DELAY_MS, INTERVAL_MS, SESSION_MS, SETTINGS, assignor

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
STEPS = [-2 * HOUR_MS, -DAY_MS, 2 * HOUR_MS, DAY_MS, 365 * DAY_MS]


@pytest.mark.parametrize("step_ms", STEPS)
def test_a_wall_clock_that_is_set_changes_no_delay(step_ms: int) -> None:
    """The chosen worker is told what is really left, and what it schedules by that is over when the first was."""
    world = waiting()
    world.live(5 * INTERVAL_MS, "W1", "W3")
    world.wall_step_ms = step_ms
    left_ms = DELAY_MS - 5 * INTERVAL_MS
    assert remaining(world) == left_ms
    world.beat("W1", 4, client_assignors=[assignor(reason=1)])
    prepared = world.prepare("W1", 4)
    assert prepared.remaining_delay_ms == left_ms
    world.install("W1", 4, prepared.group_epoch, {"W1": "AC0", "W3": "CC0"}, prepared.remaining_delay_ms)
    assert remaining(world) == left_ms
    world.live(left_ms - INTERVAL_MS, "W1", "W3")
    assert world.group.reason != "rebalance delay over"
    world.pass_ms(INTERVAL_MS)
    assert world.group.reason == "rebalance delay over"


@pytest.mark.parametrize("step_ms", STEPS)
def test_a_load_under_another_clock_keeps_a_delay_in_its_bounds(step_ms: int) -> None:
    """The next owner's host is ahead or behind: not longer than the delay was, not at once."""
    world = waiting()
    world.live(5 * INTERVAL_MS, "W1", "W3")
    world.wall_step_ms = step_ms
    world.restart()
    assert remaining(world) == (DELAY_MS if step_ms < 0 else SESSION_MS)
    world.restart()
    assert remaining(world) <= DELAY_MS


def test_a_delay_below_a_session_is_not_made_longer_by_a_load() -> None:
    world = waiting(delay_ms=2_000)
    world.wall_step_ms = DAY_MS
    world.restart()
    assert remaining(world) == 2_000


@pytest.mark.parametrize(("step_ms", "left_ms"), [(-DAY_MS, SETTINGS.max_rebalance_delay_ms), (DAY_MS, 0)])
def test_a_delay_that_the_last_release_wrote_has_the_bound_of_the_setting(step_ms: int, left_ms: int) -> None:
    """kcoord 0.1.0 did not write how long it was."""
    world = waiting()
    world.log = [as_of_0_1_0(decode_record(key, value)) for key, value in world.log]
    world._shadow.connect[world.group_id].delay_ms = UNKNOWN_DELAY
    world.wall_step_ms = step_ms
    world.restart()
    assert world.group.delay_due_ms - world.now_ms == left_ms


def as_of_0_1_0(record: Record) -> tuple[bytes, bytes | None]:
    value = record.value
    if isinstance(value, ConnectWorkerGroupTargetAssignmentValue):
        value = attrs.evolve(value, delay_ms=UNKNOWN_DELAY)
    return encode_record(Record(record.key, value))
