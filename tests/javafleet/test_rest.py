"""What does a user of Connect's REST interface see while work moves by drains, and after it?

docs/classic-workers.md says what came of it. A proof: `test_drains.py` restarts tasks by REST at each commit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from tests.javafleet.conftest import StageMaker
from tests.javafleet.fleet import DEADLINE_S
from tests.javafleet.rest_probe import ALL, STATUS, TASK, Answer, RestProbe, summary
from tests.javafleet.test_drains import DELAY_S, LEADER_WAIT_MS, WORKERS, all_are_restarted
from tests.kafka.wait import NotYet, eventually

LONGEST_S = 30
"""After so long without an answer Connect itself gives up a request that it has forwarded."""
NOT_FOUND, CONFLICT, FAILED = 404, 409, 500
FORWARDING = "IO Error trying to forward REST request"
"""What Connect says where the worker that it forwards to, its leader or who runs the task, is not there."""
LOOK_S = 90
"""In this time after the rest, a minute and a while, the leader has been shown who runs what (CM-49)."""
REQUESTS = {"all": (STATUS, TASK, ALL), "nothing that Connect writes down": (STATUS, TASK)}
"""A restart of a connector with its tasks is a record of the configuration topic, so the leader is asked again, and is
shown who runs what. Without such requests the leader goes for longer by what it was shown last.
"""


@pytest.mark.proof
@pytest.mark.parametrize("requests", REQUESTS.values(), ids=REQUESTS)
def test_rest_while_all_are_restarted_by_drains(make_stage: StageMaker, requests: Sequence[str]) -> None:
    """No request hangs. What fails is a conflict (CM-42, CM-54), or a worker that is being restarted was to answer it
    (CM-55). As soon as the leader has been shown who runs what, nothing fails (CM-35).
    """
    stage = make_stage("asked", DELAY_S)
    fleet = stage.fleet
    fleet.start(*WORKERS)
    for name in ("a", "b", "c"):
        fleet.create(name, 3)
    fleet.wait_until_quiet()
    stage.ask("config", "set", f"connect.classic.leader.wait.ms={LEADER_WAIT_MS}")

    probe, moving, resting = RestProbe(fleet, requests), list[Answer](), list[Answer]()
    all_are_restarted(stage, probe.asking(moving))
    leader = fleet.workers[fleet.leader()]
    joins, by_s = len(leader.joins()), time.monotonic() + LOOK_S

    def all_succeed() -> bool:
        resting.extend(found := list(probe.sweep()))
        if failed := [answer for answer in found if not answer.is_success]:
            raise NotYet(summary(failed))
        return True

    eventually(lambda: len(leader.joins()) > joins or time.monotonic() > by_s, "the look after the rest", every_s=1)
    eventually(all_succeed, "every request succeeds", deadline_s=DEADLINE_S, every_s=1)
    print(f"while work moved:\n{summary(moving)}\nafter it:\n{summary(resting)}")
    check_no_surprises(probe, [*moving, *resting])
    fleet.wait_until_quiet()
    stage.check_soundness()


def check_no_surprises(probe: RestProbe, answers: list[Answer]) -> None:
    """Nothing hung or failed in another way than these."""
    assert max(answer.took_s for answer in answers) < LONGEST_S, summary(answers)
    surprises = [
        answer
        for answer in answers
        if not answer.is_success
        and answer.status not in (NOT_FOUND, CONFLICT)
        and not (answer.status == FAILED and FORWARDING in answer.text and probe.someone_was_away(answer))
    ]
    assert not surprises, summary(surprises)
