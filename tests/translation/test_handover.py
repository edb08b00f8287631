"""Is work stopped for another worker only when that one can be told to start it? With heartbeats that are kept back.

In a rolling restart by drains tasks of real workers ran nowhere for up to four seconds: who was to start them had just
been given something, and Connect's next heartbeat comes three seconds after that (CM-4, CM-26).
"""

from __future__ import annotations

import pytest

from kcoord.group.translation.answers import low_assignment
from kcoord.group.translation.delivery.handover import LIMIT_MS
from tests.translation.test_placement import RUNS, rules
from tests.translation.translated_world import AGAIN, OK, TranslatedWorld


def drained(is_heard: bool) -> TranslatedWorld:
    """W3 is to give all to W2, which has just been given an assignment, or is heard again since."""
    world = TranslatedWorld.fleet(RUNS, wait_ms=10_000)
    world.come("W2", RUNS["W2"])
    assert world.fetch("W2").brief == ("", "")
    if is_heard:
        world.send_heartbeat("W2")
    return world


def drain(world: TranslatedWorld) -> None:
    rules(world, cordon=[{"worker": "http://W1"}, {"worker": "http://W3", "drain": True}])
    assert world.is_to_run("W3") == ""


def test_who_gives_is_called_at_once_when_who_takes_can_be_told() -> None:
    world = drained(is_heard=True)
    token = world.send_heartbeat("W3")
    drain(world)
    assert world.beaten(token) is AGAIN


def test_it_runs_on_until_who_takes_can_be_told() -> None:
    world = drained(is_heard=False)
    token = world.send_heartbeat("W3")
    drain(world)
    world.pass_ms(1_000)
    assert token not in world.answers
    taken = world.send_heartbeat("W2")
    world.pass_ms(1)
    assert world.beaten(token) is AGAIN
    world.come("W3", RUNS["W3"])
    assert world.fetch("W3").revoked == world.holds("W3")
    assert taken not in world.answers
    world.come("W3", "")
    assert world.beaten(taken) is AGAIN


def test_but_not_for_longer_than_a_session() -> None:
    world = TranslatedWorld.fleet(RUNS, wait_ms=10_000)
    world.come("W2", RUNS["W2"])  # and it does not sync: its heartbeats are not kept back
    world.send_heartbeat("W3")
    drain(world)
    for _ in range(LIMIT_MS // 1_000 - 1):
        world.pass_ms(1_000)
        world.send_heartbeat("W1")
        world.beats("W2")
        token = world.send_heartbeat("W3")
    assert token not in world.answers
    world.pass_ms(1_000)
    assert world.beaten(token) is AGAIN
    world.come("W3", RUNS["W3"])
    assert world.fetch("W3").revoked, "though W2 cannot be told yet"


def test_who_comes_for_another_reason_keeps_it_as_well() -> None:
    world = drained(is_heard=False)
    drain(world)
    world.come("W3", RUNS["W3"])
    assert world.fetch("W3").brief == ("", "")
    world.send_heartbeat("W2")
    token = world.send_heartbeat("W3")
    world.pass_ms(1)
    assert world.beaten(token) is AGAIN


def test_who_has_sent_a_heartbeat_is_heard_however_short_that_waits() -> None:
    """Where a user has set a short wait two workers' heartbeats hardly ever wait at the same time."""
    world = TranslatedWorld.fleet(RUNS, wait_ms=100)
    taken, token = world.send_heartbeat("W2"), world.send_heartbeat("W3")
    world.pass_ms(100)
    assert (world.beaten(taken), world.beaten(token)) == (OK, OK)
    drain(world)
    assert world.beats("W3") is AGAIN


def test_without_held_heartbeats_nothing_waits() -> None:
    world = TranslatedWorld.fleet(RUNS)
    world.come("W2", RUNS["W2"])
    assert world.fetch("W2").brief == ("", "")
    drain(world)
    assert world.beats("W3") is AGAIN


@pytest.mark.parametrize(("says", "is_told"), [(-1, 0), (0, -1), (1, 0), (44, 0)])
def test_between_two_looks_a_leader_joins_again_at_once(says: int, is_told: int) -> None:
    """CM-38, CM-53. A process that has just started is at -1 in its herder whatever its JoinGroup says: told -1
    as well, it came again only with its next heartbeat, and its work ran nowhere for three seconds more.
    """
    world = TranslatedWorld.fleet(RUNS)
    world.come("W1", RUNS["W1"], offset=says)
    told = low_assignment(world.member(world.known["W1"]))
    assert (told.config_offset, told.assigned, told.revoked) == (is_told, frozenset(), frozenset())
