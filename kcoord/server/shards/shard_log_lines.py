"""Log lines about a shard's steps: rebalances, repeated rebalances, faults, and senders of refused requests."""

from __future__ import annotations

import logging

from kcoord.group.isolation import TooLarge
from kcoord.group.state.bounded_text import bounded_name
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.repeated_rebalances import LONGEST_MS
from kcoord.group.state.step import Fault, RequestContext, Slowed, Step, Unassigned
from kcoord.protocol.primitives import EncodeError
from kcoord.protocol.records import (
    ConnectWorkerGroupMetadataValue,
    ConsumerGroupHistoryKey,
    ConsumerGroupHistoryValue,
    GroupMetadataValue,
    Record,
)

__all__ = ["sender", "tell_of_step"]

log = logging.getLogger("kcoord.coordinator")

NOT_YET = -1
"""The time at which an assignment was made that was not made yet."""
SHOWN_CHARS = 64
"""Characters of a client's id that are logged."""


def tell_of_step(partition: int, step: Step) -> None:
    """Log what a step of that partition's shard has done that somebody should know."""
    for record in step.records:
        _tell_of_rebalance(record)
    for fault in step.faults:
        _tell_of_fault(partition, fault)
    for slowed in step.slowed:
        _tell_of_slowed(slowed)
    for unassigned in step.unassigned:
        _tell_of_unassigned(unassigned)


def _tell_of_rebalance(record: Record) -> None:
    """Log one line for each new generation or group epoch, with the reason for the rebalance."""
    group = record.value
    if isinstance(group, ConnectWorkerGroupMetadataValue):
        group_id = getattr(record.key, "group_id", "")
        log.info("connect group %s: epoch %d: %s", group_id, group.epoch, group.reason)
    elif isinstance(record.key, ConsumerGroupHistoryKey) and isinstance(group, ConsumerGroupHistoryValue):
        if group.installed_timestamp == NOT_YET:
            log.info("consumer group %s: epoch %d: %s", record.key.group_id, record.key.epoch, group.reason)
    elif isinstance(group, GroupMetadataValue) and group.state == ClassicState.COMPLETING.label:
        log.info(
            "group %s: generation %d of %d members (%s, %s): %s",
            getattr(record.key, "group", ""),
            group.generation,
            len(group.members),
            group.protocol_type,
            group.protocol,
            group.reason,
        )


def _tell_of_slowed(slowed: Slowed) -> None:
    """Log one line when a group's rebalances start to be delayed, because the last ones changed nothing."""
    if slowed.begins:
        log.warning(
            "group %s: the last %d rebalances changed nothing: the next ones wait, up to %d s each, until one does",
            slowed.group_id,
            slowed.times,
            LONGEST_MS // 1_000,
        )


def _tell_of_unassigned(unassigned: Unassigned) -> None:
    """Log one line when the assignor of a consumer group fails for the first time at a group epoch."""
    if unassigned.times == 1:
        log.warning("group %s: %s; it keeps its assignment, and tries again", unassigned.group_id, unassigned.why)


def sender(context: RequestContext) -> str:
    """The sender of a request, safe for a log line."""
    return f"client {context.client_id[:SHOWN_CHARS]!r} at {context.client_host}"


def _tell_of_fault(partition: int, fault: Fault) -> None:
    """Log what failed in which group, what that means for the group, and why it failed."""
    if fault.closed:
        then = f"the group is not served; it is tried again in {fault.quarantined_ms} ms"
    elif fault.quarantined_ms:
        then = f"it is undone, and nothing falls due in the group for {fault.quarantined_ms} ms"
    else:
        then = "it is undone, and the group goes on from its records"
    where = f"partition {partition}, group {bounded_name(fault.group_id)}"
    if isinstance(fault.error, TooLarge | EncodeError):
        log.error("%s: %s could not be written: %s; %s", where, fault.during, fault.error, then)
    else:
        log.error("%s: a fault of kcoord's own in %s; %s", where, fault.during, then, exc_info=fault.error)
