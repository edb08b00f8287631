"""What does a consumer do with what its client-side assignors return and raise?"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kcoord.assign.consumer import (
    ClientSideAssignor,
    ConsumerAssignment,
    ConsumerMemberAssignment,
    Metadata,
    PreparedGroup,
)
from kcoord.consumer import ConsumerError
from kcoord.consumer.assignor_calls import AssignorCalls
from kcoord.worker.setup import Offer
from tests.consumer.hand import SETUP
from tests.kafka.wait import DEADLINE_S
from tests.repository import ROOT

GROUP = PreparedGroup((), {})
NOTHING = ConsumerAssignment(())


class Scripted(ClientSideAssignor):
    """It returns what the test has put there; an exception is raised."""

    minimum_version = -1
    maximum_version = 4

    def __init__(self, name: str, says: Any = None, gives: Any = NOTHING) -> None:
        self.name = name
        self.says = says or Metadata(3, 4, b"m")
        self.gives = gives
        self.told: list[ConsumerMemberAssignment] = []

    def metadata(self) -> Metadata:
        if isinstance(self.says, Exception):
            raise self.says
        assert isinstance(self.says, Metadata)
        return self.says

    def assign(self, group: PreparedGroup) -> Any:
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives

    def on_assignment(self, assignment: ConsumerMemberAssignment) -> None:
        self.told.append(assignment)


def test_what_the_coordinator_is_told_of_them_is_in_their_order() -> None:
    calls = AssignorCalls([Scripted("b"), Scripted("a", Metadata())], SETUP)
    assert calls.offers() == (Offer("b", -1, 4, 3, 4, b"m"), Offer("a", -1, 4, 0, 0, b""))


@pytest.mark.parametrize("says", [LookupError("no such place"), Metadata(version=1 << 20)])
def test_metadata_that_fail_at_the_start_are_an_error(says: object) -> None:
    with pytest.raises(ConsumerError, match="the metadata of an assignor failed: "):
        AssignorCalls([Scripted("own", says)], SETUP)


@pytest.mark.parametrize("says", [LookupError("no such place"), Metadata(version=1 << 20)])
def test_metadata_that_fail_later_are_logged_once_and_the_last_ones_count(
    says: object, caplog: pytest.LogCaptureFixture
) -> None:
    assignor = Scripted("own")
    calls = AssignorCalls([assignor], SETUP)
    before = calls.offers()
    assignor.says = says
    assert [calls.offers(), calls.offers()] == [before, before]
    assert len([each for each in caplog.records if "the last values stay in force" in each.message]) == 1
    assignor.says = Metadata(metadata=b"n")
    assert calls.offers() == (Offer("own", -1, 4, 0, 0, b"n"),)


async def test_the_assignor_that_the_coordinator_names_computes() -> None:
    given = ConsumerAssignment((ConsumerMemberAssignment("c1", {bytes(16): {2, 1}}),))
    calls = AssignorCalls([Scripted("other", gives=LookupError()), Scripted("own", gives=given)], SETUP)
    assert await calls.assign("own", GROUP) is given


@pytest.mark.parametrize(
    ("gives", "text"),
    [
        (LookupError("no such place"), "no such place"),
        (None, "it returned None, which is no ConsumerAssignment"),
        ({"c1": {}}, "it returned {'c1': {}}, which is no"),
        (ConsumerAssignment((), error=1_000), ""),
        (ConsumerAssignment((ConsumerMemberAssignment("c1", {b"short": {1}}),)), "TopicId is not 16 bytes long"),
        (ConsumerAssignment((ConsumerMemberAssignment("c1", version=1 << 20),)), ""),
    ],
)
async def test_what_cannot_be_sent_is_no_assignment(gives: object, text: str, caplog: pytest.LogCaptureFixture) -> None:
    calls = AssignorCalls([Scripted("own", gives=gives)], SETUP)
    assert await calls.assign("own", GROUP) is None
    assert "assignor own failed" in caplog.text
    assert text in caplog.text


async def test_an_assignor_does_not_wait_behind_other_work_of_the_program() -> None:
    is_over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        asyncio.get_running_loop().set_default_executor(pool)
        work = asyncio.create_task(asyncio.to_thread(is_over.wait))
        try:
            async with asyncio.timeout(DEADLINE_S):
                assert await AssignorCalls([Scripted("own")], SETUP).assign("own", GROUP) is NOTHING
        finally:
            is_over.set()
            await work


HANGS = """
import asyncio, time
from tests.consumer.test_assignor_calls import GROUP, SETUP, AssignorCalls, Scripted

class Hanging(Scripted):
    def assign(self, group):
        print("assigns", flush=True)
        while True:
            time.sleep(0.01)

async def main():
    assigning = asyncio.create_task(AssignorCalls([Hanging("own")], SETUP).assign("own", GROUP))
    await asyncio.sleep(0.1)
    assigning.cancel()

asyncio.run(main())
"""


def test_an_assignor_that_hangs_does_not_keep_the_program_from_its_end() -> None:
    command = [sys.executable, "-c", HANGS]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    assert ended.stdout == "assigns\n"


async def test_an_assignor_that_is_not_there_computes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert await AssignorCalls([Scripted("own")], SETUP).assign("other", GROUP) is None
    assert "was asked to assign with 'other', which this consumer does not have" in caplog.text


def test_the_assignor_that_was_named_last_is_told_or_the_only_one() -> None:
    one, other = Scripted("one"), Scripted("other")
    told = ConsumerMemberAssignment("c1")
    AssignorCalls([one, other], SETUP).tell("other", told)
    AssignorCalls([one, other], SETUP).tell(None, told)
    assert (one.told, other.told) == ([], [told])
    AssignorCalls([one], SETUP).tell(None, told)
    AssignorCalls([one], SETUP).tell("gone", told)
    assert one.told == [told]
