"""How are many seeds run, and what is said of one that fails?"""

from __future__ import annotations

import gc
import multiprocessing
import multiprocessing.pool
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from kcoord.sim.mixed.world import MixedWorld
from kcoord.sim.plan_file import RunPlan
from kcoord.sim.trace import Sink
from kcoord.sim.world import Outcome, World

CHUNK = 20
"""Seeds that one process takes at a time."""


def is_mixed(seed: int) -> bool:
    """Whether legacy workers take part: every fourth seed."""
    return seed % 4 == 3


def run_seed(seed: int, sink: Sink | None = None) -> Outcome:
    """The run that is drawn for a seed; `sink` gets the lines of its trace."""
    with _no_collection():
        kind = MixedWorld if is_mixed(seed) else World
        return kind(seed, sink).run()


def run_plan(plan: RunPlan, sink: Sink | None = None) -> Outcome:
    """The run of a plan file; `sink` gets the lines of its trace."""
    with _no_collection():
        kind = World if plan.mix is None else MixedWorld
        return kind(plan.seed, sink, plan).run()


@contextmanager
def _no_collection() -> Iterator[None]:
    """A run makes few cycles and is short."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def run_seeds(seeds: Iterable[int], jobs: int = 1) -> Iterator[Outcome]:
    """Many runs, on so many cores, in no order."""
    if jobs <= 1:
        yield from map(run_seed, seeds)
        return
    with _pool(jobs) as pool:
        yield from pool.imap_unordered(run_seed, seeds, CHUNK)


@contextmanager
def _pool(jobs: int) -> Iterator[multiprocessing.pool.Pool]:
    # spawned, not forked: a run must not depend on what the parent has done
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield pool


def replay_command(seed: int) -> str:
    """What shows the same run again, line by line."""
    return f"kcoord sim --seed {seed} --trace"
