"""What comes of requests that make no sense, come twice, or by an older connection? The sender is told; nobody else is
harmed, and no state is lost.
"""

from __future__ import annotations

import pytest

from kcoord.protocol.embedded import CONFIG_MISMATCH, SESSIONED, WorkerAssignment, encode_assignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse, JoinGroupResponse, SyncGroupResponse
from kcoord.resource import Resource, task
from tests.group.connect.world import res
from tests.translation.translated_world import AGAIN, ALL, OFFSET, OK, SESSION_MS, TranslatedWorld, three

MISMATCH = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
RUNS = {"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"}


def assigned(*resources: Resource, error: int = 0) -> bytes:
    """An assignment that W1 makes."""
    return encode_assignment(WorkerAssignment(SESSIONED, error, "W1-1", "http://W1", OFFSET, frozenset(resources)))


def goes_on(world: TranslatedWorld) -> None:
    """Everybody has what it had, and somebody computes when something happens."""
    assert {name: world.holds(name) for name in RUNS} == RUNS
    assert {name: world.is_to_run(name) for name in RUNS} == RUNS


# -- JoinGroup ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"\x00",
        b"\x00\x02\x00\x05http",
        b"\x00\x02\xff\xff" + bytes(8),
        b"\x00\x02\x00\x01a" + bytes(8) + b"\x7f" * 4,
    ],
    ids=["empty", "half a version", "half a url", "no url", "claims 2 GB"],
)
def test_metadata_that_cannot_be_read(metadata: bytes) -> None:
    world = three()
    protocols = [JoinGroupRequestProtocol("sessioned", metadata)]
    with world.nothing_changes():
        for name in ("W2", "W9"):
            request = world.join_request(name, None, OFFSET, SESSIONED, protocols=protocols)
            answer = world.ask(request, JoinGroupResponse, connection=2)
            assert answer.error_code == MISMATCH
    goes_on(world)


@pytest.mark.parametrize("names", [(), ("range",), ("sessioned2", "eager")])
def test_embedded_protocols_that_nobody_knows(names: tuple[str, ...]) -> None:
    world = three()
    protocols = [JoinGroupRequestProtocol(name, b"") for name in names]
    with world.nothing_changes():
        request = world.join_request("W9", None, OFFSET, SESSIONED, protocols=protocols)
        assert world.ask(request, JoinGroupResponse, connection=9).error_code == MISMATCH


def test_a_consumer_on_the_group_of_connect_workers() -> None:
    """CM-1: whose group it is is told by the protocol type."""
    world = three()
    with world.nothing_changes():
        request = world.join_request("W9", None, OFFSET, SESSIONED, protocol_type="consumer")
        assert world.ask(request, JoinGroupResponse, connection=9).error_code == MISMATCH


def test_a_member_id_that_was_given_to_nobody() -> None:
    world = three()
    with world.nothing_changes():
        request = world.join_request("W9", None, OFFSET, SESSIONED, member_id="W9-999")
        assert world.ask(request, JoinGroupResponse, connection=9).error_code == UNKNOWN


def test_a_member_id_that_lapsed() -> None:
    """KIP-394."""
    world = three()
    first = world.ask(world.join_request("W9", None, OFFSET, SESSIONED), JoinGroupResponse, connection=9)
    assert first.error_code == ErrorCode.MEMBER_ID_REQUIRED
    world.keep_alive(SESSION_MS, "W1", "W2", "W3")
    request = world.join_request("W9", None, OFFSET, SESSIONED, member_id=first.member_id)
    assert world.ask(request, JoinGroupResponse, connection=9).error_code == UNKNOWN


def test_two_join_groups_at_once_are_answered_one_by_one() -> None:
    world = TranslatedWorld(gather_ms=1_000)
    first = world.send_join("W1")
    second = world.send_join("W1")
    assert world.joined(first).error is AGAIN
    world.pass_ms(1_000)
    assert world.joined(second).leads


# -- older connections -------------------------------------------------------------------------------------------------


def test_what_comes_by_an_older_connection_changes_nothing() -> None:
    """It was sent before what is known of the worker (CG-4)."""
    world = three()
    world.come("W2", "AT1", connection=22)
    world.fetch("W2", connection=22)
    with world.nothing_changes():
        assert world.come("W2", "", connection=2).error is AGAIN
        assert world.fetch("W2", connection=2).error is AGAIN
        assert world.beats("W2", connection=2) is OK
    assert world.beats("W2", connection=22) is OK
    goes_on(world)


# -- SyncGroup ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [{"W1": b""}, {"W2": b"\x00\x02\x00"}, {"W1": assigned(), "nobody": assigned()}],
    ids=["nothing", "half of it", "a stranger"],
)
def test_nonsense_by_the_leader_says_nothing_and_it_is_asked_again(raw: dict[str, bytes]) -> None:
    """CM-51: a true leader answers for exactly the members that it was shown."""
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.fetch("W1", raw=raw).error is AGAIN
    goes_on(world)
    world.come("W4")
    assert world.fetch("W4").error is OK, "members come and go meanwhile"
    assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")
    goes_on(world)


@pytest.mark.parametrize(
    "raw",
    [
        {"W1": assigned(task("A", 1)), "W2": assigned()},
        {"W1": assigned(task("A", 2), task("A", 2)), "W2": assigned(task("A", 2))},
    ],
    ids=["what W2 has", "one thing for two"],
)
def test_whom_the_leader_gives_something_counts_for_nothing(raw: dict[str, bytes]) -> None:
    """It is asked what exists."""
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.fetch("W1", raw=raw).brief == ("", "")
    goes_on(world)


def test_a_leader_that_lacks_configurations_is_told_so_alone_and_asked_again() -> None:
    world = three()
    world.come("W1", "AC0 AT0")
    told = world.fetch("W1", raw={name: assigned(error=CONFIG_MISMATCH) for name in RUNS})
    assert (told.error, told.failed) == (OK, CONFIG_MISMATCH)
    goes_on(world)
    assert [world.beats("W2"), world.beats("W3")] == [OK, OK]
    assert world.beats("W1") is AGAIN
    assert world.led("W1", ALL, "AC0 AT0").error is OK


def test_the_leaders_sync_group_twice() -> None:
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.fetch("W1", dict.fromkeys(RUNS, "")).error is OK
    epoch = world.group.assignment_epoch
    again = world.fetch("W1", {**dict.fromkeys(RUNS, ""), "W3": "-AT2"})
    assert again.error in (OK, AGAIN)
    assert world.is_to_run("W3") == "AT2", "what counts is the first"
    assert world.group.assignment_epoch == epoch


def test_the_leaders_sync_group_twice_while_it_waits_in_a_config_round() -> None:
    world = three()
    world.come("W1", "AC0 AT0", offset=OFFSET + 2)
    first = world.send_sync("W1", dict.fromkeys(RUNS, ""), offset=OFFSET + 2)
    assert first not in world.answers
    world.send_sync("W1", dict.fromkeys(RUNS, ""), offset=OFFSET + 2)
    assert world.synced(first).error is AGAIN
    goes_on(world)


def test_a_follower_that_brings_assignments() -> None:
    world = three()
    world.come("W2", "AT1")
    assert world.fetch("W2", {"W2": "+AC0 +AT0"}).error is AGAIN
    goes_on(world)


def test_an_answer_for_some_says_nothing_of_the_others() -> None:
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.fetch("W1", {"W1": "+AT5"}).error is OK
    assert "AT5" in " ".join(world.is_to_run(name) for name in RUNS)
    assert {"AT1", "AT2"} <= {*world.is_to_run("W2").split(), *world.is_to_run("W3").split()}


def test_a_sync_group_under_another_protocol_than_was_elected() -> None:
    world = three()
    world.come("W2", "AT1")
    assert world.fetch("W2", protocol="compatible").error is AGAIN
    assert world.come("W2", "AT1").error is OK
    assert world.fetch("W2").error is OK


# -- who it is not -----------------------------------------------------------------------------------------------------


def test_requests_of_nobody() -> None:
    world = three()
    world.known["W9"], world.generations["W9"] = "W9-9", 1
    with world.nothing_changes():
        assert world.beats("W9") is UNKNOWN
        assert world.fetch("W9").error is UNKNOWN
        assert world.leaves("W9") is UNKNOWN


def test_a_worker_of_the_new_protocol_is_none_of_the_classic_one_nor_the_other_way_round() -> None:
    world = three()
    assert world.join("N1", connection=50).error is OK
    world.known["W9"], world.generations["W9"] = "N1", 1
    assert world.come("W9", connection=51).error is UNKNOWN
    assert world.beats("W9") is UNKNOWN
    assert world.fetch("W9").error is UNKNOWN
    assert world.leaves("W9") is UNKNOWN
    assert world.join(world.known["W2"], connection=52).error is ErrorCode.INVALID_REQUEST
    assert world.beat(world.known["W2"], 3, connection=52).error is UNKNOWN
    assert world.beat(world.known["W2"], -1, connection=52).error is UNKNOWN
    assert world.holds("W2") == "AT1"


def test_requests_on_a_group_that_is_not_there() -> None:
    world = TranslatedWorld()
    answer = world.ask(HeartbeatRequest("g", 1, "W1-1"), HeartbeatResponse)
    assert answer.error_code == UNKNOWN
    world.known["W1"], world.generations["W1"] = "W1-1", 1
    assert isinstance(world.answers[world.send_sync("W1")], SyncGroupResponse)
    assert world.fetch("W1").error is UNKNOWN


def test_resources_are_what_they_are() -> None:
    """What a worker reports twice, or that has odd numbers, is one resource each."""
    world = three()
    world.come("W4", "AT1 AT1")
    assert world.member(world.known["W4"]).current == res("AT1")
