"""Is every seed well with several instances, and is it noticed when requests count by their arrival at the owner?"""

from __future__ import annotations

import pytest

import kcoord.group.state.groups.modern_member as member_module
from kcoord.group.state.connection_opening import Opening, Order
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext
from kcoord.sim.basis.run_kinds import INSTANCES
from kcoord.sim.series.run import replay_command, run_seed, run_seeds
from tests.light import fewer

SEEDS = fewer(100, 15)
PROOF_BLOCKS, PROOF_SEEDS = 20, 500
NOTICED_WITHIN = 60


def failures(seeds: range) -> list[str]:
    failed = [each for each in run_seeds(seeds, kind=INSTANCES) if each.violation is not None]
    return [f"{replay_command(each.seed, INSTANCES)}  # {each.violation}" for each in failed]


def test_no_seed_finds_anything() -> None:
    assert failures(range(SEEDS)) == []


@pytest.mark.proof
@pytest.mark.parametrize("block", range(PROOF_BLOCKS))
def test_no_seed_of_many_finds_anything(block: int) -> None:
    first = SEEDS + block * PROOF_SEEDS
    assert failures(range(first, first + PROOF_SEEDS)) == []


def by_arrival(number: int, opened: Opening | None, other: int, other_opened: Opening | None) -> Order:
    """As kcoord 0.1.0 has it: of a relayed request only its coming to the owner is known."""
    if number == other:
        return Order.SAME
    return Order.NEWER if number > other else Order.OLDER


def test_it_is_noticed_when_a_connection_is_as_old_as_its_first_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(member_module, "order", by_arrival)
        patched.setattr(ShardState, "is_of_before_load", is_numbered_before)
        caught = next((seed for seed in range(NOTICED_WITHIN) if run_seed(seed, kind=INSTANCES).violation), None)
    assert caught is not None
    assert run_seed(caught, kind=INSTANCES).violation is None


def is_numbered_before(state: ShardState, _group: ConnectGroup, context: RequestContext) -> bool:
    """As kcoord 0.1.0 has it: only what this process itself was asked before the load is of before."""
    return context.connection <= state.predecessor_connection
