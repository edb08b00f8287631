"""The phases of a group when a fault strikes. A group can be in several at a time (`Checks.phases`)."""

from __future__ import annotations

from collections.abc import Mapping

from kcoord.group.state.groups.modern_states import ModernState

DOWN_PHASE = "down"
LOADING_PHASE = "load"
COMMITTING_PHASE = "commit"
"""Records of the group are appended, and not committed yet."""
JOINING_PHASE = "join"
"""A worker of the new protocol is joining."""
CONNECT_PHASES: Mapping[int, str] = {
    ModernState.EMPTY: "empty",
    ModernState.ASSIGNING: "assigning",
    ModernState.RECONCILING: "reconciling",
    ModernState.STABLE: "stable",
}
"""By the state of a connect group."""
CLASSIC_PHASES = ("classic empty", "classic join", "classic sync", "classic stable")
"""By the state of a classic group."""
TRANSLATED_PHASES = ("translated stable", "translated join", "translated sync")
"""By the phase of a classic worker in a connect group."""
ROUND_PHASE = "config round"
CONVERSION_PHASE = "conversion"
"""The group has changed its kind, and that is not committed yet."""
MOVING_PHASE = "rules move work"
"""A drain is under way, or placement rules have more to move. Only runs with rules reach this phase and aim at it."""

PHASES = (
    DOWN_PHASE, LOADING_PHASE, COMMITTING_PHASE, JOINING_PHASE, "empty", "assigning", "reconciling", "stable",
)  # fmt: skip
CONSUMER_PHASES = tuple(phase for phase in PHASES if phase != "assigning")
"""The phases of runs with consumer groups: their assignments are made at once."""
MIXED_PHASES = (*PHASES, *CLASSIC_PHASES, *TRANSLATED_PHASES, ROUND_PHASE, CONVERSION_PHASE)
"""The phases of runs with classic workers."""
