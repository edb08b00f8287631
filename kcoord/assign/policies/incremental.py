"""Who runs what if as little as possible shall stop? The incremental assignor, whose policy says when it moves.

Even and sticky over all that does not wait; by weight where weights are given. With a policy that defers:

1. What only workers have that are gone is lost, and waits: from a departure on for the group's rebalance delay, or as
   long as a delay that runs already has left. Another departure prolongs nothing.
2. A worker known by its id or url had its own back before this is asked (CG-22). One that nobody
   knows is taken for one that came back under another name (a container with a new address): it gets all that one of
   those had who are gone. Nobody knows who has nothing and was never assigned anything, or where there is enough for
   all.
3. While something waits nobody has to stop anything; what is new is given at once to those who have least.
4. When the delay is over, all is spread.

With rounds, of which each moves so many, the delay that a group can have is also the time between them; so while
something waits no round is held. Where something waits, moves are left, and what runs may be the time between two
rounds, its worker went since, or the end of its own delay is near: that cannot be told. It waits anew, and one resource
of it is given away for that, so that it cannot be prolonged for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kcoord.assign.balance import Resources, settle
from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import Assignment, Group, Member, MemberAssignment
from kcoord.assign.policies.pacing import moves, pace
from kcoord.assign.policies.policy import Policy
from kcoord.assign.policies.spreading import fill, spread
from kcoord.assign.policies.weights import Weights
from kcoord.assign.universe import delay_ms, existing, lost

NEVER = 0
"""The epoch of a member that has never been given an assignment."""
_NOTHING: Resources = frozenset()


class IncrementalAssignor(ConnectAssignor):
    """For either side. Other sets of choices and weights are other assignors: give them names of their own."""

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
        """Whether the delay that runs may be the time between two rounds."""
        running_ms = group.remaining_delay_ms
        return self.policy.at_most is not None and 0 < running_ms <= self.policy.interval_ms


def _shares(group: Group, waiting: Resources) -> list[Resources]:
    """What waits, by the worker that is gone; the one that had most comes first."""
    shares: list[Resources] = []
    for gone in sorted(group.departed, key=lambda each: (-len(each.target), each.member_id)):
        shares.append((gone.target & waiting).difference(*shares))
    return [share for share in shares if share]


def _take_over(
    members: Sequence[Member], before: Sequence[Resources], waiting: Sequence[Resources]
) -> tuple[Sequence[Resources], list[Resources]]:
    """Give each that is new the work of one that is gone; and what waits then."""
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
