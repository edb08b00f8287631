"""The running of many seeds, and the commands that replay one that fails.

A seed and a kind of run make one run. If no kind is named, each seed has a kind of its own: every fourth is mixed.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

import attrs

from kcoord.sim.basis.garbage_collection import no_collection
from kcoord.sim.basis.outcome import Outcome
from kcoord.sim.basis.run_kinds import ADOPTION, CLASSIC, CONNECT, CONSUMER, INSTANCES, MIXED
from kcoord.sim.basis.trace import Sink
from kcoord.sim.classic.world import ClassicWorld
from kcoord.sim.consumer.world import ConsumerWorld
from kcoord.sim.course import Course
from kcoord.sim.instances.world import InstancesWorld
from kcoord.sim.mixed.world import MixedWorld
from kcoord.sim.plans.plan import Fault
from kcoord.sim.plans.plan_file import RunPlan, draw_run_plan
from kcoord.sim.release.world import ReleaseWorld
from kcoord.sim.series.branches import Count, count_branches
from kcoord.sim.series.journal import EACH, Journal, Range, tree
from kcoord.sim.world import World

CHUNK = 20
"""How many seeds one process takes at a time."""


WORLDS: Mapping[str, type[Course]] = {
    CONNECT: World,
    MIXED: MixedWorld,
    CLASSIC: ClassicWorld,
    INSTANCES: InstancesWorld,
    CONSUMER: ConsumerWorld,
}
"""The kinds of runs: only workers of the new protocol; classic workers beside them; classic groups, of Java's workers
and kcoord's, as Kafka's own coordinator has them; the first kind in front of several instances; and consumer groups.
"""


_BESIDE = "beside "


def beside(site: Path) -> str:
    """The kind of runs in which the release in the directory `site` takes part too."""
    return f"{_BESIDE}{site}"


def is_mixed(seed: int) -> bool:
    """Whether classic workers take part if no kind is named: in every fourth seed."""
    return seed % 4 == 3


def kind_of(seed: int) -> str:
    """The kind of a seed if none is named."""
    return MIXED if is_mixed(seed) else CONNECT


def run_seed(seed: int, sink: Sink | None = None, kind: str | None = None) -> Outcome:
    """The run that is drawn for a seed. `sink` gets the lines of its trace. Raises KeyError for an unknown kind."""
    with no_collection():
        if kind is not None and kind.startswith(_BESIDE):
            return ReleaseWorld(seed, Path(kind.removeprefix(_BESIDE)), sink).run()
        if kind == ADOPTION:
            from kcoord.sim.adoption.world import AdoptionWorld  # only these runs need them

            return AdoptionWorld(seed, sink).run()
        return WORLDS[kind or kind_of(seed)](seed, sink).run()


def run_plan(plan: RunPlan, sink: Sink | None = None) -> Outcome:
    """The run of a plan file. `sink` gets the lines of its trace."""
    with no_collection():
        return WORLDS[plan.kind](plan.seed, sink, plan).run()


def plan_of(seed: int, kind: str | None = None) -> RunPlan:
    """Everything that is decided before the run of this seed begins. `kind` None: the seed's own kind."""
    drawn = draw_run_plan(seed, kind or kind_of(seed))
    if drawn.kind != INSTANCES:
        return drawn
    return attrs.evolve(drawn, instances=InstancesWorld(seed).instances)


def struck_faults(plan: RunPlan) -> tuple[Outcome, tuple[Fault, ...]]:
    """The run of a plan, and the faults that struck in it, each with a seed of its own."""
    with no_collection():
        world = WORLDS[plan.kind](plan.seed, None, plan)
        return world.run(), tuple(world.faults.struck)


def run_seeds(
    seeds: Iterable[int], jobs: int = 1, kind: str | None = None, *, branches: bool = False
) -> Iterator[Outcome]:
    """Many runs on `jobs` cores, in no order. With `branches`, the outcomes also name the branches of the engine."""
    if jobs > 1:
        with _pool(jobs, branches) as pool:
            yield from pool.imap_unordered(partial(_run_counted if branches else run_seed, kind=kind), seeds, CHUNK)
    elif branches:
        _begin_count()
        try:
            yield from map(partial(_run_counted, kind=kind), seeds)
        finally:
            _end_count()
    else:
        yield from map(partial(run_seed, kind=kind), seeds)


_counts: list[Count] = []
"""The count of this process, while it counts branches."""


def _begin_count() -> None:
    _counts.append(count_branches())


def _end_count() -> None:
    _counts.pop().end()


def _run_counted(seed: int, sink: Sink | None = None, kind: str | None = None) -> Outcome:
    outcome = run_seed(seed, sink, kind)
    return attrs.evolve(outcome, met=outcome.met | _counts[-1].take())


def soak_seeds(
    journal: Journal, wanted: Range, jobs: int = 1, kind: str | None = None, *, branches: bool = False
) -> Iterator[Outcome]:
    """Run those of the `wanted` seeds that the journal does not have for these sources, and add them to it."""
    blocks = journal.remaining(tree(), kind or EACH, wanted)
    begins = [block.seeds[0] for block in blocks]
    seeds = chain.from_iterable(range(*block.seeds) for block in blocks)
    for outcome in run_seeds(seeds, jobs, kind, branches=branches):
        block = blocks[bisect_right(begins, outcome.seed) - 1]
        block.add(outcome)
        if block.complete:
            journal.add(block)
        yield outcome


@contextmanager
def _pool(jobs: int, branches: bool) -> Iterator[multiprocessing.pool.Pool]:
    # spawned, not forked: a run must not depend on what the parent process has done
    with multiprocessing.get_context("spawn").Pool(jobs, _begin_count if branches else None) as pool:
        yield pool


def replay_command(seed: int, kind: str | None = None) -> str:
    """The command that shows the same run again, line by line."""
    option = "" if kind is None else f" --{kind}" if kind.startswith(_BESIDE) else f" --kind {kind}"
    return f"kcoord sim --seed {seed}{option} --trace"


def replay_plan_command(path: Path) -> str:
    """The same for a plan file."""
    return f"kcoord sim --plan {path} --trace"
