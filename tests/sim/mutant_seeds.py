"""Does some run of the simulator notice a mutant? The seed that showed it last time is asked first.

These seeds stand in `mutant_seeds.json`, and save hundreds of runs. If one shows its mutant no longer, all seeds are
tried, as for a mutant that is not in the file. When that has made the tests slow, `python -m tests.sim.mutant_seeds`
writes the file again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path

from kcoord.sim.basis.outcome import Outcome
from kcoord.sim.plans.plan_file import RunPlan, load
from kcoord.sim.series.run import run_plan
from tests.sim.mutants import Mutant, put_in

HERE = Path(__file__).parent
FILE = HERE / "mutant_seeds.json"
LAST_TIME: dict[str, int] = json.loads(FILE.read_text())
FOUND: dict[str, int] = {}
"""By mutant, the seed that has shown it in this process."""


def name_of(mutant: Mutant, kind: str) -> str:
    """What a mutant is called in the file."""
    return f"{kind} {mutant.name}".strip()


def is_noticed(mutant: Mutant, seeds: Iterable[int], run_of: Callable[[int], RunPlan], kind: str = "") -> bool:
    """Whether one of these seeds shows it, or the plan that is known to do so."""
    if mutant.plan:
        plan = load(HERE / "plans" / f"{mutant.plan}.json")
        return _shows(mutant, lambda: run_plan(plan))
    return is_noticed_in(mutant, seeds, lambda seed: run_plan(run_of(seed)), kind)


def is_noticed_in(mutant: Mutant, seeds: Iterable[int], run: Callable[[int], Outcome], kind: str) -> bool:
    """The same of runs that have no plan."""
    name = name_of(mutant, kind)
    last_time = [LAST_TIME[name]] if name in LAST_TIME else []
    shown = next((seed for seed in chain(last_time, seeds) if _shows(mutant, partial(run, seed))), None)
    if shown is not None:
        FOUND[name] = shown
    return shown is not None


def _shows(mutant: Mutant, run: Callable[[], Outcome]) -> bool:
    """Whether the run fails because of the mutant, and is well without it."""
    with put_in(mutant):
        fails = run().violation is not None
    return fails and run().violation is None


def main() -> None:
    """Find and write the seeds. Those of last time are asked first: some lie far above all others."""
    from tests.sim import (
        adoption_mutants,
        classic_mutants,
        consumer_mutants,
        mutants,
        placement_mutants,
        test_adoption,
        test_consumer,
        test_mutants,
        test_placement,
    )

    for each in mutants.MUTANTS:
        test_mutants.test_a_broken_rule_is_noticed(each)
    for each in classic_mutants.CLASSIC_MUTANTS:
        test_mutants.test_a_broken_rule_of_classic_workers_is_noticed(each)
    for kind, each in placement_mutants.PLACEMENT_MUTANTS:
        test_placement.test_a_promise_that_is_broken_is_noticed(kind, each)
    for each in consumer_mutants.CONSUMER_MUTANTS:
        test_consumer.test_a_broken_rule_is_noticed(each)
    for each in adoption_mutants.ADOPTION_MUTANTS:
        test_adoption.test_a_broken_rule_is_noticed(each)
    FILE.write_text(json.dumps(FOUND, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    from tests.sim import mutant_seeds  # the one whose seeds the tests note

    mutant_seeds.main()
