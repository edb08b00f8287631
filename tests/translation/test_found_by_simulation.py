"""What did simulated mixed fleets find that nobody had thought of? Each story is one cause, and names the plan files of
tests/sim/plans that led to it.
"""

from __future__ import annotations

from tests.group.connect.world import assignor, packed
from tests.translation.translated_world import ALL, OFFSET, OK, TranslatedWorld

READS_NEW = assignor("connect", 0, 0)


def joins(world: TranslatedWorld, name: str, connection: int, url: str, configured: str) -> None:
    """A worker of the new protocol, which cannot compute for classic ones, joins at `url`."""
    told = world.join(
        name,
        connection,
        client_assignors=[READS_NEW],
        url=url,
        config_offset=OFFSET,
        configured_connectors_and_tasks=packed(configured),
    )
    assert told.error is OK


def is_back_before_its_session_has_ended() -> TranslatedWorld:
    """A classic worker leads; N1 has died with part of the work, and N2 is there in its place."""
    world = TranslatedWorld.fleet({"W1": ALL})
    joins(world, "N1", 50, "http://N", ALL)
    assert world.led("W1", ALL, ALL).revoked == "AT2"
    world.led("W1", ALL, "AC0 AT0 AT1")
    assert world.beat("N1", 0, "", connection=50).owned == "AT2"
    joins(world, "N2", 51, "http://N", ALL)
    assert world.led("W1", ALL, "AC0 AT0 AT1").revoked == "AT1", "there are three of them"
    world.led("W1", ALL, "AC0 AT0")
    epoch, owned = 0, ""
    for _ in range(12):  # the session of N1 ends
        world.pass_ms(1_000)
        world.beats("W1")
        told = world.beat("N2", epoch, owned, connection=51)
        epoch, owned = told.epoch, owned if told.owned is None else told.owned
    assert set(world.group.members) == {world.known["W1"], "N2"}
    return world


def test_the_leader_takes_nothing_from_a_worker_that_is_back() -> None:
    """Plan 5347151 and 13 more: it was shown all of it as the worker's own, took some away for its own balance, was
    shown it again, and took it away again, each heartbeat, for ever. It is asked what exists, and that is all.
    """
    world = is_back_before_its_session_has_ended()
    assert world.targets()["N2"] == "AT1 AT2"
    for _ in range(3):
        assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")
        assert world.beats("W1") is OK
    assert world.targets() == {world.known["W1"]: "AC0 AT0", "N2": "AT1 AT2"}
    assert world.group.epoch == world.group.assignment_epoch


def test_what_came_while_the_leader_was_asked_does_not_outlive_its_deletion() -> None:
    """Plan 5404663: W2 came with what had been deleted while the leader was asked, and was not shown. Shown it later,
    the leader would have taken it for good: it does not exist, so it is stopped first.
    """
    world = TranslatedWorld()
    assert world.come("W1").shown == {"W1": (OFFSET, "")}
    comes = world.send_join("W2", "AC0 AT0")
    assert world.fetch("W1", {"W1": ""}).error is OK
    assert not world.joined(comes).leads
    assert world.fetch("W2").brief == ("", "AC0 AT0")
    world.come("W2", "")
    assert world.fetch("W2").brief == ("", "")
    assert world.come("W1", "").shown == {"W1": (OFFSET, ""), "W2": (OFFSET, "")}
