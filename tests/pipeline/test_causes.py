"""Do the tables say whom and what a change, an end, a gap was caused by?"""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.group.connect.reasons import Reason
from kcoord.group.consumer.reasons import Reason as ConsumerReason
from kcoord.group.modern.epochs import tell
from kcoord.group.state.groups import classic_reasons as classic
from kcoord.pipeline.history.causes import cause_of, causes
from kcoord.pipeline.history.entry import Row
from kcoord.protocol.errors import ErrorCode
from tests.group.connect.world import packed
from tests.pipeline.story import ALL, Recorder, Written, entries, fleet_of_two, tables


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, []),
        ("", []),
        (tell(Reason.DELAY_OVER, []), [("rebalance delay over", [])]),
        (tell(Reason.JOINED, ["my worker-1"]), [("worker joined", ["my worker-1"])]),
        (tell(ConsumerReason.JOINED, ["app-1"]), [("consumer joined", ["app-1"])]),
        (tell(ConsumerReason.TOPICS_CHANGED, ["orders", "customers"]), [("topics changed", [])]),
        (tell(Reason.SESSION_EXPIRED, list("abcdefgh")), [("session expired", list("abcdefgh")[:3])]),
        (
            classic.tell_all(
                [
                    classic.tell(classic.Reason.JOINED, ["c-1"], 'no; session expired: "c-2"'),
                    classic.tell(classic.Reason.LEFT, ["c-3", "c-4"]),
                ],
                7,
            ),
            [("member joined", ["c-1"]), ("member left", ["c-3", "c-4"]), ("and 7 more", [])],
        ),
    ],
)
def test_reasons_are_taken_apart(text: str | None, expected: list[tuple[str, list[str]]]) -> None:
    """As coordinators write them; what a client gave as its reason is not believed."""
    assert [(cause, members[:3]) for cause, members in causes(text)] == expected
    assert cause_of(text, "nobody") is None


def at_once(*written: Written) -> Written:
    """All that these steps wrote, in one millisecond."""
    steps = [step for each in written for step in each]
    return [(steps[0][0], [record for _, records in steps for record in records])]


def test_who_expired_while_another_joined_has_expired() -> None:
    """Two epochs of one millisecond: each end, and each gap, has the cause that names its member."""
    world = Recorder()
    for member, connection in (("W1", 1), ("W2", 2)):
        world.join(member, connection, config_offset=1, configured_connectors_and_tasks=packed(ALL))
    world.compute("W1", 0, {"W1": ALL, "W2": ""})
    world.beat("W1", 0)
    world.beat("W2", 0, connection=2)
    before = list(world.written)
    world.written.clear()
    while "W1" in world.group.members:
        world.live(1_000, W2="")
    world.join("W3", 3)
    found = tables(entries([*before, *at_once(world.written)]))
    assert [(row["member_id"], row["ended"]) for row in found["sessions"] if row["ended"]] == [
        ("W1", "session expired")
    ]
    assert {row["reason"] for row in found["gaps"] if row["from_member"] == "W1"} == {"session expired"}


def lost_by_w1(world: Recorder) -> list[Row]:
    rows: list[Row] = tables(entries(world.written))["gaps"]
    return [row for row in rows if row["from_member"] == "W1"]


def test_a_static_worker_that_is_away_is_why_nobody_runs_what_it_had() -> None:
    """CG-28: no epoch begins, neither when it goes nor when another process comes in its place."""
    world = Recorder()
    said: dict[str, Any] = {"instance_id": "one", "config_offset": 1, "configured_connectors_and_tasks": packed(ALL)}
    world.join("W1", **said)
    world.compute("W1", 0, {"W1": ALL})
    assert world.beat("W1", 0).brief == (1, ALL)
    assert world.beat("W1", 1, ALL).error is ErrorCode.NONE
    assert lost_by_w1(world) == []
    world.beat("W1", -2, instance_id="one")
    assert {(row["reason"], row["to_at"]) for row in lost_by_w1(world)} == {("worker away", None)}
    world.now_ms += 2_000
    assert world.join("W2", connection=2, **said).owned == ALL
    assert {(row["reason"], row["to_member"]) for row in lost_by_w1(world)} == {("worker away", "W2")}
    assert all(row["duration_ms"] >= 2_000 for row in lost_by_w1(world))
    assert [row["epoch"] for row in tables(entries(world.written))["epochs"]] == [1]


def test_the_story_names_who_was_lost() -> None:
    rows = tables(entries(fleet_of_two().written))["gaps"]
    assert {row["reason"] for row in rows if row["from_member"] == "W1" and row["epoch"] == 3} == {"session expired"}
