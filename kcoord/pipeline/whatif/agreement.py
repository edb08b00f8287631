"""The agreement of the recorded log with the replays of what was really run. If they disagree, nothing is recommended.

Four figures are compared, each counted in the same way in the recorded log and in the replays' own logs: how long tasks
had nobody, the longest such time, what was handed over, and how many epochs began. A figure agrees if the recorded one
is within the replays' spread, from the lowest to the highest seed, widened by what no log says:

| figure | widened by | why |
| --- | --- | --- |
| each | a tenth of the recorded figure | latencies, and how long tasks take to stop |
| tasks had nobody | what one worker has, for two heartbeat intervals | when a worker died, and when others hear of it, is known to within one heartbeat interval each |
| the longest such time | two heartbeat intervals | the same |
| handed over | what one worker has | nobody says who had which tasks when a piece begins |
| epochs | 2 | two workers that come within a moment make one epoch or two |

Pieces differ by chance in both directions, so all pieces are compared together. Single pieces are compared only to say
where the difference is.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from kcoord.pipeline.policy_ranking import Spread
from kcoord.pipeline.whatif.advice import WORST, Advice
from kcoord.pipeline.whatif.logged import Logged, total
from kcoord.pipeline.whatif.question import Question
from kcoord.sim.scenario import Scenario
from kcoord.sim.scenario.description import What

TENTH = 0.1
HEARTBEATS = 2
EPOCHS = 2
FIGURES = {
    "unowned": ("tasks had nobody for", " s"),
    "longest_unowned": ("one task had nobody for at most", " s"),
    "handed_over": ("tasks handed over", ""),
    "epochs": ("epochs", ""),
}
"""Each figure in words, and its unit."""


@attrs.frozen
class Disagreement:
    """One figure on which the replays and the recorded log disagree."""

    figure: str
    """One of `FIGURES`."""
    replayed: Spread
    recorded: float
    allowed: float
    """How far outside the spread the recorded figure may be."""
    pieces: Sequence[tuple[str, Spread, float]]
    """The pieces in which they differ, worst first, each with what the replays and the log say."""


def disagreements(advice: Advice, wanted: Question, recorded: Mapping[str, Logged]) -> list[Disagreement]:
    """The disagreements. Empty if they agree, or if it is not known what was really run. `recorded`: what the log says
    of each piece.
    """
    if advice.recorded is None:
        return []
    played = {name: recorded[name] for name in advice.pieces if name in recorded}
    said = attrs.asdict(total(played.values()))
    allowed = tolerances(wanted)
    found = []
    for figure in FIGURES:
        spread, widened = advice.recorded.figures[figure], allowed[figure] + TENTH * said[figure]
        if _beyond(spread, said[figure]) <= widened:
            continue
        pieces = [(name, advice.pieces[name][figure], getattr(played[name], figure)) for name in played]
        apart = [each for each in pieces if _beyond(each[1], each[2]) > (allowed[figure] if figure in WORST else 0)]
        apart.sort(key=lambda each: -_beyond(each[1], each[2]))
        found.append(Disagreement(figure, spread, said[figure], widened, apart))
    return found


def tolerances(wanted: Question) -> dict[str, float]:
    """How much each figure may differ, apart from a tenth of the recorded figure."""
    share, heartbeat = _share(wanted), wanted.fitted.heartbeat
    return {
        "unowned": share * HEARTBEATS * heartbeat,
        "longest_unowned": HEARTBEATS * heartbeat,
        "handed_over": share,
        "epochs": EPOCHS,
    }


def _share(wanted: Question) -> float:
    """How many tasks one worker has if all workers of a piece are there: the most of all pieces."""
    return max(_tasks(piece.scenario) / len(_workers(piece.scenario)) for piece in wanted.episodes)


def _tasks(scenario: Scenario) -> int:
    return sum(each.count * each.tasks for each in scenario.connectors.values())


def _workers(scenario: Scenario) -> set[str]:
    came = {name for event in scenario.events if event.do is What.START for name in event.workers}
    return {f"w{number}" for number in range(scenario.workers)} | came


def _beyond(spread: Spread, value: float) -> float:
    """How far `value` is outside the spread."""
    return max(spread.least - value, value - spread.greatest, 0)
