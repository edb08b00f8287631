"""How many steps of the protocol does the simulator take in a second of one core?

A step is one call of the shard: a request, a timer, the end of a load. What the hot path answers is not counted, nor is
any of the work around a step left out: the workers' own logic, the network, the log, and the checks after each step.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

from bench.results import Claim, Outcome, Table
from kcoord.sim.series.run import run_seed

ROUNDS, SEEDS = 5, 200
STEPS_A_SECOND = 20_000


def run(_folder: Path | None = None) -> Outcome:
    """The same seeds in each round."""
    rounds: list[float] = []
    steps = hot = 0
    virtual_ms = 0
    for _ in range(ROUNDS):
        began = time.process_time()
        outcomes = [run_seed(seed) for seed in range(SEEDS)]
        took_s = time.process_time() - began
        assert all(each.violation is None for each in outcomes)
        steps = sum(each.steps for each in outcomes)
        hot = sum(each.hot_answers for each in outcomes)
        virtual_ms = sum(each.virtual_ms for each in outcomes)
        rounds.append(steps / took_s)
    measured = median(rounds)
    return Outcome(
        title="Simulator",
        how=f"CPU time of {SEEDS} seeds of mixed size, {ROUNDS} times over, on one core.",
        claims=[
            Claim(
                "steps of the protocol that the simulator takes in a second",
                f"≥ {STEPS_A_SECOND:,}",
                f"{measured:,.0f}",
                measured >= STEPS_A_SECOND,
            )
        ],
        tables=[
            Table(
                [
                    "seeds",
                    "steps",
                    "answers of the hot path beside",
                    "virtual time",
                    "steps a second, least / greatest",
                ],
                [
                    [
                        f"{SEEDS}",
                        f"{steps:,}",
                        f"{hot:,}",
                        f"{virtual_ms / 3_600_000:.1f} h",
                        f"{min(rounds):,.0f} / {max(rounds):,.0f}",
                    ]
                ],
            )
        ],
    )
