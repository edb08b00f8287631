"""Who computes when consumers list assignors of their own, and what is made of what they compute? (KG-27)

The topic is A with four partitions. Every consumer that computes here gives all to the one whose metadata says most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest

from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_heartbeat_request import Assignor
from kcoord.protocol.generated.consumer_group_install_assignment_request import Member, TopicPartitions
from kcoord.protocol.messages import (
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupInstallAssignmentResponse,
    ConsumerGroupPrepareAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
)
from tests.group.consumer.sides import flat
from tests.group.consumer.world import GROUP, REBALANCE_MS, SESSION_MS, World, parts, text, topics, wire

ALL = "A0 A1 A2 A3"


def lists(name: str = "most", weight: int = 1, lowest: int = 0, highest: int = 0, reason: int = 0) -> Assignor:
    """An assignor in a consumer's list, with metadata of that many bytes."""
    return Assignor(name, lowest, highest, reason, highest, b"x" * weight)


class Fleet(World):
    """Consumers a, b, c… on the connections 1, 2, 3…; what they are told, and what they compute."""

    def __init__(self, wait_ms: int = 0, is_on: bool = True, **settings: Any) -> None:
        super().__init__(ConsumerSettings(heartbeat_wait_ms=wait_ms, client_assignors=is_on, **settings))

    def comes(self, member: str, *assignors: Assignor, **said: Any) -> str:
        """The member joins. Returns its epoch, or the error; and whether it is to compute."""
        listed = list(assignors) or [lists()]
        return self._in_short(self.join(member, connection=_connection(member), client_assignors=listed, **said))

    def beats(self, member: str, owned: str | None = None, **said: Any) -> str:
        """A heartbeat at the epoch that the member was told last."""
        epoch = self.member(member).told_epoch
        return self._in_short(self.beat(member, epoch, owned, connection=_connection(member), **said))

    def _in_short(self, told: Any) -> str:
        if told.error:
            return str(told.error.name)
        return f"{told.epoch}{' computes' if told.response.should_compute_assignment else ''}"

    def prepare(self, member: str, epoch: int | None = None) -> ConsumerGroupPrepareAssignmentResponse:
        at = self.member(member).told_epoch if epoch is None else epoch
        request = ConsumerGroupPrepareAssignmentRequest(GROUP, member, at)
        return self.ask(request, ConsumerGroupPrepareAssignmentResponse, connection=_connection(member))

    def prepares(self, member: str) -> str:
        """What it is shown: epoch, assignor, members with what they say and their targets."""
        shown = self.prepare(member)
        if shown.error_code:
            return ErrorCode(shown.error_code).name
        members = [
            f"{each.member_id}({len(each.assignor.metadata)}) {text(flat(each.topic_partitions))}".rstrip()
            for each in shown.members
        ]
        return f"{shown.group_epoch} {shown.assignor_name}: {', '.join(members)}"

    def installs(self, member: str, epoch: int, error: int = 0, note: bytes = b"", **targets: str) -> str:
        """It installs these targets: `a="A0 A1"`."""
        return self.installs_all(member, epoch, targets, error, note)

    def installs_all(
        self, member: str, epoch: int, targets: Mapping[str, str], error: int = 0, note: bytes = b""
    ) -> str:
        members = [
            Member(each, [TopicPartitions(*_pair(entry)) for entry in wire(share)], 1 if note else 0, note)
            for each, share in targets.items()
        ]
        return self.install(member, epoch, members, error)

    def install(self, member: str, epoch: int, members: Sequence[Member], error: int = 0) -> str:
        at = self.group.members[member].told_epoch if member in self.group.members else 1
        request = ConsumerGroupInstallAssignmentRequest(GROUP, member, at, epoch, error, list(members))
        told = self.ask(request, ConsumerGroupInstallAssignmentResponse, connection=_connection(member))
        return ErrorCode(told.error_code).name + (f": {told.error_message}" if told.error_message else "")

    @property
    def targets(self) -> dict[str, str]:
        return {each: text(target.resources) for each, target in self.group.targets.items()}


def _pair(entry: Any) -> tuple[bytes, list[int]]:
    return entry.topic_id, entry.partitions


def _connection(member: str) -> int:
    return ord(member[0]) - ord("a") + 1


def pair(**how: Any) -> Fleet:
    """a has all, computed by itself; b has joined, and a is to compute."""
    fleet = Fleet(**how)
    assert fleet.comes("a", lists(weight=2)) == "1 computes"
    assert fleet.prepares("a") == "2 most: a(2)"
    assert fleet.installs("a", 2, a=ALL) == "NONE"
    assert fleet.beats("a") == "2"
    assert fleet.beats("a", ALL) == "2"
    assert fleet.comes("b", lists(weight=3)) == "2"
    return fleet


# -- the way of an assignment -----------------------------------------------------------------------------------------


def test_a_consumer_computes_and_all_go_to_what_it_has_computed() -> None:
    fleet = pair()
    assert fleet.describe().group_state == "Assigning"
    assert [fleet.describe(with_history=with_history).computing_member_id for with_history in (True, False)] == [
        "a",
        None,
    ]
    assert fleet.beats("a") == "2 computes"
    assert fleet.prepares("a") == f"3 most: a(2) {ALL}, b(3)"
    assert fleet.beats("a") == "2 computes", "until it has installed something, each answer asks"
    assert fleet.installs("a", 3, b=ALL) == "NONE"
    assert fleet.installs("a", 3, b=ALL) == "NONE", "the answer was lost"
    assert fleet.beats("a") == "2"
    assert fleet.row() == (3, {"a": f"2 UNREVOKED - {ALL}", "b": "2 STABLE"})
    assert fleet.beats("a", "") == "3"
    assert fleet.beats("b") == "3"
    assert fleet.row() == (3, {"a": "3 STABLE", "b": f"3 STABLE {ALL}"})
    assert fleet.describe().assignor_name == "most"


def test_what_is_shown_is_all_that_an_assignor_may_look_at() -> None:
    fleet = Fleet()
    fleet.comes("a", lists(lowest=-1, highest=4, reason=7), instance_id="one", rack_id="here")
    shown = fleet.prepare("a")
    (member,) = shown.members
    (topic,) = shown.topics
    assert (member.member_id, member.member_epoch, member.instance_id, member.rack_id) == ("a", 1, "one", "here")
    assert (member.assignor.version, member.assignor.reason, member.assignor.metadata) == (4, 7, b"x")
    assert member.subscribed_topic_ids == [topic.topic_id]
    assert (topic.topic_name, topic.num_partitions) == ("A", 4)


def test_what_the_assignor_tells_a_member_comes_with_its_assignment_also_if_nothing_else_has_changed() -> None:
    fleet = pair()
    fleet.prepare("a")
    assert fleet.installs("a", 3, note=b"go slow", a=ALL, b="") == "NONE"
    told = fleet.beat("a", 2, None)
    assert told.response.assignment is not None
    assert (told.has, told.response.assignment.version, told.response.assignment.metadata) == (ALL, 1, b"go slow")
    assert fleet.beat("a", 3, None).response.assignment is None
    fleet.restart()
    again = fleet.beat("a", 3, ALL, connection=11)
    assert again.response.assignment is not None
    assert again.response.assignment.metadata == b"go slow"


def test_the_answer_that_asks_to_compute_does_not_wait() -> None:
    fleet = Fleet(wait_ms=10_000)
    assert fleet.comes("a") == "1 computes"
    waits = fleet.send_beat("a", 1, "")
    assert fleet.told(waits) is None, "it has been asked"
    fleet.prepare("a")
    told = fleet.told(waits)
    assert told is not None, "another request of its connection has come"
    assert (told.brief, told.response.should_compute_assignment) == ((1, None), True)
    fleet.installs("a", 2, a=ALL)
    assert fleet.beat("a", 1, "").brief == (2, ALL)
    waits = fleet.send_beat("a", 2, ALL)
    assert fleet.told(waits) is None
    fleet.comes("b")
    told = fleet.told(waits)
    assert told is not None
    assert (told.brief, told.response.should_compute_assignment) == ((2, None), True)


# -- who computes -----------------------------------------------------------------------------------------------------

CHOICES: list[tuple[str, list[Sequence[Assignor]], str]] = [
    ("what all list", [[lists("x"), lists("y")], [lists("y")]], "y by a"),
    ("what most list first", [[lists("y"), lists("x")], [lists("x"), lists("y")], [lists("x"), lists("y")]], "x by a"),
    ("then by name", [[lists("y"), lists("x")], [lists("x"), lists("y")]], "x by a"),
    ("who reads all", [[lists(lowest=2, highest=3)], [lists(lowest=1, highest=4)]], "most by b"),
    ("nothing in common", [[lists("x")], [lists("y")]], "uniform by the coordinator"),
    ("somebody lists nothing", [[lists()], []], "uniform by the coordinator"),
]


@pytest.mark.parametrize(("_why", "listed", "who"), CHOICES, ids=[each[0] for each in CHOICES])
def test_who_computes(_why: str, listed: list[Sequence[Assignor]], who: str) -> None:
    fleet = Fleet()
    for member, assignors in zip("abc", listed, strict=False):
        fleet.join(member, connection=_connection(member), client_assignors=list(assignors))
    computation = fleet.group.computation
    found = "the coordinator" if computation is None else computation.chosen
    assert f"{fleet.group.assignor if computation is None else computation.assignor} by {found}" == who


def test_where_it_is_off_a_list_is_refused_and_says_why() -> None:
    fleet = Fleet(is_on=False)
    told = fleet.join("a", client_assignors=[lists()])
    assert told.error is ErrorCode.UNSUPPORTED_ASSIGNOR
    assert "group.consumer.client.assignors.enable" in str(told.response.error_message)
    assert fleet.join("a", client_assignors=[]).error is ErrorCode.NONE


def test_a_join_after_which_nobody_could_compute_is_refused() -> None:
    fleet = pair()
    told = fleet.join("c", connection=3, client_assignors=[lists(lowest=-1, highest=-0)])
    assert told.error is ErrorCode.NONE
    wider = fleet.join("d", connection=4, client_assignors=[lists(lowest=0, highest=3)])
    assert (wider.error, wider.response.error_message) == (
        ErrorCode.UNSUPPORTED_ASSIGNOR,
        "nobody in the group could read all versions of assignor most",
    )
    assert fleet.beats("b", client_assignors=[lists(lowest=0, highest=3)]) == "UNSUPPORTED_ASSIGNOR"


@pytest.mark.parametrize(
    ("assignors", "says"),
    [
        ([lists("")], "an assignor's Name is empty"),
        ([lists(), lists()], "assignor most is listed twice"),
        ([lists(lowest=-2)], "assignor most: MinimumVersion is -2, it must be -1 or more"),
        ([lists(lowest=3, highest=2)], "assignor most: MaximumVersion is 2, it must be 0 or more, and MinimumVersion"),
        ([attrs.evolve(lists(), version=5)], "assignor most: Version 5 is not within 0 to 0"),
    ],
)
def test_a_list_that_is_wrong_is_refused(assignors: list[Assignor], says: str) -> None:
    told = Fleet().join("a", client_assignors=assignors)
    assert told.error is ErrorCode.INVALID_REQUEST
    assert str(told.response.error_message).startswith(says)


def test_a_consumer_names_assignors_of_one_kind_and_the_last_named_count() -> None:
    fleet = Fleet()
    both = fleet.join("a", client_assignors=[lists()], server_assignor="range")
    assert both.error is ErrorCode.INVALID_REQUEST
    fleet.comes("a")
    assert fleet.beats("a", server_assignor="range") == "3"
    assert (fleet.group.assignor, fleet.targets) == ("range", {"a": ALL})
    assert fleet.beats("a", client_assignors=[lists()]) == "3 computes"
    assert fleet.member("a").metadata.server_assignor is None


@pytest.mark.parametrize("said", [lists(weight=9), lists(weight=2, reason=1)], ids=["metadata", "reason"])
def test_what_a_consumer_says_anew_for_its_assignor_begins_an_assignment(said: Assignor) -> None:
    fleet = pair()
    fleet.prepare("a")
    fleet.installs("a", 3, b=ALL)
    fleet.beats("a", client_assignors=[said])
    assert (fleet.group.epoch, fleet.group.reason) == (4, "client-side assignors changed: a")


# -- what fails -------------------------------------------------------------------------------------------------------

NOT_VALID = [
    ({"a": "A0 A1 A2"}, "A-3 is assigned to nobody"),
    ({"a": ALL, "b": "A3"}, "A-3 is assigned to a and to b"),
    ({"a": ALL, "z": ""}, "z is no member of the group"),
    ({"a": f"{ALL} A4"}, "topic A has no partition 4"),
    ({"a": f"{ALL} B0"}, "a does not subscribe to topic 00000000000000000000000000000042"),
]


@pytest.mark.parametrize(("targets", "says"), NOT_VALID, ids=[says for _, says in NOT_VALID])
def test_targets_that_are_not_valid_are_refused_and_the_next_consumer_computes(
    targets: dict[str, str], says: str
) -> None:
    fleet = pair()
    fleet.prepare("a")
    assert fleet.installs_all("a", 3, targets) == f"INVALID_ASSIGNMENT: {says}"
    assert fleet.beats("a") == "2"
    assert fleet.beats("b") == "2 computes"
    assert fleet.targets == {"a": ALL}


def test_what_is_named_twice_is_refused() -> None:
    fleet = pair()
    fleet.prepare("a")
    whole = [TopicPartitions(*_pair(each)) for each in wire(ALL)]
    assert "named twice" in fleet.install("a", 3, [Member("a", whole), Member("a", [])])
    fleet.beats("b")
    fleet.prepare("b")
    assert "twice" in fleet.install("b", 3, [Member("a", [*whole, *whole])])


def test_a_consumer_that_reports_an_error_or_takes_too_long_is_passed_over() -> None:
    fleet = pair()
    fleet.beats("a")
    fleet.prepare("a")
    assert fleet.installs("a", 3, error=1) == "NONE"
    assert fleet.beats("b") == "2 computes"
    fleet.pass_ms(REBALANCE_MS - 1)
    assert fleet.group.chosen() == "b"
    fleet.pass_ms(1)
    assert fleet.group.chosen() is None
    why = fleet.describe(with_history=True).error_message
    assert str(why).endswith("assignor most has failed in every consumer that could run it: a, b")
    fleet.beats("a")
    fleet.pass_ms(1_000)
    assert fleet.beats("a") == "2 computes", "it is tried again"
    fleet.prepare("a")
    assert fleet.installs("a", 3, b=ALL) == "NONE"


def test_the_time_to_compute_begins_with_the_answer_that_asks() -> None:
    fleet = pair()
    fleet.pass_ms(SESSION_MS - 1)
    assert fleet.beats("a") == "2 computes"
    fleet.beats("b")
    fleet.pass_ms(REBALANCE_MS - 1)
    assert fleet.group.chosen() == "a"
    fleet.pass_ms(1)
    assert fleet.group.chosen() == "b"


REFUSED = [
    ("who was not chosen", "b", None, "UNKNOWN_MEMBER_ID"),
    ("an epoch of before", "a", 1, "STALE_MEMBER_EPOCH"),
]


@pytest.mark.parametrize(("_why", "member", "epoch", "error"), REFUSED, ids=[each[0] for each in REFUSED])
def test_an_error_of_prepare_ends_no_membership(_why: str, member: str, epoch: int | None, error: str) -> None:
    fleet = pair()
    assert ErrorCode(fleet.prepare(member, epoch).error_code).name == error
    assert fleet.beats(member).startswith("2")


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ({"group_id": ""}, "GroupId is empty"),
        ({"member_id": ""}, "MemberId is empty"),
        ({"member_epoch": -1}, "MemberEpoch is -1: it must be 0 or more"),
    ],
)
def test_requests_that_say_nothing_are_refused(field: dict[str, Any], says: str) -> None:
    fleet = pair()
    prepare = ConsumerGroupPrepareAssignmentRequest(**{"group_id": GROUP, "member_id": "a", "member_epoch": 2, **field})
    install = ConsumerGroupInstallAssignmentRequest(**{"group_id": GROUP, "member_id": "a", "member_epoch": 2, **field})
    prepared = fleet.ask(prepare, ConsumerGroupPrepareAssignmentResponse)
    installed = fleet.ask(install, ConsumerGroupInstallAssignmentResponse)
    for told in (prepared, installed):
        assert (ErrorCode(told.error_code), told.error_message) == (ErrorCode.INVALID_REQUEST, says)


def test_an_install_of_another_epoch_is_refused_and_not_held_against_the_consumer() -> None:
    fleet = pair()
    assert fleet.installs("a", 3, b=ALL) == "INVALID_ASSIGNMENT: the assignment is of epoch 3: nothing was prepared"
    fleet.prepare("a")
    assert fleet.installs("a", 1, b=ALL) == "INVALID_ASSIGNMENT: the assignment is of epoch 1: epoch 3 was prepared"
    assert fleet.beats("a") == "2 computes"


# -- what changes meanwhile -------------------------------------------------------------------------------------------


def test_what_has_changed_since_the_freeze_is_taken_account_of_and_the_next_computation_follows() -> None:
    fleet = pair()
    fleet.prepare("a")
    fleet.comes("c")
    assert fleet.installs("a", 3, a="A0 A1", b="A2 A3") == "NONE"
    assert (fleet.group.assignment_epoch, fleet.group.epoch) == (3, 4)
    assert fleet.targets == {"a": "A0 A1", "b": "A2 A3", "c": ""}
    assert fleet.beats("a") == "2 computes"
    assert fleet.prepares("a").startswith("4 most: a(2) A0 A1, b(3) A2 A3, c(1)")


def test_the_part_of_a_consumer_that_has_gone_is_nobodys_until_the_next_assignment() -> None:
    fleet = pair()
    fleet.prepare("a")
    fleet.leave("b", connection=2)
    assert fleet.installs("a", 3, a="A0", b="A1 A2 A3") == "NONE"
    assert fleet.targets == {"a": "A0"}
    assert fleet.group.chosen() == "a"


def test_who_prepares_once_more_is_told_the_assignor_of_now() -> None:
    """Somebody who subscribes to nothing changes what all have in common, and no epoch moves for that. A hostile
    session showed it.
    """
    fleet = Fleet()
    fleet.comes("a", lists("most"), lists("other"))
    fleet.comes("b", lists("most"), lists("other"), subscribed="")
    assert fleet.prepares("a") == "2 most: a(1), b(1)"
    fleet.beats("b", client_assignors=[lists("other")])
    assert fleet.prepares("a") == "2 other: a(1), b(1)"


def test_a_static_consumer_that_has_been_replaced_passes_its_part_on() -> None:
    fleet = pair()
    fleet.comes("c", instance_id="one")
    fleet.prepare("a")
    fleet.beat("c", -2, connection=3, instance_id="one")
    fleet.join("d", connection=4, instance_id="one", client_assignors=[lists()])
    assert fleet.installs("a", 4, c=ALL) == "NONE"
    assert fleet.targets == {"a": "", "b": "", "d": ALL}


def test_nobody_is_told_of_topics_that_are_gone() -> None:
    fleet = Fleet()
    fleet.learn(topics(A=2, B=2))
    fleet.comes("a", subscribed="AB")
    fleet.prepare("a")
    fleet.learn(topics(A=2))
    assert fleet.installs("a", 2, a="A0 A1 B0 B1") == "NONE"
    assert fleet.beat("a", 1).brief == (2, "A0 A1")


def test_topics_that_change_after_the_freeze_need_another_assignment() -> None:
    """One that has to wait takes them in. Seed 2354 of consumer groups showed that this one cannot."""
    fleet = pair()
    fleet.learn(topics(A=5))
    assert fleet.group.epoch == 3, "it waits for a"
    fleet.prepare("a")
    fleet.learn(topics(A=6))
    assert fleet.group.epoch == 4
    assert fleet.installs("a", 3, a=f"{ALL} A4") == "NONE"
    assert fleet.beats("a") == "3 computes"
    assert fleet.prepares("a").startswith("4 most")


def test_who_computes_goes_and_the_next_one_is_asked() -> None:
    fleet = pair()
    fleet.prepare("a")
    fleet.leave("a")
    assert fleet.beats("b") == "2 computes"
    assert fleet.prepares("b") == "4 most: b(3)"


def test_a_static_consumer_that_is_away_is_waited_for_if_nobody_else_can() -> None:
    fleet = Fleet()
    assert fleet.comes("a", lists(lowest=0, highest=2), instance_id="one") == "1 computes"
    fleet.comes("b", lists(lowest=1, highest=1))
    assert fleet.beat("a", -2, instance_id="one").error is ErrorCode.NONE
    assert fleet.group.chosen() is None
    assert fleet.beats("b") == "1"
    assert fleet.comes("a", lists(lowest=0, highest=2), instance_id="one") == "1 computes"


def test_a_load_asks_once_more_and_what_was_frozen_is_forgotten() -> None:
    fleet = pair()
    fleet.prepare("a")
    fleet.restart()
    assert fleet.installs("a", 3, b=ALL).startswith("STALE_MEMBER_EPOCH"), "it has not come since the load"
    told = fleet.beat("a", 2, ALL, connection=11)
    assert told.response.should_compute_assignment
    request = ConsumerGroupInstallAssignmentRequest(GROUP, "a", 2, 3, 0, [])
    answer = fleet.ask(request, ConsumerGroupInstallAssignmentResponse, connection=11)
    assert ErrorCode(answer.error_code) is ErrorCode.INVALID_ASSIGNMENT


def test_the_coordinator_computes_as_soon_as_somebody_lists_nothing() -> None:
    fleet = pair()
    fleet.prepare("a")
    fleet.join("c", connection=3)
    assert fleet.group.computation is None
    assert fleet.group.assignor == "uniform"
    for epoch in (3, fleet.group.assignment_epoch):  # the second is no repetition of what a has installed
        assert fleet.installs("a", epoch, b=ALL) == "UNKNOWN_MEMBER_ID: member a was not chosen to compute"
    assert set().union(*[parts(each) for each in fleet.targets.values()]) == parts(ALL)


def test_an_assignment_that_has_to_wait_is_not_asked_for_before() -> None:
    fleet = pair(assignment_interval_ms=5_000)
    assert fleet.beats("a") == "2"
    fleet.pass_ms(5_000)
    assert fleet.beats("a") == "2 computes"
    fleet.comes("c")
    assert fleet.prepares("a").startswith("4 most")
