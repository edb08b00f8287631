"""The incremental assignor: as little as possible stops, and a policy says when something moves.

It is even and sticky over all that does not wait; by weight if weights are given. With a policy that defers:

1. What only departed workers have is lost, and waits. After a departure it waits for the group's rebalance delay, or
   for the rest of a delay that is running already. Another departure prolongs nothing.
2. A worker that is known by its id or url got its own work back before this is called (CG-22). An unknown one is taken
   for a worker that came back under another name (a container with a new address): it gets everything that one of the
   departed workers had. A worker counts as unknown if it has nothing and was never assigned anything, or if it has
   nothing although there is enough for all.
3. While something waits no worker has to stop anything. New resources go at once to the workers that have least.
4. When the delay is over, everything is spread.

With rounds of a limited number of moves, the one delay that a group can have is also the time between rounds. So while
something waits there is no round. If something waits and moves are left, the running delay may be the time between two
rounds, in which the worker went, or the end of the worker's own delay: the assignor cannot tell which. Then it lets the
work wait again, and gives away one resource of it each time, so that this cannot go on for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kcoord.assign.balance import Resources, settle
from kcoord.assign.existing_resources import delay_ms, existing, lost
from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import Assignment, Group, Member, MemberAssignment
from kcoord.assign.policies.pacing import moves, pace
from kcoord.assign.policies.policy import Policy
from kcoord.assign.policies.spreading import fill, spread
from kcoord.assign.policies.weights import Weights

NEVER = 0
"""The epoch of a member that has never received an assignment."""
_NOTHING: Resources = frozenset()


class IncrementalAssignor(ConnectAssignor):
    """The incremental assignor, for either side. With other choices or weights it is another assignor: give it its own
    name.
    """

    def __init__(self, policy: Policy, weights: Weights | None = None) -> None:
        self.name = policy.name
        self.policy = policy
        self._weights = weights or Weights()

    def assign(self, group: Group) -> Assignment:
        """All of it but what waits."""
        members = sorted(group.members, key=lambda member: member.member_id)
        if not members:
            return Assignment(())
        resources = existing(group)
        before, free = settle([member.target for member in members], resources)
        delay = delay_ms(group) if self.policy.defers else 0
        waiting = _shares(group, lost(group, resources)) if delay else []
        if waiting:
            before, waiting = _take_over(members, before, waiting)
            free = resources.difference(*before)
        weights = self._weights.of(resources)
        if waiting and self._is_between_rounds(group):
            everybody = [*before, *waiting]
            if moves(everybody, spread(everybody, resources.difference(*everybody), weights), weights):
                delay = group.rebalance_delay_ms
                waiting = [waiting[0] - {min(waiting[0])}, *waiting[1:]] if delay else []
        left = _NOTHING.union(*waiting)
        if left:
            return _made(members, fill(before, free - left, weights), delay)
        return self._spread(group, members, before, free, weights)

    def _spread(
        self,
        group: Group,
        members: Sequence[Member],
        before: Sequence[Resources],
        free: Resources,
        weights: Mapping[str, int],
    ) -> Assignment:
        wanted = spread(before, free, weights)
        at_most, interval_ms = self.policy.at_most, self.policy.interval_ms
        if at_most is None:
            return _made(members, wanted)
        running_ms = group.remaining_delay_ms if 0 < group.remaining_delay_ms <= interval_ms else 0
        paced, left = pace(wanted, moves(before, wanted, weights), 0 if running_ms else at_most, weights)
        return _made(members, paced, (running_ms or interval_ms) if left else 0)

    def _is_between_rounds(self, group: Group) -> bool:
        """Whether the running delay may be the time between two rounds."""
        running_ms = group.remaining_delay_ms
        return self.policy.at_most is not None and 0 < running_ms <= self.policy.interval_ms


def _shares(group: Group, waiting: Resources) -> list[Resources]:
    """What waits, as one share for each departed worker; the largest share comes first."""
    shares: list[Resources] = []
    for gone in sorted(group.departed, key=lambda each: (-len(each.target), each.member_id)):
        shares.append((gone.target & waiting).difference(*shares))
    return [share for share in shares if share]


def _take_over(
    members: Sequence[Member], before: Sequence[Resources], waiting: Sequence[Resources]
) -> tuple[Sequence[Resources], list[Resources]]:
    """Give each newcomer the work of one departed worker. Returns the new targets, and what still waits."""
    there_was_enough = sum(map(len, before)) + sum(map(len, waiting)) >= len(members) + len(waiting)
    newcomers = [
        at for at, target in enumerate(before) if not target and (there_was_enough or members[at].epoch == NEVER)
    ]
    after = list(before)
    for at, share in zip(newcomers, waiting, strict=False):
        after[at] = share
    return after, list(waiting[len(newcomers) :])


def _made(members: Sequence[Member], targets: Sequence[Resources], scheduled_delay_ms: int = 0) -> Assignment:
    return Assignment(
        tuple([MemberAssignment(each.member_id, target) for each, target in zip(members, targets, strict=True)]),
        scheduled_delay_ms,
    )
