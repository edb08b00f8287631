"""Small parts on their own: the vote, a consumer's subscription, deadlines, the words of reasons."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcoord.group.classic.voting import elect_protocol, may_join
from kcoord.group.state.deadlines import NEVER_MS, Deadlines
from kcoord.group.state.groups.classic_group import ClassicGroup, Rebalance
from kcoord.group.state.groups.classic_member import ClassicMember
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.subscription import subscribed_topics

VOTES = [
    # what each member speaks, best first; what is chosen
    (["range"], "range"),
    (["range rr", "range rr"], "range"),
    (["range rr", "rr range", "rr range"], "rr"),
    (["range rr", "rr range"], "range"),
    (["rr range", "range rr"], "rr"),
    (["new old", "old"], "old"),
    (["a b c", "c b", "b c a"], "b"),
    (["a b c", "c b", "c b a"], "c"),
]


def group_of(speakers: list[str]) -> ClassicGroup:
    """A stable group whose members speak these protocols."""
    group = ClassicGroup("g", state=ClassicState.STABLE, protocol_type="consumer")
    for at, names in enumerate(speakers):
        protocols = tuple((name, b"") for name in names.split())
        group.add(ClassicMember(f"m{at}", None, "c", "/h", 1, 1, protocols))
    return group


@pytest.mark.parametrize(("speakers", "chosen"), VOTES)
def test_most_votes_win_among_what_all_speak(speakers: list[str], chosen: str) -> None:
    assert elect_protocol(group_of(speakers)) == chosen


@pytest.mark.parametrize(
    ("speakers", "protocol_type", "offer", "may"),
    [
        ([], "consumer", "range", True),
        (["range rr"], "consumer", "rr", True),
        (["range rr", "rr"], "consumer", "range", False),
        (["range rr", "rr"], "consumer", "x rr", True),
        (["range"], "connect", "range", False),
        (["range"], "consumer", "", False),
    ],
)
def test_whoever_shares_no_protocol_with_all_others_may_not_join(
    speakers: list[str], protocol_type: str, offer: str, may: bool
) -> None:
    group = group_of(speakers)
    assert may_join(group, protocol_type, tuple((name, b"") for name in offer.split())) == may


@given(st.lists(st.lists(st.sampled_from("abcd"), unique=True, min_size=1), min_size=1, max_size=6))
def test_whoever_may_join_leaves_something_to_choose(offers: list[list[str]]) -> None:
    group = group_of([])
    for at, names in enumerate(offers):
        protocols = tuple((name, b"") for name in names)
        if not group.members or may_join(group, "consumer", protocols):
            group.add(ClassicMember(f"m{at}", None, "c", "/h", 1, 1, protocols))
        chosen = elect_protocol(group)
        assert all(chosen in dict(member.protocols) for member in group.members.values())


def subscription(version: int, topics: list[str], behind: bytes) -> bytes:
    """A consumer's metadata up to its user data, and what later versions have behind it."""
    names = b"".join(len(name.encode()).to_bytes(2, "big") + name.encode() for name in topics)
    return version.to_bytes(2, "big") + len(topics).to_bytes(4, "big") + names + behind


NO_DATA = b"\xff\xff\xff\xff"


@given(st.lists(st.lists(st.text(max_size=20), max_size=5), max_size=4), st.integers(0, 3), st.binary(max_size=20))
def test_subscriptions_of_all_versions_are_read(members: list[list[str]], version: int, more: bytes) -> None:
    metadata = [subscription(version, topics, NO_DATA + more * (version > 0)) for topics in members]
    assert subscribed_topics(metadata) == frozenset(topic for topics in members for topic in topics)


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"\0",
        b"\0\0",
        b"\0\0\0\0\0",
        b"\0\0\xff\xff\xff\xff" + NO_DATA,
        b"\0\0\x7f\xff\xff\xff" + NO_DATA,
        subscription(0, ["t"], b""),
        subscription(0, ["t"], b"\0\0\0\5abcd"),
        subscription(0, ["t"], b"\x80\0\0\0"),
        b"\0\0\0\0\0\1\xff\xff" + NO_DATA,
        b"\0\0\0\0\0\1\0\1\xff" + NO_DATA,
    ],
)
def test_one_that_cannot_be_read_tells_nothing_of_the_group(metadata: bytes) -> None:
    assert subscribed_topics([subscription(0, ["t"], NO_DATA), metadata]) is None


@given(st.binary(max_size=60))
def test_no_bytes_make_it_fail(metadata: bytes) -> None:
    assert isinstance(subscribed_topics([metadata]), (frozenset, type(None)))


@attrs.define(eq=False)
class Sleeper:
    """Somebody who wants to be looked at."""

    wake_ms: int = NEVER_MS


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), max_size=40))
def test_everyone_is_looked_at_in_time_and_once(wishes: list[tuple[int, int]]) -> None:
    deadlines: Deadlines[Sleeper] = Deadlines()
    sleepers = [Sleeper() for _ in range(4)]
    earliest: dict[int, int] = {}
    for who, at_ms in wishes:
        deadlines.want(sleepers[who], at_ms)
        earliest[who] = min(earliest.get(who, NEVER_MS), at_ms)
    assert deadlines.next_ms() == min(earliest.values(), default=None)
    for now_ms in range(51):
        looked_at = sorted(sleepers.index(sleeper) for sleeper in deadlines.due(now_ms))
        assert looked_at == sorted(who for who, at_ms in earliest.items() if at_ms == now_ms)
    assert deadlines.next_ms() is None


def test_whoever_is_gone_is_not_looked_at() -> None:
    deadlines: Deadlines[Sleeper] = Deadlines()
    gone, there = Sleeper(), Sleeper()
    deadlines.want(gone, 1)
    deadlines.want(there, 2)
    gone.wake_ms = NEVER_MS
    assert deadlines.next_ms() == 2
    deadlines.clear()
    assert deadlines.next_ms() is None


@pytest.mark.parametrize(
    ("who", "given_reason", "text"),
    [
        (["a"], None, "member left: a"),
        (["a"], "", "member left: a"),
        (["a", "b"], "bye", 'member left: a, b ("bye")'),
        (["a", "b", "c", "d", "e"], None, "member left: a, b, c and 2 more"),
        (["a"], "x" * 1000, f'member left: a ("{"x" * 255}")'),
    ],
)
def test_a_reason_is_short_whoever_gave_it(who: list[str], given_reason: str | None, text: str) -> None:
    assert tell(Reason.LEFT, who, given_reason) == text


def test_many_causes_are_counted() -> None:
    rebalance = Rebalance(reasons=["a"], since_wall_ms=0, initial=False)
    for cause in "bcdefg":
        rebalance.note(cause)
    assert rebalance.tell() == "a; b; c; d; e; and 2 more"
