"""What a classic consumer said of itself in its JoinGroup, as a consumer group writes it down."""

from __future__ import annotations

from typing import Protocol

from kcoord.group.state.groups.classic_member import Protocols
from kcoord.group.state.groups.consumer_group import ConsumerMember, Metadata
from kcoord.protocol.consumer_embedded import Subscription
from kcoord.protocol.generated.consumer_group_member_metadata_value import ClassicMemberMetadata, ClassicProtocol


class Said(Protocol):
    """What a JoinGroup says, and a member of a classic group that has sent one."""

    @property
    def instance_id(self) -> str | None: ...
    @property
    def client_id(self) -> str: ...
    @property
    def client_host(self) -> str: ...
    @property
    def session_timeout_ms(self) -> int: ...
    @property
    def rebalance_timeout_ms(self) -> int: ...
    @property
    def protocols(self) -> Protocols: ...


def metadata_of(said: Said, subscription: Subscription) -> Metadata:
    """The value of the member's record."""
    return Metadata(
        instance_id=said.instance_id,
        rack_id=subscription.rack_id,
        client_id=said.client_id,
        client_host=said.client_host,
        subscribed_topic_names=list(subscription.topics),
        subscribed_topic_regex=None,
        rebalance_timeout_ms=said.rebalance_timeout_ms,
        server_assignor=None,
        classic_member_metadata=ClassicMemberMetadata(
            said.session_timeout_ms, [ClassicProtocol(name, metadata) for name, metadata in said.protocols]
        ),
    )


def classic_part(member: ConsumerMember) -> ClassicMemberMetadata:
    """The part of it that only classic members have."""
    found = member.metadata.classic_member_metadata
    assert found is not None, f"{member.member_id} speaks the consumer protocol"
    return found


def protocols_of(member: ConsumerMember) -> Protocols:
    """The assignors that it named, the preferred one first, each with its subscription."""
    return tuple((each.name, each.metadata) for each in classic_part(member).supported_protocols)
