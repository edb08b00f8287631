"""The no-op heartbeat: a heartbeat that says only that its sender is alive.

While the log cannot be written (a full disk), members that have converged must go on. The coordinator can answer these
heartbeats because the answer is known and nothing has to be written.
"""

from __future__ import annotations

from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.groups.modern_member import AnyMember, R
from kcoord.group.state.groups.modern_states import ModernState


def changes_nothing(group: AnyGroup, member: AnyMember, epoch: int, owned: frozenset[R] | None) -> bool:
    """Whether a heartbeat with this epoch and list of what it owns comes from a converged member of a stable group, and
    says nothing new. A list that is None is the same as before. What else the heartbeat says, its kind must look at.
    """
    is_at_rest = group.state is ModernState.STABLE and not member.evicted
    return is_at_rest and epoch == member.epoch == group.assignment_epoch and (owned is None or owned == member.current)
