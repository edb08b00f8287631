"""The assignment of partitions and brokers to instances: a pure function from the members' facts to the next map.

Rules:

1. A partition that a living instance holds is never given to another in the same round. It is withdrawn first (it has
   no owner in this map), its holder releases it, and the next round gives it to its next owner.
2. If the leaders of `__consumer_offsets` are known, and that topic has as many partitions as kcoord's log, partition p
   goes to the instance that stands before the broker which leads `__consumer_offsets`-p, because the clients of its
   groups connect there (GW-20). The other partitions are spread evenly: no instance has more than one above the
   instance with the fewest. No more partitions move than that requires.
3. Brokers are spread over the instances in the same way. Their places change only when an instance comes or goes
   (GW-19); a broker that no instance sees any more keeps its place until then.
4. If two instances have the same number, only one takes part: the one that was in the former map, else the one that
   started first. An instance with another number of partitions does not take part: it would look for groups in other
   partitions.
5. A partition that an instance cannot read, because a newer kcoord has written to it, goes to an instance that can. If
   none can, it stays where it is, so that it does not move around in circles.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

import attrs

from kcoord.instances.instance_map import EMPTY_MAP, Facts, Instance, InstanceMap

__all__ = ["Outcome", "next_map", "preferred_owners"]


@attrs.frozen
class Outcome:
    """The next map, and the members that it leaves out, with the reason."""

    map: InstanceMap
    refused: Mapping[str, str]


def next_map(members: Mapping[str, Facts], leader: str, generation: int = 0) -> Outcome:
    """The map of the next round. `members` are by member id; the view of brokers of `leader` counts first.

    `generation` is the generation of the instances' group. The epoch is never below it, so that no two maps of the
    group have the same epoch, even if all members that got the earlier map are gone.
    """
    former = max((facts.former for facts in members.values() if facts.former), key=_epoch, default=EMPTY_MAP)
    count = len(former.partitions) or members[leader].partitions
    chosen, refused = _choose(members, former, count)
    instances = {
        number: attrs.evolve(members[member].instance, member_id=member) for number, member in sorted(chosen.items())
    }
    brokers = _fronts(members, former, instances)
    leaders = next(
        (view.leaders for view in (members[leader], *(members[each] for each in sorted(members))) if view.leaders), ()
    )
    holders: defaultdict[int, set[str]] = defaultdict(set)
    for member, facts in members.items():
        for partition in facts.owned:
            holders[partition].add(member)
    numbers = {member: number for number, member in chosen.items()}
    held = {at: numbers.get(next(iter(has))) for at, has in holders.items() if len(has) == 1}
    target = _target(range(count), instances, preferred_owners(leaders, brokers, count), held, former)
    target = _readable(target, {number: members[member].unreadable for number, member in chosen.items()})
    owners = tuple(to if to is None or holders.get(at, set()) <= {chosen[to]} else None for at, to in enumerate(target))
    epoch = max(former.epoch + 1, generation)
    return Outcome(InstanceMap(epoch=epoch, instances=instances, partitions=owners, brokers=brokers), refused)


def preferred_owners(leaders: Sequence[int | None], brokers: Mapping[int, int], count: int) -> dict[int, int]:
    """The preferred owner of each partition, by where the clients of its groups connect (rule 2 above)."""
    if len(leaders) != count:
        return {}
    return {at: brokers[leader] for at, leader in enumerate(leaders) if leader is not None and leader in brokers}


def _epoch(one: InstanceMap) -> int:
    return one.epoch


def _choose(members: Mapping[str, Facts], former: InstanceMap, count: int) -> tuple[dict[int, str], dict[str, str]]:
    """The members that take part, by instance number, and those that do not, with the reason (rule 4 above)."""
    chosen: dict[int, str] = {}
    refused: dict[str, str] = {}

    def rank(member: str) -> tuple[bool, int, str]:
        instance = members[member].instance
        place = former.instances.get(instance.instance_id)
        was_there = place is not None and (place.member_id == member or place.started_ms == instance.started_ms)
        return not was_there, instance.started_ms, member

    for member in sorted(members, key=rank):
        facts = members[member]
        number = facts.instance.instance_id
        if facts.partitions != count:
            refused[member] = (
                f"{facts.instance} has {facts.partitions} partitions in its settings, where all others have "
                f"{count}: set offsets.topic.num.partitions alike on all instances"
            )
        elif number in chosen:
            refused[member] = (
                f"{facts.instance} has the number of {members[chosen[number]].instance}: it takes no part while that "
                "one is there. Give each instance a number of its own with instance.id"
            )
        else:
            chosen[number] = member
    return chosen, refused


def _fronts(members: Mapping[str, Facts], former: InstanceMap, instances: Mapping[int, Instance]) -> dict[int, int]:
    """The instance that stands before each broker (rule 3 above)."""
    seen = set().union(*(facts.brokers for facts in members.values()))
    if not seen or instances.keys() == former.instances.keys():
        seen |= former.brokers.keys()
    return _spread(sorted(seen), instances, [former.brokers], Counter())


def _target(
    partitions: Sequence[int],
    instances: Mapping[int, Instance],
    preferred: Mapping[int, int],
    held: Mapping[int, int | None],
    former: InstanceMap,
) -> list[int | None]:
    """The final owner of each partition (rule 2 above); None for all if there are no instances."""
    before = dict(enumerate(former.partitions))
    free = [at for at in partitions if at not in preferred]
    spread = _spread(free, instances, [held, before], Counter(preferred.values()))
    return [preferred.get(at, spread.get(at)) for at in partitions]


def _readable(target: Sequence[int | None], unreadable: Mapping[int, Collection[int]]) -> list[int | None]:
    """`target`, changed so that each partition is at an instance that can read it, if there is one (rule 5 above)."""
    given = list(target)
    loads = Counter(given)
    for at, owner in enumerate(given):
        able = sorted(number for number in unreadable if at not in unreadable[number])
        if owner is None or owner in able or not able:
            continue
        given[at] = min(able, key=lambda number: (loads[number], number))
        loads[given[at]] += 1
    return given


def _spread(
    items: Sequence[int],
    instances: Collection[int],
    wishes: Sequence[Mapping[int, int | None]],
    loads: Counter[int],
) -> dict[int, int]:
    """Give each item to an instance, as evenly as possible on top of `loads`. `wishes` say who should keep an item; an
    earlier wish goes before a later one.
    """
    if not instances:
        return {}
    room = _room(len(items), sorted(instances), loads, Counter(wish.get(item) for wish in wishes[:1] for item in items))
    given: dict[int, int] = {}
    for wish in wishes:
        for item in items:
            wanted = wish.get(item)
            if item not in given and wanted is not None and room.get(wanted, 0) > 0:
                given[item] = wanted
                room[wanted] -= 1
    for item in items:
        if item not in given:
            roomiest = max(sorted(room), key=room.__getitem__)
            given[item] = roomiest
            room[roomiest] -= 1
    return given


def _room(count: int, instances: Sequence[int], loads: Counter[int], kept: Mapping[int | None, int]) -> dict[int, int]:
    """How many of `count` items each instance gets, so that the loads end as level as possible. Items left over go to
    instances that have more than their share now (`kept`), so that fewer items move.
    """
    level = 0
    while sum(max(0, level + 1 - loads[each]) for each in instances) <= count:
        level += 1
    room = {each: max(0, level - loads[each]) for each in instances}
    over = count - sum(room.values())
    below = [each for each in instances if loads[each] <= level]
    for each in sorted(below, key=lambda each: (room[each] - kept.get(each, 0), each))[:over]:
        room[each] += 1
    return room
