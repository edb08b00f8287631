"""Conditions: what a soak must have met sometimes, by name; a report of them says what was never met.

| area | a condition of it is met when |
| --- | --- |
| fault | a kind of fault strikes while the group is in a phase: `fault kill while assigning` |
| record | a record of this type is written, or a tombstone of it: `record Connect TargetAssignment gone` |
| answer | a request is answered with this error: `answer ConnectGroupHeartbeat FENCED_MEMBER_EPOCH` |
| state | the group is of a kind and in a state: `state classic CompletingRebalance` |
| event | the shard counts something (`kcoord.group.metrics`): `event rebalances session expired` |
| branch | a branch of the engine is taken (`branches.py`); only where a report is asked for |

What is met is observed in `sightings.py`. Runs without classic workers and runs with them have conditions of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kcoord.group.connect.reasons import Reason
from kcoord.group.generic.states import LABELS as CLASSIC_LABELS
from kcoord.group.modern.states import LABELS as CONNECT_LABELS
from kcoord.group.modern.states import State
from kcoord.sim.mixed.plan import MIXED_FAULTS
from kcoord.sim.plan import FAULTS

DOWN_PHASE = "down"
LOADING_PHASE = "load"
COMMITTING_PHASE = "commit"
"""Records of the group are appended and not committed yet."""
JOINING_PHASE = "join"
"""A worker of the new protocol joins."""
CONNECT_PHASES: Mapping[int, str] = {
    State.EMPTY: "empty", State.ASSIGNING: "assigning", State.RECONCILING: "reconciling", State.STABLE: "stable",
}  # fmt: skip
"""By the state of a connect group."""
CLASSIC_PHASES = ("classic empty", "classic join", "classic sync", "classic stable")
"""By the state of a classic group."""
TRANSLATED_PHASES = ("translated stable", "translated join", "translated sync")
"""By the phase of a classic worker in a connect group."""
ROUND_PHASE = "config round"
CONVERSION_PHASE = "conversion"
"""The group has changed its kind, and that is not committed yet."""
