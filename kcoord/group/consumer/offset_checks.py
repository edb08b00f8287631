"""Which commits and fetches of offsets a consumer group allows.

A member commits with its epoch. One that has not heard of the latest epoch yet may commit what it has had since then:
its assignment epochs tell. After a load its epoch may be any from the written one to the assignment epoch (KG-3), and
the same counts. Commits do not prolong a session.
"""

from __future__ import annotations

from collections.abc import Iterable

from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember
from kcoord.protocol.errors import ErrorCode

Named = tuple[str | bytes, int]
"""A topic's name or its id, and a partition."""


def check_commit(
    group: ConsumerGroup, member_id: str, epoch: int, partitions: Iterable[Named], *, transactional: bool = False
) -> ErrorCode:
    """NONE, or the error. Somebody without a member may commit while the group has no members, in a transaction always.
    `partitions`: what is to be committed; one that the member may not commit fails all. A producer does not know
    STALE_MEMBER_EPOCH: it is told ILLEGAL_GENERATION, as Kafka does. So is a classic member.
    """
    if transactional:
        if epoch < 0 and not member_id:
            return ErrorCode.NONE
        error = check_commit(group, member_id, epoch, partitions)
        return ErrorCode.ILLEGAL_GENERATION if error == ErrorCode.STALE_MEMBER_EPOCH else error
    if epoch < 0 and not group.members:
        return ErrorCode.NONE
    member = group.members.get(member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if epoch == member.epoch:
        return ErrorCode.NONE
    stale = ErrorCode.ILLEGAL_GENERATION if member.is_classic else ErrorCode.STALE_MEMBER_EPOCH
    if epoch > _highest_epoch(group, member) or epoch < 0:
        return stale
    has_all = all(_has_since(group, member, each, epoch) for each in partitions)
    return ErrorCode.NONE if has_all else stale


def _highest_epoch(group: ConsumerGroup, member: ConsumerMember) -> int:
    """The highest epoch that the member may have been told."""
    return group.assignment_epoch if member.epoch_unsure else member.epoch


def _has_since(group: ConsumerGroup, member: ConsumerMember, named: Named, epoch: int) -> bool:
    """Whether the member has had that partition since this epoch, or longer."""
    name, number = named
    if isinstance(name, str):
        topic = group.topics.get(name)
        if topic is None:
            return False
        name = topic.id
    partition = name, number
    return partition in member.current and member.epochs.get(partition, 0) <= epoch


def check_fetch(group: ConsumerGroup, member_id: str | None, epoch: int) -> ErrorCode:
    """NONE, or the error. Somebody who names no member may fetch."""
    if member_id is None and epoch < 0:
        return ErrorCode.NONE
    member = group.members.get(member_id or "")
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    is_its = epoch in (member.epoch, member.known_epoch) or member.epoch < epoch <= _highest_epoch(group, member)
    return ErrorCode.NONE if is_its else ErrorCode.STALE_MEMBER_EPOCH
