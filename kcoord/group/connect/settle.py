"""What follows from a change, in the same step: the next assignment, held answers with news, an entry of history."""

from __future__ import annotations

from kcoord.group.connect.computing import ask_what_exists, ensure_computing, ensure_placed
from kcoord.group.modern.held_replies import notify_touched
from kcoord.group.modern.history import note_convergence
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.transition import Transition

LOOKS = 1_000
"""Rounds after which a group must be at rest. A group that is not at rest by then never will be: that is a fault in
kcoord. The assertion breaks off this part of the step (`isolation`), and all other groups go on.
"""


def settle(transition: Transition, group: ConnectGroup) -> None:
    """Bring the group to rest after a change. It may become a classic group by that; then this one is dead."""
    ensure_placed(transition, group)
    ask_what_exists(transition, group)
    ensure_computing(transition, group)
    if group.touched:
        notify_touched(transition, group)
    looks = 0
    while transition.connect.classic.settle(transition, group):
        ensure_placed(transition, group)
        ask_what_exists(transition, group)
        ensure_computing(transition, group)
        notify_touched(transition, group)
        looks += 1
        assert looks < LOOKS, f"group {group.group_id} does not come to rest"
    note_convergence(transition, group)
    transition.connect.classic.convert(transition, group)
