"""Client-side assignors: a consumer that all can rely on computes the next assignment (KG-27; CG-15 to CG-20).

| situation | who computes |
| --- | --- |
| the setting is off, or some member lists no assignor, or they have none in common | the coordinator |
| no member reads the versions of all | the coordinator; a join or a change that leads to this is refused |
| some members read the versions of all | one of them: who computed last, or the first by member id |
| these are all away for a while | nobody, until one returns or their sessions end |
| the chosen one fails | the next one, at once |
| all have failed | nobody; the group tries again after 1 s, then 2 s, up to 60 s |

The chosen member is asked in each answer until its assignment is installed. From the first such answer it has its
rebalance timeout. It fails if it installs nothing in that time, if it reports an error, or if its targets are not
valid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kcoord.group.consumer.next_assignment import begin_with_nothing, note_failure
from kcoord.group.modern.client_assignors import Kinds, common_assignor, first_able, qualified
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.groups.assignor_support import Listed, Support
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Metadata
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frozen_class import frozen


@frozen(slots=True)
class ClientSide:
    """A member is to compute."""

    assignor: str
    able: Sequence[str]
    """The members that read the versions of all, and are not away; empty: they are all away."""


def select(transition: Transition, group: ConsumerGroup) -> ClientSide | None:
    """Who is to compute the next assignment; None: the coordinator."""
    if not transition.state.consumer_settings(group.group_id).client_assignors:
        return None
    supports = {each.member_id: _support_of(each.metadata) for each in group.members.values()}
    kinds = Counter(supports.values())
    name = common_assignor(kinds)
    reads_all = frozenset[Support]() if name is None else qualified(kinds, name)
    if name is None or not reads_all:
        return None
    able = [each for each, support in supports.items() if support in reads_all and not group.members[each].away]
    return ClientSide(name, able)


def _support_of(metadata: Metadata) -> Support:
    listed = tuple(
        [Listed(each.name, each.minimum_version, each.maximum_version) for each in metadata.client_assignors]
    )
    return Support(None, listed)


def check_support(group: ConsumerGroup, known: ConsumerMember | None, metadata: Metadata) -> None:
    """Raise Refused for a list after which no member could compute for all, if one could before."""
    if not metadata.client_assignors or (
        known is not None and known.metadata.client_assignors == metadata.client_assignors
    ):
        return
    others = Counter(_support_of(each.metadata) for each in group.members.values() if each is not known)
    now = others + Counter([_support_of(metadata)])
    if _leaves_nobody(now) and not _leaves_nobody(others):
        message = f"nobody in the group could read all versions of assignor {common_assignor(now)}"
        raise Refused(ErrorCode.UNSUPPORTED_ASSIGNOR, message)


def _leaves_nobody(kinds: Kinds) -> bool:
    name = common_assignor(kinds)
    return name is not None and not qualified(kinds, name)


def ensure_asked(transition: Transition, group: ConsumerGroup, selection: ClientSide) -> None:
    """Choose who computes, unless somebody is at it already."""
    begin_with_nothing(transition, group, selection.assignor)
    if group.epoch == group.assignment_epoch:
        return  # nobody has ever subscribed to anything
    computation = group.computation
    if computation is None:
        _choose(transition, group, selection, set())
        return
    if computation.frozen is not None and computation.chosen in selection.able:
        return  # if the group has moved on, the next computation starts when this one is installed
    is_same_input = (computation.epoch, computation.assignor) == (group.epoch, selection.assignor)
    if is_same_input and computation.chosen in selection.able:
        return
    _choose(transition, group, selection, computation.excluded if is_same_input else set())


def _choose(transition: Transition, group: ConsumerGroup, selection: ClientSide, excluded: set[str]) -> None:
    before = group.computation
    able = [each for each in selection.able if each not in excluded]
    if before is not None and before.chosen in able:
        before.epoch, before.assignor, before.excluded, before.frozen = group.epoch, selection.assignor, excluded, None
        _ask(group, before.chosen)
        return
    group.end_computation()
    chosen = group.computed_by if group.computed_by in able else first_able(transition, group, able)
    if chosen is None:
        if selection.able:
            how = f"has failed in every consumer that could run it: {', '.join(sorted(excluded)[:3])}"
            note_failure(transition, group, selection.assignor, how)
        return
    group.computation = Computation(group.epoch, selection.assignor, chosen, excluded)
    _ask(group, chosen)


def _ask(group: ConsumerGroup, member_id: str) -> None:
    """See to it that the member's next answer asks it to compute, and leaves at once."""
    member = group.members[member_id]
    member.told_to_compute = False
    group.forget(member)
    group.touched.add(member_id)


def give_up_chosen(transition: Transition, group: ConsumerGroup) -> None:
    """Exclude the chosen member, which failed at this input, and let the next one compute. If the group has moved on,
    the next input is another one: this member may compute that if nobody else can.
    """
    computation = group.computation
    assert computation is not None
    excluded = {*computation.excluded, computation.chosen}
    group.end_computation()
    selection = select(transition, group)
    if selection is None:
        return  # the coordinator computes
    if (computation.epoch, computation.assignor) != (group.epoch, selection.assignor):
        others = set(selection.able) - {computation.chosen}
        excluded = {computation.chosen} if others else set()
    _choose(transition, group, selection, excluded)
