"""Random requests of consumers of the new protocol (KIP-848), and about topics: they follow from earlier answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kcoord.protocol.generated import consumer_group_install_assignment_request as install
from kcoord.protocol.generated.consumer_group_heartbeat_request import Assignor as OwnAssignor
from kcoord.protocol.generated.consumer_group_heartbeat_request import TopicPartitions as OwnedPartitions
from kcoord.protocol.generated.create_partitions_request import CreatePartitionsTopic
from kcoord.protocol.generated.create_topics_request import CreatableTopic
from kcoord.protocol.generated.delete_topics_request import DeleteTopicState
from kcoord.protocol.generated.fetch_request import FetchPartition, FetchTopic
from kcoord.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kcoord.protocol.message_base import Request
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupPrepareAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    ListOffsetsRequest,
    MetadataRequest,
    ProduceRequest,
)
from tests.hostile.session_members import Known, KnownMembers

TOPICS = ("t0", "t1", "t2", "u")


class ConsumerRequests(KnownMembers):
    """What a `Drawer` draws of consumers and topics."""

    def _learn_consumer(self, request: ConsumerGroupHeartbeatRequest, response: ConsumerGroupHeartbeatResponse) -> None:
        if response.error_code or request.member_epoch < 0 or response.member_id is None:
            return
        member = self._find(request.group_id, response.member_id)
        member.is_consumer, member.epoch = True, response.member_epoch
        member.instance_id = request.instance_id or member.instance_id
        if response.should_compute_assignment:
            self._follow(partial(self._consumer_prepares, member))
        if response.assignment is not None:
            member.partitions = [(each.topic_id, each.partitions) for each in response.assignment.topic_partitions]
            self._follow(partial(self._consumer_lives, member))

    def _consumer_beat(self) -> Request:
        rng = self.rng
        consumers = [each for each in self.known if each.is_consumer]
        if not consumers or rng.random() < 0.3:
            return self._consumer_joins(consumers)
        member = rng.choice(consumers[-8:])
        if rng.random() < 0.15:
            epoch = -1 if member.instance_id is None or rng.random() < 0.5 else -2
            return ConsumerGroupHeartbeatRequest(member.group_id, member.member_id, epoch, member.instance_id)
        return self._consumer_lives(member)

    def _consumer_joins(self, consumers: list[Known]) -> Request:
        rng = self.rng
        self._workers += 1
        comes_back = consumers and rng.random() < 0.3
        member = rng.choice(consumers) if comes_back else Known(self._group(), f"consumer-{self._workers}")
        by_pattern, computes = rng.random() < 0.3, rng.random() < 0.4
        return ConsumerGroupHeartbeatRequest(
            member.group_id,
            member.member_id,
            0,
            member.instance_id if comes_back else rng.choice((None, None, "i1", "i2")),
            rng.choice((None, "rack")),
            rng.choice((1_000, 30_000)),
            None if by_pattern else rng.sample(TOPICS, rng.randint(0, 3)),
            rng.choice(("t.*", ".*", "(", "x|t0", "")) if by_pattern else None,
            None if computes else rng.choice((None, None, "uniform", "range", "other")),
            [],
            self._own_assignors() if computes else None,
        )

    def _own_assignors(self) -> list[OwnAssignor]:
        rng = self.rng
        names = rng.sample(("mine", "other", ""), 1 if rng.random() < 0.8 else 2)
        return [OwnAssignor(name, 0, 1, rng.choice((0, 0, 1)), rng.randint(0, 1), self._bytes()) for name in names]

    def _some_consumer(self) -> Known:
        consumers = [each for each in self.known if each.is_consumer]
        return self.rng.choice(consumers[-8:]) if consumers else Known(self._group(), "nobody")

    def _consumer_prepares(self, member: Known | None = None) -> Request:
        member = member or self._some_consumer()
        return ConsumerGroupPrepareAssignmentRequest(member.group_id, member.member_id, member.epoch)

    def _learn_prepared(
        self, request: ConsumerGroupPrepareAssignmentRequest, response: ConsumerGroupPrepareAssignmentResponse
    ) -> None:
        if response.error_code:
            return
        member = self._find(request.group_id, request.member_id)
        member.prepared_epoch = response.group_epoch
        members = [each.member_id for each in response.members]
        shares = [(topic.topic_id, list(range(topic.num_partitions))) for topic in response.topics]
        self._follow(partial(self._consumer_installs, member, members, shares))

    def _consumer_installs(
        self,
        member: Known | None = None,
        members: Sequence[str] = (),
        shares: Sequence[tuple[bytes, list[int]]] = (),
    ) -> Request:
        """Mostly everything for one member; sometimes nonsense."""
        rng = self.rng
        member = member or self._some_consumer()
        share = list(shares) if rng.random() < 0.8 else [(self._topic_id(), [0, 0, rng.choice((-1, 1, 2**31 - 1))])]
        takers = [*members, "nobody"] if rng.random() < 0.1 else list(members)[:1]
        told = [
            install.Member(each, [install.TopicPartitions(*part) for part in share], rng.randint(0, 1), self._bytes())
            for each in takers
        ]
        error = rng.choice((0, 0, 0, 0, 1))
        return ConsumerGroupInstallAssignmentRequest(
            member.group_id, member.member_id, member.epoch, member.prepared_epoch, error, told
        )

    def _consumer_lives(self, member: Known) -> Request:
        """A consumer's heartbeat in the midst of its life."""
        rng = self.rng
        owned = None if rng.random() < 0.4 else [OwnedPartitions(*each) for each in member.partitions]
        request = ConsumerGroupHeartbeatRequest(
            member.group_id, member.member_id, member.epoch, member.instance_id, topic_partitions=owned
        )
        if rng.random() < 0.2:
            request.subscribed_topic_names = rng.sample(TOPICS, rng.randint(0, 3))
        if rng.random() < 0.1:
            request.client_assignors = self._own_assignors()
        return request

    def _change_topics(self) -> Request:
        rng = self.rng
        name = rng.choice((*TOPICS, "..", "t" * 300))
        count = rng.choice((-1, 0, 1, 2, 5, 30, 2**31 - 1))
        return rng.choice(
            (
                CreateTopicsRequest([CreatableTopic(name, count, rng.choice((-1, 1, 3)))], 1_000, rng.random() < 0.1),
                CreatePartitionsRequest([CreatePartitionsTopic(name, count, None)], 1_000, rng.random() < 0.1),
                DeleteTopicsRequest([DeleteTopicState(rng.choice((name, None)), self._topic_id())], [name], 1_000),
            )
        )

    def _topic_id(self) -> bytes:
        return self.rng.choice(self.topic_ids) if self.topic_ids and self.rng.random() < 0.9 else self.rng.randbytes(16)

    def _read(self) -> Request:
        rng = self.rng
        name, partition = rng.choice(TOPICS), rng.choice((0, 0, 1, -1, 99))
        wanted = FetchTopic(name, self._topic_id(), [FetchPartition(partition, fetch_offset=rng.choice((0, 7, -1)))])
        produced = TopicProduceData(name, self._topic_id(), [PartitionProduceData(partition, self._bytes())])
        asked = ListOffsetsPartition(partition, timestamp=rng.choice((-1, -2, -3, 5)))
        return rng.choice(
            (
                FetchRequest(
                    max_wait_ms=rng.choice((0, 1, 500, 2**31 - 1)), min_bytes=rng.choice((0, 1)), topics=[wanted]
                ),
                ListOffsetsRequest(-1, topics=[ListOffsetsTopic(name, [asked])]),
                ProduceRequest(acks=rng.choice((-1, -1, 1)), topic_data=[produced]),
                MetadataRequest(None),
                MetadataRequest([MetadataRequestTopic(self._topic_id(), rng.choice((name, None)))]),
            )
        )
