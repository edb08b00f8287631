"""The client-side assignors of a consumer, called. What they raise is logged, and the consumer goes on."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from kcoord.assign.consumer import ClientSideAssignor, ConsumerAssignment, ConsumerMemberAssignment, PreparedGroup
from kcoord.consumer.computing import install_request
from kcoord.consumer.errors import ConsumerError
from kcoord.consumer.heartbeats import assignors_of
from kcoord.consumer.setup import Setup
from kcoord.loop.thread_call import call_in_thread
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest
from kcoord.worker.setup import Offer

_log = logging.getLogger(__name__)


class AssignorCalls:
    """The assignors of one consumer."""

    def __init__(self, assignors: Sequence[ClientSideAssignor], setup: Setup) -> None:
        """Raises ConsumerError if one of them cannot say its metadata."""
        self._assignors = {each.name: each for each in assignors}
        self._setup = setup
        self._failure = ""
        """How `metadata` failed the last time, so that it is logged once."""
        try:
            self._offers = self._read()
        except Exception as error:
            raise ConsumerError(f"the metadata of an assignor failed: {type(error).__name__}: {error}") from error

    def offers(self) -> tuple[Offer, ...]:
        """What the coordinator is to be told now. If `metadata` fails, what it returned before still counts."""
        try:
            self._offers = self._read()
            self._failure = ""
        except Exception as error:
            if repr(error) != self._failure:
                _log.exception("an assignor's metadata failed; the last values stay in force")
            self._failure = repr(error)
        return self._offers

    async def assign(self, name: str, group: PreparedGroup) -> ConsumerAssignment | None:
        """What the assignor of that name returns, which may compute for long; None: it has failed."""
        assignor = self._assignors.get(name)
        if assignor is None:
            _log.error("was asked to assign with %r, which this consumer does not have", name)
            return None
        try:
            return await call_in_thread(f"assignor {name}", self._assign, assignor, group)
        except Exception:
            _log.exception("assignor %s failed", name)
            return None

    def tell(self, name: str | None, assignment: ConsumerMemberAssignment) -> None:
        """Call `on_assignment` of the assignor of that name; None: of the only one that there is."""
        if name is None and len(self._assignors) == 1:
            (name,) = self._assignors
        assignor = self._assignors.get(name or "")
        if assignor is not None:
            assignor.on_assignment(assignment)

    def _read(self) -> tuple[Offer, ...]:
        offers = tuple(map(_offer, self._assignors.values()))
        ConsumerGroupHeartbeatRequest(client_assignors=assignors_of(offers)).encode(0)  # raises what cannot be sent
        return offers

    def _assign(self, assignor: ClientSideAssignor, group: PreparedGroup) -> ConsumerAssignment:
        assignment = assignor.assign(group)
        if not isinstance(assignment, ConsumerAssignment):
            raise TypeError(f"it returned {assignment!r}, which is no ConsumerAssignment")
        install_request(self._setup, 0, 0, assignment).encode(0)  # raises what cannot be sent
        return assignment


def _offer(assignor: ClientSideAssignor) -> Offer:
    said = assignor.metadata()
    return Offer(
        assignor.name, assignor.minimum_version, assignor.maximum_version, said.reason, said.version, said.metadata
    )
