"""The assignment of a classic member, decoded for people to read.

Two protocols embed assignments in a public format: consumers (`protocol/consumer_embedded.py`) and Connect workers
(`protocol/embedded.py`). For anything else, the text is the size in bytes.
"""

from kcoord.cli.output.resource_texts import ranges, resources_text
from kcoord.protocol.consumer_embedded import decode_assignment as decode_consumed
from kcoord.protocol.embedded import EAGER, EmbeddedError, decode_assignment, decode_state
from kcoord.resource import Resource


def assignment_text(protocol_type: str, data: bytes, metadata: bytes = b"") -> str:
    """`orders: 0-2, 5` for a consumer, `files: connector, 0-3` for a worker. `metadata` says what the worker ran
    before.
    """
    if not data:
        return "nothing"
    try:
        if protocol_type == "connect":
            return resources_text(_run_by(data, metadata), "nothing")
        if protocol_type == "consumer":
            return _consumed(data) or "nothing"
    except EmbeddedError:
        pass
    return f"{len(data)} bytes"


def _consumed(data: bytes) -> str:
    found: dict[str, list[int]] = {}
    for topic, number in decode_consumed(data).partitions:
        found.setdefault(topic, []).append(number)
    return "; ".join(f"{topic}: {ranges(numbers)}" for topic, numbers in found.items())


def _run_by(data: bytes, metadata: bytes) -> frozenset[Resource]:
    """What a worker runs with this assignment. From `compatible` on, an assignment contains only the changes."""
    told = decode_assignment(data)
    if told.version == EAGER or not metadata:
        return told.assigned
    allocation = decode_state(metadata).allocation
    reported = frozenset[Resource]() if allocation is None else allocation.assigned
    return (reported - told.revoked) | told.assigned
