"""What is a leader not shown, so that one round of its is enough? What has to move to workers that have less.

Connect's assignor takes work away in one round and hands it out in the next, because whoever has it must let go first.
The coordinator sees to that by itself. So what is above the even share, as Connect counts it, is shown as nobody's: the
leader takes it for work that did not arrive (KAFKA-9848), and deals it out at once, to those that have least. What it
does not deal out stays where it is.

It is shown everything, and takes its two rounds, where it would let such work wait, or would count otherwise:

| where | why |
| --- | --- |
| its last round was somebody else's, or showed it members that are not there now | it begins a delay |
| the work of a departed one waits, or a delay runs | the same |
| it has read another configuration than that of the last round | the even share is another |
| it computes once more, for what was deleted before it led | what it is not shown it cannot take away |
| `default` | all is dealt anew in each round |
"""

from __future__ import annotations

from kcoord.group.connect.group import NO_DEADLINE, ConnectGroup, Member, Resources
from kcoord.group.translation.spoken import DEFAULT
from kcoord.protocol.resources import CONNECTOR


def withheld(group: ConnectGroup, leader: Member) -> dict[str, Resources]:
    """What the leader is not shown, by the member whose target has it."""
    known = group.configured
    if known is None or not _counts_alike(group, leader):
        return {}
    members = [leader, *(member for member in group.participants() if member is not leader)]
    targets = {member.member_id: group.target_of(member) or frozenset() for member in members}
    connectors = sum([1 for resource in known.resources if resource[1] == CONNECTOR])
    too_many: dict[str, Resources] = {}
    sizes = {each: sum([1 for resource in target if resource[1] == CONNECTOR]) for each, target in targets.items()}
    for member_id, count in _above(sizes, connectors).items():
        too_many[member_id] = _last(targets[member_id], count, connectors=True)
    sizes = {each: len(target) - sizes[each] for each, target in targets.items()}
    for member_id, count in _above(sizes, len(known.resources) - connectors).items():
        too_many[member_id] = too_many.get(member_id, frozenset()) | _last(targets[member_id], count, connectors=False)
    return too_many


def _counts_alike(group: ConnectGroup, leader: Member) -> bool:
    legacy = leader.said.legacy
    fleet = group.legacy
    if legacy is None or fleet.protocol == DEFAULT or fleet.round is not None or fleet.seen_last is None:
        return False
    if fleet.unsure:
        return False
    if legacy.config_offset != group.computed_offset or group.delay_deadline_wall_ms != NO_DEADLINE:
        return False
    seen_by, seen = fleet.seen_last
    return seen_by == leader.member_id and all(group.takes_part(each) for each in seen) and not group.departed()


def _above(sizes: dict[str, int], total: int) -> dict[str, int]:
    """How many each has too many, as Connect counts: an even share, and one more for as many as it takes, here the
    first ones.
    """
    even, one_more = divmod(total, len(sizes))
    above: dict[str, int] = {}
    for member_id, size in sizes.items():
        if size > even:
            keeps = even + (one_more > 0)
            one_more -= one_more > 0
            if size > keeps:
                above[member_id] = size - keeps
    return above


def _last(target: Resources, count: int, *, connectors: bool) -> Resources:
    return frozenset(sorted([each for each in target if (each[1] == CONNECTOR) == connectors])[-count:])
