"""The isolation of faults: a part of a step that breaks off is undone, and only its request or its group suffers.

Every part of a step runs under `carry_out`: a request, a sweep of one group, the sending of one held answer. Rules:

1. When the part has ended, its records are encoded and measured. If anything raises, for instance because a record
   cannot be encoded or does not fit the log, the part is undone: its records go, and the durable state is as before.
2. The groups that the part named or wrote to are restored: opened as after a load, from their durable state. Clients
   that waited in them or were answered by the part get NOT_COORDINATOR and ask again. No other group notices anything.
3. If the fault happened in something that fell due, the group is quarantined (`quarantine`). If a group cannot be
   opened again, it is closed: its requests are refused with COORDINATOR_NOT_AVAILABLE until it can be opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import attrs

from kcoord.group.classic.sessions import open_sessions
from kcoord.group.connect.timers import open_connect_sessions
from kcoord.group.consumer.timers import open_consumer_sessions
from kcoord.group.conversion.conversion_trigger import follow
from kcoord.group.modern.held_replies import take_held
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.quarantine import quarantined
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Fault, Step, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.primitives import EncodeError
from kcoord.protocol.records import encode_record

RECORD_BYTES = 32 << 20
"""The largest record, key and value together, that fits every log, in bytes."""
STEP_BYTES = 256 << 20
"""The largest size of all records of one step, in bytes."""

Fits = Callable[[bytes, bytes | None], bool]
"""Whether a record with this key and value fits the log."""


class TooLarge(Exception):
    """The records of a step do not fit the log. The text says what is too large, and how large it is."""


def error_of(fault: Fault) -> ErrorCode:
    """The error for the answer to a request that broke off. A request whose records are too large must not be repeated:
    it gets UNKNOWN_SERVER_ERROR, as in Apache Kafka. All others get a retriable error, because an error that is not
    retriable would end Java's client.
    """
    if isinstance(fault.error, TooLarge | EncodeError):
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return ErrorCode.COORDINATOR_NOT_AVAILABLE


def fits_every_log(key: bytes, value: bytes | None) -> bool:
    """Whether a record is within `RECORD_BYTES`."""
    return len(key) + len(value or b"") <= RECORD_BYTES


def dismiss(state: ShardState, group_id: str) -> list[Token]:
    """End the sessions of the group of that name, so that nothing is answered for it any more. Return the tokens that
    wait in it.
    """
    for classic in filter(None, [state.groups.get(group_id)]):
        classic.close()
    for modern in filter(None, [state.modern_group(group_id)]):
        modern.close()
    held = [member for each in state.held.values() for group, member in each.values() if group.group_id == group_id]
    for member in held:
        take_held(state, member)
    tokens = [token for token, waits_in in state.waiting.values() if waits_in == group_id]
    for token in tokens:
        del state.waiting[id(token)]
    return tokens


@frozen(slots=True, eq=False)
class Isolation:
    """Runs the parts of one turn."""

    transition: Transition
    fits: Fits

    def carry_out(
        self, group_id: str | None, during: str, work: Callable[[], object], own: Token | None = None
    ) -> bool:
        """Do `work`, a part of the turn's step that concerns `group_id` and the groups that it writes to. False if it
        broke off: then it is undone and noted in the step's `faults`, and the caller must still answer `own`, the
        token of the request that asked for it.
        """
        step, journal = self.transition.step, self.transition.journal
        before = len(step.records), len(step.replies)
        if journal.groups:
            journal.clear()
        try:
            work()
            if len(step.records) > before[0]:
                self._measure(step, before[0])
            if len(step.replies) > before[1]:
                self._answered(before[1])
        except Exception as error:
            if group_id is not None:
                journal.note_group(self.transition.state, group_id)
            self._undo(before, own)
            named = group_id if group_id is not None else next(iter(journal.groups), "")
            step.faults.append(Fault(named, during, error))
            self.transition.state.counters.faults[during] += 1
            self._open_again(list(journal.groups))
            return False
        return True

    def fell_due(self, group: ClassicGroup | AnyGroup, during: str, work: Callable[[], object]) -> None:
        """Do `work`, which is due in `group`, unless the group is in quarantine. Quarantine the group if that fails."""
        state, now_ms, group_id = self.transition.state, self.transition.now_ms, group.group_id
        known = state.quarantine.get(group_id)
        if known is not None and now_ms < known.until_ms:
            self.transition.wake(group, known.until_ms)
        elif known is not None and known.closed:
            self._open_again([group_id])
        elif not self.carry_out(group_id, during, work):
            if not self._is_closed(group_id):
                self._quarantine(group_id, closed=False)
        elif known is not None:
            state.quarantine.pop(group_id, None)

    def _answered(self, begin: int) -> None:
        """Note that the clients that were answered no longer wait."""
        waiting = self.transition.state.waiting
        if waiting:
            for reply in self.transition.step.replies[begin:]:
                waiting.pop(id(reply.token), None)

    def _measure(self, step: Step, begin: int) -> None:
        """Encode the records from `begin` on, and check their sizes. Raises EncodeError and TooLarge."""
        level, total = self.transition.state.record_level, step.encoded_bytes
        encoded = []
        for record in step.records[begin:]:
            raw = key, value = encode_record(record, level)
            size = len(key) if value is None else len(key) + len(value)
            if not self.fits(key, value):
                raise TooLarge(f"a {record.key.NAME} record of {size} bytes is more than the log takes")
            total += size
            encoded.append(raw)
        if total > STEP_BYTES:
            raise TooLarge(f"a step of {total} bytes is more than the {STEP_BYTES} that are written at once")
        step.encoded += encoded
        step.encoded_bytes = total

    def _undo(self, before: tuple[int, int], own: Token | None) -> None:
        state, step, journal = self.transition.state, self.transition.step, self.transition.journal
        tokens = [reply.token for reply in step.replies[before[1] :]]
        for group_id, noted in journal.groups.items():
            tokens += dismiss(state, group_id)
            for each in (noted.classic, None if noted.connect is None else noted.connect.group):
                if each is not None:  # the step may have replaced it, and the hot path may still know it
                    each.close()
        del step.records[before[0] :], step.replies[before[1] :]
        journal.undo(state)
        step.refused += {id(token): token for token in tokens if token is not own}.values()

    def _open_again(self, group_ids: Iterable[str]) -> None:
        """Open the sessions of restored groups. A group for which this breaks off too is closed."""
        for group_id in group_ids:
            begin = len(self.transition.step.records), len(self.transition.step.replies)
            journal = self.transition.journal
            journal.clear()
            try:
                self._open(group_id)
                restored = self.transition.state.modern_group(group_id)
                if restored is not None:
                    restored.restored_at_ms = self.transition.now_ms
                self._measure(self.transition.step, begin[0])
                self._answered(begin[1])
            except Exception as error:
                journal.note_group(self.transition.state, group_id)
                self._undo(begin, None)
                self.transition.step.faults.append(Fault(group_id, "opening the group", error))
                self.transition.state.counters.faults["opening the group"] += 1
                self._quarantine(group_id, closed=True)
            else:
                known = self.transition.state.quarantine.get(group_id)
                if known is not None and known.closed:
                    del self.transition.state.quarantine[group_id]

    def open_loaded(self, group_id: str) -> None:
        """Open the sessions of a loaded group. A group for which this breaks off is restored, and closed if opening it
        again breaks off too; the others are served.
        """
        self.carry_out(group_id, "a load", partial(self._open, group_id))

    def _is_closed(self, group_id: str) -> bool:
        known = self.transition.state.quarantine.get(group_id)
        return known is not None and known.closed

    def _open(self, group_id: str) -> None:
        classic = self.transition.state.groups.get(group_id)
        if classic is not None:
            open_sessions(self.transition, classic)
            follow(self.transition, classic)
            return
        connect = self.transition.state.connect.get(group_id)
        if connect is not None:
            open_connect_sessions(self.transition, connect)
        consumer = self.transition.state.consumer.get(group_id)
        if consumer is not None:
            open_consumer_sessions(self.transition, consumer)

    def _quarantine(self, group_id: str, *, closed: bool) -> None:
        state, step = self.transition.state, self.transition.step
        group = state.any_group(group_id)
        if group is None:
            return
        fault = step.faults[-1]
        known = quarantined(
            state.quarantine.get(group_id),
            self.transition.now_ms,
            fault.during,
            bounded_text(f"{type(fault.error).__name__}: {fault.error}"),
            closed,
        )
        state.quarantine[group_id] = known
        step.faults[-1] = attrs.evolve(fault, quarantined_ms=known.length_ms, closed=closed)
        self.transition.wake(group, known.until_ms)
