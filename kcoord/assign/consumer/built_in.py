"""The assignors of consumer groups that come with kcoord."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcoord.assign.consumer.interface import ConsumerAssignor
from kcoord.assign.consumer.ranges import RangeConsumerAssignor
from kcoord.assign.consumer.uniform import UniformConsumerAssignor

CONSUMER_ASSIGNORS: Mapping[str, Callable[[], ConsumerAssignor]] = {
    UniformConsumerAssignor.name: UniformConsumerAssignor,
    RangeConsumerAssignor.name: RangeConsumerAssignor,
}
"""By the names for `group.remote.assignor`, the default first."""
