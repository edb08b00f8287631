"""Sabotaged steps: each step of a history is first tried on a copy of the shard, where it breaks off at a chosen place.

The copy must be as if the step had never been: the durable state is what the log tells, other groups' sessions are
untouched, everybody who waited still waits or is told to ask again, no hot answer of the group is left, and the same
step then succeeds on the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any
from unittest.mock import patch

import attrs

from kcoord.group.shard import Shard
from kcoord.group.state import transition as turn
from kcoord.group.state.replay import replay as real
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.records import Record
from tests.group.connect.consistency import check_consistent as check_connect
from tests.group.connect.consistency import durable, session
from tests.group.consistency import check_consistent, durable_state
from tests.group.consumer.consistency import durable as durable_consumers

NOWHERE, END = -2, -1
PLACES = (0, END, 1)
"""Where a step breaks off: before its first record is applied, when all is written, before its second."""

Take = Callable[[Shard], Step]


class Sabotaged(Exception):
    """What broke off the step."""


def everything(state: ShardState) -> Any:
    """All that the log tells of the shard."""
    return durable_state(state), durable(state), durable_consumers(state)


def sessions(shard_state: ShardState, without: set[str]) -> Any:
    """The sessions of all groups but these."""
    classic = {
        group_id: [
            (
                member.member_id,
                member.last_seen_ms,
                None if member.parked_join is None else id(member.parked_join.token),
                None if member.parked_sync is None else id(member.parked_sync),
            )
            for member in group.members.values()
        ]
        for group_id, group in shard_state.groups.items()
        if group_id not in without
    }
    return classic, {each: state for each, state in session(shard_state).items() if each not in without}


@attrs.define
class Saboteur:
    """Breaks off steps: each at its first record, at its second, and when all is written (`PLACES`)."""

    settings: GroupSettings
    attacks: int = 0
    """Steps that were broken off."""

    def attack(self, shard: Shard, log: Sequence[Record], own: object | None, now_ms: int, take: Take) -> None:
        """Break off `take` wherever it writes something. `own`: the token of its request."""
        for place in PLACES:
            if not self._attack(shard, log, own, now_ms, take, place):
                return

    def _attack(
        self, shard: Shard, log: Sequence[Record], own: object | None, now_ms: int, take: Take, place: int
    ) -> bool:
        """Whether there was something to break off."""
        state = shard.state
        kept = [*(token for token, _ in state.waiting.values()), own, getattr(state.ids, "__self__", None)]
        copy = deepcopy(shard, {id(each): each for each in kept})
        well = deepcopy(shard, {id(each): each for each in kept})
        before = [token for token, _ in copy.state.waiting.values()]
        step = self._broken(copy, take, place)
        if not step.faults:
            return False
        self.attacks += 1
        assert all(isinstance(fault.error, Sabotaged) for fault in step.faults), step.faults
        take(well)
        self._check_state(well.state, copy, log, step, now_ms)
        _check_tokens(copy, before, own, step)
        take(copy).checked()
        return True

    def _broken(self, copy: Shard, take: Take, place: int) -> Step:
        left = [place]

        def replay(state: ShardState, record: Record) -> None:
            if left[0] == 0:
                left[0] = NOWHERE
                raise Sabotaged
            left[0] -= 1
            real(state, record)

        def fits(key: bytes, value: bytes | None) -> bool:
            if left[0] == END:
                left[0] = NOWHERE
                raise Sabotaged
            return True

        copy._fits = fits
        if place == END:
            return take(copy)
        with patch.object(turn, "replay", replay):
            return take(copy)

    def _check_state(self, well: ShardState, copy: Shard, log: Sequence[Record], step: Step, now_ms: int) -> None:
        """`well`: where the step did not break off."""
        told = Shard(self.settings, lambda: "id")
        for record in (*log, *step.records):
            told.replay(record)
        assert everything(copy.state) == everything(told.state), "the log tells another state"
        touched = {fault.group_id for fault in step.faults}
        assert len(touched) == 1
        assert sessions(copy.state, touched) == sessions(well, touched), "another group was touched"
        check_consistent(copy.state, now_ms)
        check_connect(copy.state, now_ms)


def _check_tokens(copy: Shard, before: Sequence[object], own: object | None, step: Step) -> None:
    answered = [id(reply.token) for reply in step.replies if reply.token is not None]
    refused = [id(token) for token in step.refused]
    waits = list(copy.state.waiting)
    everybody = [id(each) for each in (*before, *([own] if own is not None else []))]
    assert sorted([*answered, *refused, *waits]) == sorted(everybody), "somebody is forgotten, or answered twice"
    if own is not None:
        assert id(own) not in refused
