"""Do Python consumers compute their group's assignment, with a kcoord that allows it? (KG-27)"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from kcoord.assign.consumer import (
    ClientSideAssignor,
    ConsumerAssignment,
    ConsumerMemberAssignment,
    Metadata,
    PreparedGroup,
)
from kcoord.consumer import Consumer, ConsumerError
from kcoord.consumer.errors import refusal
from kcoord.consumer.setup import Setup
from kcoord.protocol.errors import ErrorCode
from tests.consumer.conftest import QUICK
from tests.consumer.reader import Reader, partitions_of, until, until_shared
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import DEADLINE_S

ALL = partitions_of("work", 6)
WORK: dict[str, Any] = {"topics": ["work"]}


@pytest.fixture(scope="module")
def kcoord(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """A kcoord that takes client-side assignors."""
    settings = {"topics": "work:6", **QUICK, "group.consumer.client.assignors.enable": "true"}
    kcoord = Kcoord(tmp_path_factory.mktemp("kcoord"), settings=settings)
    yield kcoord.start()
    kcoord.remove()


class Most(ClientSideAssignor):
    """All goes to the member that says most; each one is told how many members there were."""

    name = "most"

    def __init__(self, says: int) -> None:
        self.says = says
        self.computed = 0
        self.told: list[ConsumerMemberAssignment] = []

    def metadata(self) -> Metadata:
        return Metadata(metadata=b"x" * self.says)

    def assign(self, group: PreparedGroup) -> ConsumerAssignment:
        self.computed += 1
        first = max(group.members, key=lambda each: (len(each.metadata), each.member_id))
        everything = {topic: frozenset(range(count)) for topic, count in group.topics.items()}
        count = str(len(group.members)).encode()
        return ConsumerAssignment(
            tuple(
                ConsumerMemberAssignment(each.member_id, everything if each is first else {}, 0, count)
                for each in group.members
            )
        )

    def on_assignment(self, assignment: ConsumerMemberAssignment) -> None:
        self.told.append(assignment)


class Failing(Most):
    """It raises an exception."""

    def assign(self, group: PreparedGroup) -> ConsumerAssignment:
        self.computed += 1
        raise LookupError("no such place")


class Forgetful(Most):
    """It gives nothing to anybody."""

    def assign(self, group: PreparedGroup) -> ConsumerAssignment:
        self.computed += 1
        return ConsumerAssignment(())


def reader(kcoord: Kcoord, group: str, name: str, assignor: ClientSideAssignor | None, **options: Any) -> Reader:
    """A program with this assignor. kcoord chooses the first one by name that can compute."""
    assignors = [] if assignor is None else [assignor]
    return Reader(kcoord.bootstrap, group, client_id=name, assignors=assignors, **WORK, **options)


async def test_consumers_compute_and_another_one_does_when_the_first_one_leaves(kcoord: Kcoord, group: str) -> None:
    one, two, three = Most(1), Most(2), Most(1)
    async with reader(kcoord, group, "a", one) as first:
        await until_shared([6], ALL, first)
        async with reader(kcoord, group, "b", two) as second:
            await until_shared([0, 6], ALL, first, second)
            assert two.computed == 0
            await until(lambda: two.told[-1].metadata == b"2", "it is told what the other one computed")
            await until(lambda: one.told[-1].metadata == b"2", "who has had to let go of everything is told as well")
            assert one.told[-1].target == {}
            await first.pause()
            await first.consumer.close()
            await until(lambda: two.computed > 0, "it is chosen in its turn")
            async with reader(kcoord, group, "c", three) as third:
                await until_shared([6, 0], ALL, second, third)
                two.says = 0
                await until_shared([0, 6], ALL, second, third)
    assert [len(each.called("on_lost")) for each in (first, second, third)] == [0, 0, 0]


async def test_who_fails_to_compute_is_followed_by_another_one(
    kcoord: Kcoord, group: str, caplog: pytest.LogCaptureFixture
) -> None:
    failing = Failing(5)
    async with reader(kcoord, group, "a", failing) as first, reader(kcoord, group, "b", Most(1)) as second:
        await until_shared([6, 0], ALL, first, second)
        assert failing.computed > 0
        assert any(each.exc_info and "assignor most failed" in each.message for each in caplog.records)


async def test_an_assignment_that_breaks_a_rule_is_refused_and_logged(
    kcoord: Kcoord, group: str, caplog: pytest.LogCaptureFixture
) -> None:
    forgetful = Forgetful(5)
    async with reader(kcoord, group, "a", forgetful) as first, reader(kcoord, group, "b", Most(1)) as second:
        await until_shared([6, 0], ALL, first, second)
        warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
        refused = f"group {group}: the computed assignment was refused with INVALID_ASSIGNMENT: "
        assert any(each.startswith(refused) and "assigned to nobody" in each for each in warnings)


async def test_where_one_lists_no_assignor_the_coordinator_assigns(kcoord: Kcoord, group: str) -> None:
    async with reader(kcoord, group, "a", Most(1)) as first, reader(kcoord, group, "b", Most(2)) as second:
        await until_shared([0, 6], ALL, first, second)
        async with reader(kcoord, group, "c", None) as third:
            await until_shared([2, 2, 2], ALL, first, second, third)
        await until_shared([0, 6], ALL, first, second)


async def test_static_members_compute_and_keep_their_share(kcoord: Kcoord, group: str) -> None:
    async with reader(kcoord, group, "a", Most(1), instance_id="one") as one:
        async with reader(kcoord, group, "b", Most(2), instance_id="two") as two:
            await until_shared([0, 6], ALL, one, two)
            notes = len(one.notes)
        async with reader(kcoord, group, "b", Most(2), instance_id="two") as again:
            await until_shared([0, 6], ALL, one, again)
            assert len(one.notes) == notes


async def test_a_restart_of_kcoord_changes_nothing(group: str, tmp_path: Any) -> None:
    settings = {"topics": "work:6", **QUICK, "group.consumer.client.assignors.enable": "true"}
    kcoord = Kcoord(tmp_path, settings=settings)
    try:
        kcoord.start()
        async with reader(kcoord, group, "a", Most(1)) as first, reader(kcoord, group, "b", Most(2)) as second:
            await until_shared([0, 6], ALL, first, second)
            notes = len(second.notes)
            await asyncio.to_thread(kcoord.kill_and_restart)
            async with reader(kcoord, group, "c", Most(3)) as third:
                await until_shared([0, 0, 6], ALL, first, second, third)
            assert len(second.notes) >= notes
            await until_shared([0, 6], ALL, first, second)
        assert first.called("on_lost") == second.called("on_lost") == []
    finally:
        kcoord.remove()


# Where it cannot be


async def test_a_kcoord_where_it_is_off_is_an_error(shared_kcoord: Kcoord, group: str) -> None:
    async with Consumer(shared_kcoord.bootstrap, group, assignors=[Most(1)], **WORK) as consumer:
        with pytest.raises(
            ConsumerError, match=r"UNSUPPORTED_ASSIGNOR: .*\(here most\)\. Set group\.consumer\.client\.assignors\."
        ):
            await consumer.getmany(DEADLINE_S)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (ErrorCode.UNSUPPORTED_ASSIGNOR, r"takes no client-side assignors from consumers \(here most, least\)\. Set "),
        (ErrorCode.UNSUPPORTED_VERSION, r"does not know client-side assignors of consumers \(here most, least\)\. Use"),
        (ErrorCode.GROUP_MAX_SIZE_REACHED, "group has as many members as it may"),
    ],
)
def test_a_refusal_says_what_to_do(code: ErrorCode, text: str) -> None:
    setup = Setup("g", "c1", topics=("work",), client_assignors=("most", "least"))
    with pytest.raises(ConsumerError, match=rf"^group g: {code.name}: it is off. The .*{text}"):
        raise refusal(setup, code, "it is off")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"assignors": [Most(1)], "server_assignor": "range"}, "assignors and server_assignor cannot be used together"),
        ({"assignors": [Most(1), Forgetful(1)]}, "give each name once, not most, most"),
        ({"assignors": ["most"]}, r"'most' is no kcoord\.assign\.consumer\.ClientSideAssignor"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConsumerError, match=text):
        Consumer("localhost:9092", "g", topics=["work"], **options)
