"""`make policies`: the figures and plots of docs/policies.md, by simulation. No clock, no machine is in them.

All scenarios that come with kcoord, each kind of group by each policy, the median of so many seeds. What people read
around the figures is written by hand: only what stands between the marks is replaced.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median_low
from typing import TypeAlias

from kcoord.sim.scenario import POLICIES, Figures, Kind, built_in, load, run

SEEDS = range(3)
DOCUMENT = Path(__file__).parents[1] / "docs" / "policies.md"
PLOTS = DOCUMENT.with_suffix("")
BEGIN, END = "<!-- made by make policies -->", "<!-- until here -->"
COLOURS = dict(zip(POLICIES, ("#999999", "#4477aa", "#228833", "#ccbb44", "#ee6677"), strict=True))
KINDS: Mapping[Kind, str] = {
    Kind.BARRIER: "Java workers, barrier",
    Kind.INDIVIDUAL: "Java workers, individual",
    Kind.CONNECT: "kcoord's workers",
}

PLOTTED: Mapping[str, Callable[[Figures], float]] = {
    "task-seconds stopped": lambda each: each.stopped,
    "tasks moved": lambda each: each.moved,
}

Key: TypeAlias = tuple[str, Kind, str]
"""Scenario, kind of group, policy."""


def measure(keys: Sequence[Key], jobs: int) -> dict[Key, Figures]:
    """The medians, all of them."""
    with ProcessPoolExecutor(jobs) as pool:
        return dict(zip(keys, pool.map(middle, keys), strict=True))


def all_keys() -> list[Key]:
    """Everything that there is to run."""
    return [(name, kind, policy) for name in built_in() for kind in Kind for policy in POLICIES]


def middle(key: Key) -> Figures:
    """Figure by figure the median of the seeds."""
    name, kind, policy = key
    runs = [run(load(built_in()[name]), kind, policy, seed) for seed in SEEDS]
    doubled = [each for one in runs for each in one.doubles]
    if doubled:
        raise AssertionError(f"{name}, {kind} by {policy}: {doubled[0]}")
    found = [one.figures for one in runs]
    after = [each.balanced_after for each in found if each.balanced_after is not None]
    return Figures(
        stopped=median_low(each.stopped for each in found),
        longest_gap=median_low(each.longest_gap for each in found),
        moved=median_low(each.moved for each in found),
        needless=median_low(each.needless for each in found),
        rebalances=median_low(each.rebalances for each in found),
        requests=median_low(each.requests for each in found),
        balanced_after=median_low(after) if len(after) == len(found) else None,
    )


def markdown(found: Mapping[Key, Figures]) -> Iterator[str]:
    """The part between the marks, line by line."""
    for name in dict.fromkeys(key[0] for key in found):
        yield from ("", f"### {name}", "", load(built_in()[name]).about, "")
        yield "| group | policy | task-seconds stopped | longest gap | moved | needless | rebalances | requests | balanced after |"  # noqa: E501
        yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        for kind, said in KINDS.items():
            for policy in POLICIES:
                yield row(said, policy, found[name, kind, policy])
        yield from ("", f"![What {name} costs](policies/{name}.svg)")
    yield ""


def row(kind: str, policy: str, figures: Figures) -> str:
    """One line of a table."""
    after = "never" if figures.balanced_after is None else f"{figures.balanced_after:,.1f} s"
    cells = [
        kind,
        f"`{policy}`",
        f"{figures.stopped:,.0f}",
        f"{figures.longest_gap:,.1f} s",
        f"{figures.moved:,}",
        f"{figures.needless:,}",
        f"{figures.rebalances:,}",
        f"{figures.requests:,}",
        after,
    ]
    return f"| {' | '.join(cells)} |"


def plot(name: str, found: Mapping[Key, Figures], folder: Path) -> None:
    """Two figures of one scenario as bars: task-seconds stopped, and tasks moved."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams.update(
        {
            "svg.hashsalt": "kcoord",
            "svg.fonttype": "none",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3), layout="constrained")
    for axis, (what, value) in zip(axes, PLOTTED.items(), strict=True):
        for place, policy in enumerate(POLICIES):
            heights = [value(found[name, kind, policy]) for kind in KINDS]
            places = [at + 0.16 * (place - 2) for at in range(len(KINDS))]
            axis.bar(places, heights, 0.15, label=policy, color=COLOURS[policy])
        axis.set_title(what)
        axis.set_xticks(range(len(KINDS)), ["barrier", "individual", "connect"])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(POLICIES), frameon=False)
    folder.mkdir(exist_ok=True)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    pyplot.close(figure)


def put(document: str, made: str) -> str:
    """The document with what was made between the marks. Raises ValueError without them."""
    before, found, rest = document.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"{DOCUMENT} lacks the line {BEGIN} or {END}")
    return f"{before}{BEGIN}{made}{END}{after}"


def main() -> None:
    """Run everything, and write."""
    keys = all_keys()
    print(f"{len(keys)} combinations, {len(SEEDS)} seeds each ...", file=sys.stderr)
    found = measure(keys, os.cpu_count() or 1)
    for name in built_in():
        plot(name, found, PLOTS)
    DOCUMENT.write_text(put(DOCUMENT.read_text(), "\n".join(markdown(found)) + "\n"))


if __name__ == "__main__":
    main()
