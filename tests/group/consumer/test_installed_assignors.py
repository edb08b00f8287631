"""What does a consumer group do with an assignor of somebody else's, that may fail? (KG-6, KG-7)

`rack` gives everything to the consumers of the rack "home", as in docs/assignors.md. `broken` does what the test says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from kcoord.assign.consumer import ConsumerTargets, SubscribedGroup, UniformConsumerAssignor
from kcoord.group.consumer.next_assignment import BACK_OFF_MS, LONGEST_BACK_OFF_MS
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.protocol.errors import ErrorCode
from tests.assign.test_documentation import DOCUMENT, examples
from tests.group.consumer.classic_world import Classic
from tests.group.consumer.world import World

Assign = Callable[[SubscribedGroup], ConsumerTargets]
HOME, AWAY = {"rack_id": "home"}, {"rack_id": "elsewhere"}


@attrs.define
class Installed:
    """An assignor as a package brings it."""

    name: str = "broken"
    reads_racks: bool = False
    assign: Assign = UniformConsumerAssignor().assign
    asked: int = 0

    def __attrs_post_init__(self) -> None:
        self.set(self.assign)

    def set(self, assign: Assign) -> None:
        """From now on it does that."""

        def counted(group: SubscribedGroup) -> ConsumerTargets:
            self.asked += 1
            return assign(group)

        self.assign = counted


def with_assignor(assignor: Any, **settings: Any) -> World:
    return World(ConsumerSettings(heartbeat_wait_ms=0, assignors=(UniformConsumerAssignor(), assignor), **settings))


def raises(group: SubscribedGroup) -> ConsumerTargets:
    raise KeyError("rack")


def forgets(group: SubscribedGroup) -> ConsumerTargets:
    return {}


def gives_twice(group: SubscribedGroup) -> ConsumerTargets:
    whole = {topic: frozenset(range(count)) for topic, count in group.topics.items()}
    return {each.member_id: whole for each in group.members}


def knows_a_stranger(group: SubscribedGroup) -> ConsumerTargets:
    return {"nobody": {}}


def is_no_mapping(group: SubscribedGroup) -> Any:
    return None


def gives_once(group: SubscribedGroup) -> Any:
    """What it gives can be read only once."""
    return {group.members[0].member_id: {topic: iter(range(count)) for topic, count in group.topics.items()}}


FAILURES = [
    (raises, "failed: KeyError: 'rack'"),
    (forgets, "made targets that are not valid: A-0 is assigned to nobody"),
    (gives_twice, "made targets that are not valid: A-0 is assigned to a and to b"),
    (knows_a_stranger, "made targets that are not valid: nobody is no member of the group"),
    (is_no_mapping, "failed: AttributeError"),
]


def failing() -> tuple[Installed, World]:
    """a has everything, b has joined, and the assignor fails."""
    broken = Installed()
    world = with_assignor(broken)
    world.join("a", server_assignor="broken")
    broken.set(raises)
    world.join("b", connection=2, server_assignor="broken")
    return broken, world


@pytest.mark.parametrize(("how", "says"), FAILURES, ids=[how.__name__ for how, _ in FAILURES])
def test_a_group_whose_assignor_fails_keeps_its_targets_and_says_why(how: Assign, says: str) -> None:
    broken = Installed()
    world = with_assignor(broken)
    assert world.join("a", server_assignor="broken").brief == (2, "A0 A1 A2 A3")
    broken.set(how)
    assert world.join("b", connection=2, server_assignor="broken").brief == (2, "")
    assert world.row() == (3, {"a": "2 STABLE A0 A1 A2 A3", "b": "2 STABLE"})
    assert world.beat("a", 2, "A0 A1 A2 A3").brief == (2, None)
    described = world.describe(with_history=True)
    assert described.group_state == "Assigning"
    assert str(described.error_message).startswith(f"no new assignment for epoch 3: assignor broken {says}")
    assert world.shard.state.consumer_counters.failed == {"broken": 1}


def pass_ms(world: World, ms: int) -> None:
    """Time passes, and both consumers go on sending heartbeats."""
    while ms > 0:
        world.pass_ms(min(ms, 20_000))
        ms -= 20_000
        world.beat("a", 2, "A0 A1 A2 A3")
        world.beat("b", 2, "", connection=2)


def test_it_is_tried_again_later_and_later_and_then_all_goes_on() -> None:
    broken, world = failing()
    asked, wait_ms = broken.asked, BACK_OFF_MS
    for _ in range(8):
        pass_ms(world, wait_ms - 1)
        assert broken.asked == asked, f"not before {wait_ms} ms"
        pass_ms(world, 1)
        asked += 1
        assert broken.asked == asked
        wait_ms = min(2 * wait_ms, LONGEST_BACK_OFF_MS)
    broken.set(UniformConsumerAssignor().assign)
    pass_ms(world, wait_ms - 1)
    world.pass_ms(1)
    assert world.group.assignment_epoch == 3
    assert world.beat("a", 2, "A0 A1 A2 A3").brief == (2, "A0 A1")
    assert world.describe(with_history=True).error_message is None


def test_it_is_tried_again_where_the_group_was_classic_and_its_first_rebalance_went_on() -> None:
    """Seed 404235: nobody was ever assigned anything, since the failed assignment was taken for the first one."""
    broken = Installed()
    broken.set(raises)
    world = with_assignor(broken)
    classic = Classic(world, member_id="")
    waits = classic.send_join()
    assert waits not in world.answers, "the first rebalance of a group waits for others"
    assert world.join("n", server_assignor="broken", connection=2).brief == (1, "")
    assert classic.joined(waits) is ErrorCode.REBALANCE_IN_PROGRESS
    classic.member_id = next(each for each in world.group.members if each != "n")
    assert classic.come() == ""
    broken.set(UniformConsumerAssignor().assign)
    world.pass_ms(BACK_OFF_MS)
    assert world.beat("n", 1, "", connection=2).brief == (2, "A2 A3")
    assert classic.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    assert classic.come() == "A0 A1"


def test_whoever_joins_has_an_epoch_even_if_nothing_was_ever_assigned() -> None:
    """At epoch 0 it would join again, and some clients end with an error."""
    broken = Installed()
    broken.set(raises)
    world = with_assignor(broken)
    assert world.join("a", server_assignor="broken").brief == (1, "")
    assert world.beat("a", 1, "").brief == (1, None)
    assert (world.group.epoch, world.describe().group_state) == (2, "Assigning")
    broken.set(UniformConsumerAssignor().assign)
    world.pass_ms(BACK_OFF_MS)
    assert world.beat("a", 1, "").brief == (2, "A0 A1 A2 A3")


def test_so_has_who_subscribes_to_nothing() -> None:
    broken = Installed()
    broken.set(raises)
    world = with_assignor(broken)
    assert world.join("a", "", server_assignor="broken").brief == (1, "")
    broken.set(UniformConsumerAssignor().assign)
    assert world.beat("a", 1, "", subscribed_topic_names=["A"]).brief == (2, "A0 A1 A2 A3")


def test_a_change_is_tried_at_once() -> None:
    broken, world = failing()
    broken.set(UniformConsumerAssignor().assign)
    world.leave("b", connection=2)
    assert (world.group.epoch, world.group.assignment_epoch) == (4, 4)


def test_a_loaded_group_tries_at_once_and_keeps_its_targets() -> None:
    broken, world = failing()
    world.restart()
    assert world.row() == (3, {"a": "2 STABLE A0 A1 A2 A3", "b": "0 STABLE"})
    assert "KeyError" in str(world.describe(with_history=True).error_message)
    broken.set(UniformConsumerAssignor().assign)
    world.restart()
    assert world.group.assignment_epoch == 3


def test_what_it_gives_is_kept_as_it_was_given() -> None:
    """Whatever becomes of its own sets, and however often they can be read."""
    broken = Installed()
    given: dict[str, dict[bytes, set[int]]] = {}

    def keeps(group: SubscribedGroup) -> ConsumerTargets:
        given.clear()
        given["a"] = {topic: set(range(count)) for topic, count in group.topics.items()}
        return given

    broken.set(keeps)
    world = with_assignor(broken)
    assert world.join("a", server_assignor="broken").brief == (2, "A0 A1 A2 A3")
    for numbers in given["a"].values():
        numbers.clear()
    broken.set(gives_once)
    assert world.join("b", connection=2, server_assignor="broken").brief == (3, "")
    assert world.beat("a", 2, "A0 A1 A2 A3").brief == (3, None)


def test_who_wishes_for_it_is_told_its_name_if_it_is_not_there() -> None:
    world = with_assignor(Installed())
    told = world.join("a", server_assignor="brokn")
    assert told.error is ErrorCode.UNSUPPORTED_ASSIGNOR
    assert "there are uniform, broken" in str(told.response.error_message)


# -- racks -------------------------------------------------------------------------------------------------------------


def home_rack() -> Any:
    """The example of the documentation."""
    return examples(DOCUMENT)["HomeRackAssignor"]()


def test_the_documents_example_gives_all_to_those_at_home() -> None:
    world = with_assignor(home_rack())
    wishes = {"server_assignor": "home-rack"}
    assert world.join("a", **AWAY, **wishes).brief == (2, "A0 A1 A2 A3")
    assert world.join("b", connection=2, **HOME, **wishes).brief == (3, "")
    assert world.beat("a", 2, "A0 A1 A2 A3").brief == (2, "")
    assert world.beat("a", 2, "").brief == (3, None)
    assert world.beat("b", 3, "", connection=2).brief == (3, "A0 A1 A2 A3")
    world.leave("b", connection=2)
    assert world.beat("a", 3, "").brief == (4, "A0 A1 A2 A3")


@pytest.mark.parametrize(
    ("wish", "then"), [({"server_assignor": "home-rack"}, 3), ({}, 2)], ids=["racks are read", "they are not"]
)
@pytest.mark.parametrize("instance_id", [None, "i"], ids=["the same process", "a static member's next one"])
def test_a_consumer_that_moves_counts_where_racks_are_read(
    wish: Mapping[str, str], then: int, instance_id: str | None
) -> None:
    world = with_assignor(home_rack())
    world.join("a", instance_id=instance_id, **HOME, **wish)
    assert world.group.epoch == 2
    if instance_id is None:
        world.beat("a", 2, **AWAY)
    else:
        world.beat("a", -2, instance_id=instance_id)
        world.join("a2", instance_id=instance_id, **AWAY, **wish)
    assert world.group.epoch == then
    assert world.group.reason.startswith("rack changed: a") is (then == 3)
