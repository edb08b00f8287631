"""A consumer of the new consumer group protocol (KIP-848) for asyncio. Its guide is docs/python-consumer.md.

The protocol is a pure state machine, with asyncio around it; aiokafka fetches the records.

Start at `membership` (the protocol), then `membership_driver`, `reading` and `consumer` (what programs use).
"""

from kcoord.consumer.consumer import Consumer
from kcoord.consumer.errors import CommitFailed, ConsumerError, ConsumerStopped

__all__ = ["CommitFailed", "Consumer", "ConsumerError", "ConsumerStopped"]
