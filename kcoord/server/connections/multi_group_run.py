"""The batch run: a request that names several groups is carried out group by group, with other clients' turns between.

It works in the turn queue, in three passes. First it walks over the bytes, so that a batch that cannot be decoded
touches nothing. Then, if there is a `survey`, it shows it all slices before the first one is carried out. Then it
submits the slices; it begins the next one when the previous one is answered.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from kcoord.group.api_handlers_and_rights import ALL_APIS, Writes
from kcoord.group.multi_group_requests import BatchAnswer
from kcoord.group.request_limits import SLICE, SLICE_WEIGHT, RequestLimits, TooLarge, too_many_elements
from kcoord.group.state.step import CachedReply
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.batch_splitting import RequestBatch
from kcoord.protocol.element_walk import TooManyElements
from kcoord.protocol.frame_start import FrameRefused
from kcoord.protocol.messages import (
    RESPONSES,
    Request,
    Response,
    api_name,
)
from kcoord.protocol.primitives import DecodeError, EncodeError
from kcoord.server.connections.connection import Connection

log = logging.getLogger("kcoord.server")

CHANGES = frozenset(row.request for row in ALL_APIS if row.batch is not None and row.writes is Writes.ALWAYS)
"""Requests that are carried out even if their client goes before their turn comes."""

Submit = Callable[[Request, Callable[[Response, CachedReply | None], None]], None]


class BatchRun:
    """One batch of one connection, while it is carried out."""

    def __init__(
        self,
        turns: TurnQueue,
        limits: RequestLimits,
        connection: Connection,
        batch: RequestBatch,
        submit: Submit,
        survey: Callable[[Request], None] | None = None,
    ) -> None:
        self._turns = turns
        self._limits = limits
        self._connection = connection
        self._batch = batch
        self._submit = submit
        self._survey = survey
        self._work = self._steps()
        self._answered: list[Response] = []
        self._is_waiting = False
        version = batch.call.header.api_version
        self._answer = BatchAnswer(RESPONSES[batch.kind.API_KEY], version, limits.answer_bytes)

    def start(self) -> None:
        """Queue up for the first slice."""
        self._turns.add(self._take_slice)

    def _take_slice(self) -> bool:
        if self._batch.kind not in CHANGES and not self._connection.is_in_work(self._batch.call):
            return False  # the client has gone
        try:
            return next(self._work, False)
        except (DecodeError, EncodeError, FrameRefused) as fault:
            self._connection.close(f"{api_name(self._batch.kind.API_KEY)}: {fault}")
        except TooManyElements:
            self._refuse()
        except Exception:
            log.exception("a fault of kcoord's own in a batch of %s", self._connection.peer)
            self._connection.close("a fault of kcoord's own")
        return False

    def _steps(self) -> Iterator[bool]:
        """The work, one step for each slice. A step yields whether the next slice may be taken at once."""
        batch = self._batch
        while not batch.walk_on(self._limits.elements):
            yield True
        yield True
        if self._survey is not None:
            for request in batch.slices(SLICE, SLICE_WEIGHT):
                self._survey(request)
                yield True
        for request in batch.slices(1, SLICE_WEIGHT):
            if self._answer.is_full:
                self._answer.refuse(request)
                yield True
                continue
            self._answered = []
            self._submit(request, self._take)
            if not self._answered:
                self._is_waiting = True
                yield False
                self._is_waiting = False
            yield True  # writing one group's answer may take a slice of its own
            for _ in self._answer.add(request, self._answered[0]):
                yield True
        if self._answer.is_full:
            log.warning(
                "%s: the answer to %s is above %d bytes, what does not fit is refused (response.max.bytes)",
                self._connection.peer,
                api_name(batch.kind.API_KEY),
                self._limits.answer_bytes,
            )
        self._connection.answer(batch.call, self._answer)

    def _take(self, response: Response, _remember: CachedReply | None) -> None:
        self._answered.append(response)
        if self._is_waiting:
            self._turns.add(self._take_slice)

    def _refuse(self) -> None:
        refusal = too_many_elements(self._batch.kind, self._batch.call.header.api_version, self._limits)
        if isinstance(refusal, TooLarge):
            log.warning("%s: %s", self._connection.peer, refusal)
            self._connection.answer(self._batch.call, refusal.answer)
        else:
            self._connection.close(str(refusal))
