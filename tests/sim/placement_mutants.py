"""Which promises of placement rules (docs/placement.md) are broken on purpose? (`mutants.py`)

Each names the kind of runs that must notice.
"""

from __future__ import annotations

from kcoord.assign.placement import compiled_rules, cordons_and_drains, shaping
from kcoord.assign.placement.rules import Rules
from kcoord.group.apis import connect_group_describe
from kcoord.group.connect import computing
from kcoord.sim.basis.run_kinds import CONNECT, MIXED
from tests.sim.mutants import Mutant

PLACEMENT_MUTANTS = (
    (CONNECT, Mutant(0, "a cordon is ignored", Rules.find_cordoned,
           "for each in self.cordons]", "for each in self.cordons if each.drains]")),
    (MIXED, Mutant(0, "a cordon is ignored", Rules.find_cordoned,
           "for each in self.cordons]", "for each in self.cordons if each.drains]")),
    (CONNECT, Mutant(0, "a drain is a cordon", cordons_and_drains._is_drained,
           "cordon is not None and cordon.drains", "False")),
    (CONNECT, Mutant(0, "a drain takes all at once", cordons_and_drains.place,
           "list(leaving)[: rules.max_moves]", "list(leaving)")),
    (MIXED, Mutant(0, "a drain takes all at once", cordons_and_drains.place,
           "list(leaving)[: rules.max_moves]", "list(leaving)")),
    (CONNECT, Mutant(0, "a hard affinity is ignored", compiled_rules._Reader._terms,
           "allowed, preferred = self._workers(hard)", "allowed, preferred = self._workers(())")),
    (CONNECT, Mutant(0, "rules move as much as they like", shaping._Shaper._spends,
           "if self._moves:", "if True:")),
    (CONNECT, Mutant(0, "balance moves as much as it likes", shaping._Shaper._give_away,
           "taker in self._board.newcomers or self._spends(resource)", "True")),
    (CONNECT, Mutant(0, "a hard separation is ignored", compiled_rules._Reader._terms,
           "hard_apart |= keeps_from * is_hard", "hard_apart |= 0")),
    (CONNECT, Mutant(0, "a capacity is ignored", compiled_rules.read,
           "limits[at] = capacity.weight", "pass")),
    (CONNECT, Mutant(0, "what a rule forbids stops", shaping._Shaper._leave,
           "elif self._rules.stops:", "elif True:")),
    (CONNECT, Mutant(0, "a cordoned worker keeps what a hard rule forbids there", cordons_and_drains._not_wanted,
           "if rules.are_shaping else {}", "if False else {}")),
    (CONNECT, Mutant(0, "a drain never goes on", computing._compute_here,
           "placement.has_more", "False")),
    (MIXED, Mutant(0, "a drain never goes on", computing._compute_here,
           "placement.has_more", "False")),
    (CONNECT, Mutant(0, "rules are followed with the next assignment only", computing.ensure_placed,
           "is_changed = ", "is_changed = False and ")),
    (CONNECT, Mutant(0, "rules do not wait for a failed assignment's back-off", computing.ensure_placed,
           "if group.error:", "if False:")),
    (CONNECT, Mutant(0, "what is not met is not reported", computing._compute_here,
           "placement.unmet", "{}")),
    (CONNECT, Mutant(0, "what is placed nowhere is not reported", computing._compute_here,
           "placement.unplaced", "{}")),
    (CONNECT, Mutant(0, "what drained workers run is not told where all are cordoned", cordons_and_drains._all_cordoned,
           "_merged(base, targets), dict.fromkeys(missing, CORDONED), unmet",
           "_merged(base, targets), dict.fromkeys(missing, CORDONED), {} and unmet")),
    (CONNECT, Mutant(0, "nothing waits where all are cordoned", cordons_and_drains._all_cordoned,
           "exists - assigned if base.scheduled_delay_ms > 0 else NOTHING", "NOTHING")),
    (CONNECT, Mutant(0, "what is not met is not described", connect_group_describe._describe,
           ", *_misplaced(group.placed.unmet, True)]", "]")),
)  # fmt: skip
