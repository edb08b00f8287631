"""Do kcoord's workers of the classic protocol come to rest beside Java's, on a coordinator like Kafka's own?"""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.sim.basis.run_kinds import CLASSIC
from kcoord.sim.series.run import replay_command, run_seed, run_seeds
from kcoord.worker.classic import membership, owning, transitions
from kcoord.worker.classic.state import ClassicMembershipState

SEEDS = 40


def test_no_seed_finds_anything() -> None:
    failed = [each for each in run_seeds(range(SEEDS), kind=CLASSIC) if each.violation is not None]
    told = [f"{replay_command(each.seed, CLASSIC)}  # {each.violation}" for each in failed]
    assert not failed, "\n".join(told)


def _waits_for_ever(self: membership.ClassicMembership, now_ms: int) -> None:
    """For a revocation that never ends: it sends heartbeats, and what it was to give up runs nowhere else."""


def _joins_while_it_stops(self: ClassicMembershipState) -> bool:
    return self.phase.name == "WANTS_ROUND"


def _keeps_what_it_may_have_lost(state: ClassicMembershipState, now_ms: int, why: str, after: Any) -> None:
    state.under_way = None
    state.generation, state.ran, state.phase = -1, False, after


def _joins_again_and_again(state: ClassicMembershipState, told: Any, news: bool) -> None:
    _take(state, told, news)
    owning.want_round(state)


_take = transitions._take


@pytest.mark.long("each mistake takes dozens of runs")
@pytest.mark.parametrize(
    ("owner", "name", "wrong", "says"),
    [
        (membership.ClassicMembership, "_watch_revocations", _waits_for_ever, "liveness"),
        (ClassicMembershipState, "free", property(_joins_while_it_stops), "one owner|liveness"),
        (owning, "abandon", _keeps_what_it_may_have_lost, "one owner|overrun|liveness|zombie"),
        (transitions, "_take", _joins_again_and_again, "liveness|storm"),
    ],
    ids=["waits for ever", "joins while it stops", "keeps what it may have lost", "joins again and again"],
)
def test_a_worker_that_is_wrong_is_found(owner: Any, name: str, wrong: Any, says: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, wrong)
        for seed in range(4 * SEEDS):
            found = run_seed(seed, kind=CLASSIC).violation
            if found is not None:
                assert any(word in str(found) for word in says.split("|")), (seed, found)
                return
    raise AssertionError(f"{4 * SEEDS} seeds are well")
