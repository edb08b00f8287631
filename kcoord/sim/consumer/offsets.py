"""The judge of offsets: commits that land, offsets that were acknowledged, and where the next consumer begins.

| invariant | rules |
| --- | --- |
| zombie: no commit lands for a partition that exists and that another member has | KG-5, KG-8 |
| back: no committed offset goes back, except by late commits of the same consumer on an older connection | KG-5 |
| lost: what was acknowledged is there after a load, and whoever takes over begins there | KG-5 |
| refused: a member may commit what it has had since the epoch that it names | KG-3 |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from kcoord.group.state.groups.consumer_group import ConsumerGroup, Partition
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import OffsetCommitRequest, OffsetCommitResponse
from kcoord.protocol.records import OffsetCommitKey, OffsetCommitValue
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer.any_consumer import AnyConsumer
from kcoord.sim.network import Frame

Place: TypeAlias = tuple[str, str, int]
"""A group, a topic's name, a partition."""


@frozen(slots=True)
class Landing:
    """A committed offset, as the coordinator has it. -1: it was deleted."""

    offset: int
    partition: Partition | None = None
    """Which partition its consumer meant. A topic's name may stand for another one by now."""
    by: AnyConsumer | None = None
    connection: int = 0
    is_zombie: bool = False
    """Whether the partition was another's. The commits of that one go on from where it began."""


NOWHERE = Landing(-1)


class OffsetsJudge:
    """What is known of all committed offsets."""

    def __init__(
        self, reader_of: Callable[[str, Partition], AnyConsumer | None], is_there: Callable[[Partition], bool]
    ) -> None:
        self._reader_of = reader_of
        """Which member of a group reads a partition."""
        self._is_there = is_there
        """Whether the partition exists. A broker that lags behind shows deleted topics for a while."""
        self._landings: dict[Place, list[Landing]] = {}
        """The last one that was acknowledged, and those since."""
        self._waiting: dict[Frame, dict[Place, Landing]] = {}
        """What a commit has changed whose answer has not left."""

    def loaded(self, state: ShardState) -> None:
        """The log has been read: it has what was acknowledged, and some of what came after that."""
        self._waiting.clear()
        for place, landings in self._landings.items():
            group_id, topic, number = place
            value = state.offsets.of_topic(group_id, topic).get(number)
            offset = -1 if value is None else value.offset
            found = next((each for each in reversed(landings) if each.offset == offset), None)
            if found is None:
                known = ", ".join(str(each.offset) for each in landings)
                raise Violation("lost", f"{place}: the log gives {offset}, committed was {known}")
            self._landings[place] = [found]

    def after(self, state: ShardState, step: Step, frame: Frame | None) -> None:
        """A step was taken."""
        landed: dict[Place, Landing] = {}
        for record in step.records:
            key = record.key
            if isinstance(key, OffsetCommitKey):
                place = key.group, key.topic, key.partition
                value = record.value
                landing = self._landing(state, frame, place, value) if isinstance(value, OffsetCommitValue) else NOWHERE
                self._landings.setdefault(place, [NOWHERE]).append(landing)
                landed[place] = landing
        if frame is not None and landed:
            self._waiting[frame] = landed
        if frame is not None and isinstance(frame.request, OffsetCommitRequest):
            for reply in step.replies:
                if reply.token is frame and not step.faults:
                    _may_be_refused(state, frame, reply.response)

    def _landing(self, state: ShardState, frame: Frame | None, place: Place, value: OffsetCommitValue) -> Landing:
        assert frame is not None
        process, offset = frame.link.client, value.offset
        assert isinstance(process, AnyConsumer)
        group_id, name, number = place
        partition = process.commits[frame.number][name, number]
        group = state.consumer.get(group_id)
        assert isinstance(frame.request, OffsetCommitRequest)
        who = frame.request.member_id
        member = None if group is None else group.members.get(who)
        if process.excused and (group is None or (member is not None and member.metadata.instance_id is not None)):
            # a static member that was too late to join: as in Kafka, its commits land, also when its group has been
            # converted since, and what it had is another's
            return Landing(offset, partition, process, frame.link.serial, is_zombie=True)
        if group is not None:
            owner = group.owners.get(partition)
        else:
            reader = self._reader_of(group_id, partition)
            owner = None if reader is None else reader.member_id
        if owner != who and group is not None and _is_late_at_its_epoch(group, frame):
            return Landing(offset, partition, process, frame.link.serial, is_zombie=True)
        if owner not in (None, who) and self._is_there(partition):
            raise Violation("zombie", f"{who} commits {name}-{number}, which {owner} has")
        last = self._landings.get(place, [NOWHERE])[-1]
        is_late = last.by is process and (frame.copied or last.connection != frame.link.serial)
        if last.partition == partition and offset < last.offset and not is_late and not last.is_zombie:
            raise Violation("back", f"{who} commits {offset} of {name}-{number}, where {last.offset} was")
        return Landing(offset, partition, process, frame.link.serial)

    def leaves(self, frame: Frame) -> None:
        """An answer leaves. `frame.seen` 0: it says that nobody knows what became of the request."""
        landed = self._waiting.pop(frame, None)
        if landed is None or not frame.seen:
            return
        for place, landing in landed.items():
            landings = self._landings[place]
            if landing in landings:
                del landings[: landings.index(landing)]


def _is_late_at_its_epoch(group: ConsumerGroup, frame: Frame) -> bool:
    """Whether a commit comes on a connection that its consumer has given up, with the epoch that the member still has.
    It lands whatever the member has, as in Kafka: a member that has let go, and must let go of more, keeps its epoch.
    """
    request = frame.request
    assert isinstance(request, OffsetCommitRequest)
    member = group.members.get(request.member_id)
    if member is None or frame.link.serial >= member.connection:
        return False
    return request.generation_id_or_member_epoch == member.epoch


def _may_be_refused(state: ShardState, frame: Frame, response: Response) -> None:
    """Check that a member was not refused what it may commit."""
    assert isinstance(response, OffsetCommitResponse)
    request, process = frame.request, frame.link.client
    assert isinstance(request, OffsetCommitRequest)
    assert isinstance(process, AnyConsumer)
    errors = {each.error_code for topic in response.topics for each in topic.partitions}
    if not errors & {ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID}:
        return
    group = state.consumer.get(request.group_id)
    if group is not None and _has_all(group, request, process.commits[frame.number].values()):
        epoch = request.generation_id_or_member_epoch
        raise Violation("refused", f"{process.member_id} may not commit with epoch {epoch} what it has")


def _has_all(group: ConsumerGroup, request: OffsetCommitRequest, partitions: Iterable[Partition]) -> bool:
    member = group.members.get(request.member_id)
    epoch = request.generation_id_or_member_epoch
    if member is None or member.away or epoch > group.assignment_epoch:
        return False
    existing = {topic.id for topic in group.topics.values()}
    return all(
        each[0] in existing and each in member.current and member.epochs.get(each, 0) <= epoch for each in partitions
    )
