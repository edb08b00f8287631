"""The advice of `whatif`, from the rows of its table: what each choice would have saved, and which delay to recommend.

- A choice is a kind of group, a policy, a delay, a way to restart workers, and placement rules. One seed's runs of all
  episodes together are one outcome of a choice. The spread is from the lowest to the highest seed.
- **The best** is the choice whose median outcome stopped fewest task-seconds. Choices whose spread reaches into that of
  the best, or that stop hardly more, cannot be told from it. Among these the one that moves least wins, then what was
  really run, then the shortest delay. Nobody should change a setting for nothing.
- **Recommended** is the best delay for the group as it otherwise was. If another choice is better than that, the output
  says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from statistics import median_low
from typing import Any

import attrs

from kcoord.pipeline.policy_ranking import Spread
from kcoord.pipeline.whatif.logged import Logged
from kcoord.sim.scenario import Figures, Kind

Row = Mapping[str, Any]
WORST = frozenset({"longest_gap", "longest_unowned"})
"""Figures of which the highest of all episodes counts. For all others, the sum counts."""
NAMES = tuple(each.name for each in (*attrs.fields(Figures), *attrs.fields(Logged)) if each.name != "balanced_after")
HARDLY = 0.05
"""A choice that stops more than another by this share or less is not worse: facts that no log has make as much."""
NO_DELAY = frozenset({"eager", "design-1"})
"""Policies in which nothing waits."""


class NotReplayed(Exception):
    """Nothing could be replayed. The text says why."""


@attrs.frozen
class Choice:
    """What can be set."""

    kind: Kind
    policy: str
    delay: float
    """The delay in seconds."""
    restart: str | None = None
    """A `Restart`: how workers go that stopped or died. None: as they really went."""
    rules: str | None = None
    """The file of placement rules. None: no rules."""


@attrs.frozen
class Outcome:
    """What came of a choice."""

    choice: Choice
    figures: Mapping[str, Spread]
    """By the names of the columns of the table `whatif`."""
    doubles: int

    @property
    def stopped(self) -> Spread:
        """In task-seconds."""
        return self.figures["stopped"]


@attrs.frozen
class Advice:
    """All choices, best first, and what follows from them."""

    outcomes: Sequence[Outcome]
    recorded: Outcome | None
    """The replay of what was really run. None if that is not known."""
    recommended: Outcome
    """The best delay. Everything else is as recorded, if that is known."""
    best: Outcome
    failed: Sequence[str]
    """Episodes, and sets of rules, that could not be replayed, with the reason."""
    pieces: Mapping[str, Mapping[str, Spread]] = attrs.Factory(dict)
    """For each episode that was replayed: what the replays' own logs say, with what was really run."""

    def saved(self, outcome: Outcome) -> float | None:
        """How many task-seconds the choice saves compared with what was really run, by the medians."""
        return None if self.recorded is None else self.recorded.stopped.middle - outcome.stopped.middle


def advise(rows: Iterable[Row], recorded: Choice | None) -> Advice:
    """The advice from these rows. It leaves out episodes that some choice could not replay, and choices whose rules
    allowed no replay.

    Raises NotReplayed if no run has figures.
    """
    everything = list(rows)
    failed = [row for row in everything if row["error"] is not None]
    broken = {row["scenario"] for row in failed if row["rules"] is None}
    impossible = {_choice(row) for row in failed if row["scenario"] not in broken}
    reasons = sorted({f"{row['scenario']}{_by_rules(row)}: {row['error']}" for row in failed})
    outcomes = _outcomes(
        [row for row in everything if row["scenario"] not in broken and _choice(row) not in impossible]
    )
    if not outcomes:
        raise NotReplayed(reasons[0] if reasons else "nothing happened in it that could be played again")
    ranked = _ranked(outcomes, recorded)
    known = next((each for each in ranked if each.choice == recorded), None)
    same = [each for each in ranked if known is not None and _is_like(each.choice, known.choice)]
    return Advice(ranked, known, (same or ranked)[0], ranked[0], reasons, _pieces(everything, broken, recorded))


def _pieces(rows: Iterable[Row], broken: Set[str], recorded: Choice | None) -> dict[str, dict[str, Spread]]:
    by_piece: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["scenario"] not in broken and _choice(row) == recorded:
            by_piece[row["scenario"]].append(row)
    names = [each.name for each in attrs.fields(Logged)]
    return {piece: {name: _spread([row[name] for row in mine]) for name in names} for piece, mine in by_piece.items()}


def _by_rules(row: Row) -> str:
    return "" if row["rules"] is None else f", rules {row['rules']}"


def _is_like(choice: Choice, other: Choice) -> bool:
    return attrs.evolve(choice, delay=other.delay) == other


def _choice(row: Row) -> Choice:
    return Choice(Kind(row["kind"]), row["policy"], row["delay"], row["restart"], row["rules"])


def _outcomes(rows: Iterable[Row]) -> list[Outcome]:
    by_choice: defaultdict[Choice, defaultdict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_choice[_choice(row)][row["seed"]].append(row)
    found = []
    for choice, by_seed in by_choice.items():
        seeds = list(by_seed.values())
        figures = {name: _spread([_total(name, seed) for seed in seeds]) for name in NAMES}
        found.append(Outcome(choice, figures, sum(row["doubles"] for seed in seeds for row in seed)))
    return found


def _spread(values: Sequence[float]) -> Spread:
    return Spread(median_low(values), min(values), max(values))


def _total(name: str, rows: Sequence[Row]) -> float:
    values: list[float] = [row[name] for row in rows]
    return max(values) if name in WORST else sum(values)


def _ranked(outcomes: Iterable[Outcome], recorded: Choice | None) -> list[Outcome]:
    """The outcomes in order: the best, then the best of the others, and so on."""
    ordered = sorted(outcomes, key=lambda each: (each.stopped.middle, *_name(each.choice)))
    ranked: list[Outcome] = []
    while ordered:
        limit = max(ordered[0].stopped.greatest, (1 + HARDLY) * ordered[0].stopped.middle)
        alike = [each for each in ordered if each.stopped.least <= limit]
        best = min(
            alike,
            key=lambda each: (
                each.figures["moved"].middle,
                each.choice != recorded,
                *_name(each.choice),
            ),
        )
        ranked.append(best)
        ordered.remove(best)
    return ranked


def _name(choice: Choice) -> tuple[float | str, ...]:
    """The order of choices that nothing else tells apart: the shorter delay first."""
    return choice.delay, choice.policy, choice.restart or "", choice.rules or ""


# -- which delays are worth a try --------------------------------------------------------------------------------------

USUAL = (0.0, 30.0, 60.0, 120.0, 300.0)
STEP = 5
"""A delay that a history suggests is rounded up to a multiple of this, in s."""
SPARE = 5
"""How much longer than an absence a suggested delay is, in s."""


def delays(recorded: float, absences_ms: Sequence[int]) -> list[float]:
    """The recorded delay, the usual ones, and those that half, nine tenths and all of the returning workers
    would need.
    """
    found = {recorded, *USUAL}
    if absences_ms:
        for part in (0.5, 0.9, 1.0):
            place = min(len(absences_ms) - 1, int(part * len(absences_ms)))
            needed = sorted(absences_ms)[place] / 1000 + SPARE
            found.add(float(-(-needed // STEP) * STEP))
    return sorted(found)


# -- the reason --------------------------------------------------------------------------------------------------------


def reason(advice: Advice, absences_ms: Sequence[int], never: int) -> str:
    """Why this delay, in words: what workers did that went, and what the delay does about it."""
    went = len(absences_ms) + never
    if not went:
        return "No worker went, so no delay ever ran: nothing speaks for another one."
    said = [f"{_count(went, 'worker')} went, {len(absences_ms):,} came back"]
    if absences_ms:
        ordered = sorted(absences_ms)
        nine = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))] / 1000
        half = median_low(ordered) / 1000
        said.append(
            f" after {half:,.0f} s"
            if len(ordered) == 1
            else f", half of them within {half:,.0f} s, nine tenths within {nine:,.0f} s"
        )
    said.append(". ")
    chosen = advice.recommended
    others = [each for each in advice.outcomes if _is_like(each.choice, chosen.choice) and each.choice != chosen.choice]
    shorter = max((each for each in others if each.choice.delay < chosen.choice.delay), key=_delay, default=None)
    longer = min((each for each in others if each.choice.delay > chosen.choice.delay), key=_delay, default=None)
    if chosen.choice.policy in NO_DELAY:
        return "".join([*said, f"With {chosen.choice.policy} nothing waits, whatever the delay is."])
    if shorter is not None:
        said.append(f"A shorter one ({shorter.choice.delay:g} s) {_beside(shorter, chosen)}. ")
    if longer is not None:
        said.append(f"A longer one ({longer.choice.delay:g} s) {_beside(longer, chosen)}. ")
    return "".join(said).strip()


def _delay(outcome: Outcome) -> float:
    return outcome.choice.delay


def _beside(other: Outcome, chosen: Outcome) -> str:
    more = other.stopped.middle - chosen.stopped.middle
    moved = other.figures["moved"].middle - chosen.figures["moved"].middle
    tasks = f"{abs(moved):,.0f} {'more' if moved > 0 else 'fewer'} moved" if moved else "as many moved"
    if other.stopped.least <= chosen.stopped.greatest and chosen.stopped.least <= other.stopped.greatest:
        return f"cannot be told from it by what stands still, with {tasks}"
    return f"would have stopped {abs(more):,.0f} task-seconds {'more' if more > 0 else 'less'}, with {tasks}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
