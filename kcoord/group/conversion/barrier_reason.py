"""The reason why a group's classic workers have to join all together, as text for `describe`."""

from __future__ import annotations

from collections.abc import Sequence

from kcoord.group.conversion.classic_holdings import NotConvertible, read_workers
from kcoord.group.conversion.kind_policy import speaks_more_than_default
from kcoord.group.state.bounded_text import bounded_name, bounded_text
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.connect_settings import CLASSIC_MODE, ClassicMode
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE, ConnectGroup
from kcoord.group.state.shard_state import ShardState

NAMED = 3
"""How many workers are named; the others are counted."""


def why_barrier_among_classic(group: ConnectGroup) -> str | None:
    """The reason for a connect group; None if each worker is managed on its own."""
    if group.classic.protocol != DEFAULT:
        return None
    return _only_default(sorted(each for each, names in group.classic.members.items() if set(names) == {DEFAULT}))


def why_barrier(state: ShardState, group: ClassicGroup) -> str | None:
    """The reason for a classic group; None if it is not a group of Connect workers."""
    if group.protocol_type != PROTOCOL_TYPE:
        return None
    if state.effective(group.group_id).classic_mode is ClassicMode.BARRIER:
        return f"{CLASSIC_MODE} is {ClassicMode.BARRIER}"
    if not group.members:
        return None
    if not speaks_more_than_default(group):
        return _only_default(
            sorted(
                each.member_id for each in group.members.values() if {name for name, _ in each.protocols} == {DEFAULT}
            )
        )
    try:
        read_workers(group)
    except NotConvertible as why:
        return bounded_text(str(why))
    return "a rebalance with the barrier is going on; after it each worker is managed by itself"


def _only_default(workers: Sequence[str]) -> str:
    if not workers:
        return f"the workers have no embedded protocol but {DEFAULT} in common"
    more = f" and {len(workers) - NAMED} more" if len(workers) > NAMED else ""
    only = "speak only" if len(workers) > 1 else "speaks only"
    named = ", ".join(map(bounded_name, workers[:NAMED]))
    return f"{named}{more} {only} the embedded protocol {DEFAULT} (connect.protocol=eager)"
