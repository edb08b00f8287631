"""What did simulated mixed fleets find that nobody had thought of? Each story is one cause, and names the plan files of
tests/sim/plans that led to it.
"""

from __future__ import annotations

from tests.group.connect.world import assignor, packed
from tests.translation.legacy_world import AGAIN, OFFSET, OK, LegacyWorld

READS_NEW = assignor("connect", 0, 0)


def joins(world: LegacyWorld, name: str, connection: int, url: str, configured: str) -> None:
    """A worker of the new protocol, which cannot compute for legacy ones, joins at `url`."""
    told = world.join(
        name,
        connection,
        client_assignors=[READS_NEW],
        url=url,
        config_offset=OFFSET,
        configured_connectors_and_tasks=packed(configured),
    )
    assert told.error is OK


def is_back_before_its_session_has_ended() -> LegacyWorld:
    """A legacy worker leads; N1 has died with the rest of the work, and N2 is there in its place."""
    everything = "AC0 AT0 AT1 AT2"
    world = LegacyWorld.fleet({"W1": everything})
    joins(world, "N1", 50, "http://N", everything)
    world.lead("W1", {"W1": "-AT1 -AT2", "N1": "+AT1 +AT2"}, everything)
    world.lead("W1", {"W1": "", "N1": ""}, "AC0 AT0")
    assert world.beat("N1", 0, "", connection=50).owned == "AT1 AT2"
    joins(world, "N2", 51, "http://N", everything)
    for _ in range(46):  # the session of N1 ends
        world.pass_ms(1_000)
        world.beats("W1")
        world.beat("N2", 0, "", connection=51)
    assert set(world.group.members) == {world.known["W1"], "N2"}
    return world


def test_what_the_leader_takes_from_a_worker_that_is_back_is_not_shown_as_its_own_again() -> None:
    """Plan 5347151 and 13 more: the target that had waited for the worker outlived the round in which it was shown as
    the worker's own. What the leader took away stood in it, was the worker's again in the next round, and was taken
    away again, each heartbeat, for ever.
    """
    world = is_back_before_its_session_has_ended()
    joined = world.come("W1", "AC0 AT0")
    assert joined.shown["N2"] == (OFFSET, "AT1 AT2")
    world.fetch("W1", {"W1": "", "N2": "-AT2"})
    assert world.targets()["N2"] == "AT1"
    assert world.beats("W1") is AGAIN, "what nobody has is handed out (legacy rule 10)"
    joined = world.come("W1", "AC0 AT0")
    assert joined.shown == {"W1": (OFFSET, "AC0 AT0"), "N2": (OFFSET, "AT1")}
    world.fetch("W1", {"W1": "+AT2", "N2": ""})
    assert world.beats("W1") is OK
    assert set(world.targets()) == {world.known["W1"], "N2"}
    assert world.group.epoch == world.group.assignment_epoch


def test_it_is_not_while_a_delay_runs_either() -> None:
    """The same where the leader lets other work wait."""
    world = is_back_before_its_session_has_ended()
    world.come("W1", "AC0 AT0")
    world.fetch("W1", {"W1": "", "N2": "-AT2"}, delay_ms=5_000)
    assert world.targets()["N2"] == "AT1"
    assert world.beats("W1") is AGAIN
    assert world.come("W1", "AC0 AT0").shown["N2"] == (OFFSET, "AT1")


def test_a_leader_is_asked_twice_of_what_came_while_it_computed() -> None:
    """Plan 5404663: W2 came with what had been deleted while the leader computed, and was not shown. The next leader,
    which had read no more, took it for good: it notices what was deleted only in the round after (legacy rule 11).
    """
    world = LegacyWorld()
    assert world.come("W1").shown == {"W1": (OFFSET, "")}
    joins = world.send_join("W2", "AC0 AT0")
    syncs = world.send_sync("W1", {"W1": ""})
    assert not world.joined(joins).leads
    world.fetch("W2")
    world.pass_ms(4_000)
    assert world.synced(syncs).error is OK
    for _ in range(2):  # only in the first of these it has seen what W2 runs
        assert world.beats("W1") is AGAIN
        assert world.come("W1", "").shown["W2"] == (OFFSET, "AC0 AT0")
        world.fetch("W1", {"W1": "", "W2": ""})
    assert world.beats("W1") is OK
