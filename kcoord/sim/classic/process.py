"""A worker of kcoord's library in a classic group: the process around its classic membership."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kcoord.protocol.message_base import Request
from kcoord.protocol.messages import JoinGroupRequest, SyncGroupRequest
from kcoord.sim.assignors import Assignors
from kcoord.sim.basis.violation import Violation
from kcoord.sim.classic.context import ClassicContext
from kcoord.sim.process import ProcessJudge
from kcoord.sim.worker import Process
from kcoord.worker import actions
from kcoord.worker.classic.membership import ClassicMembership
from kcoord.worker.classic.phases import Phase, Timing
from kcoord.worker.setup import Setup

MANY, WITHIN_MS = 30, 10_000
"""More JoinGroups of one worker within that time are a storm."""


class LibraryProcess(Process):
    """One life of one of kcoord's workers that speaks the classic protocol."""

    def __init__(
        self,
        context: ClassicContext,
        judge: ProcessJudge,
        assignors: Assignors,
        name: str,
        setup: Setup,
        timing: Timing,
        ended: Callable[[Process, actions.Gone], None],
    ) -> None:
        super().__init__(context, judge, assignors, name, setup, ended)
        self.classic = ClassicMembership(setup, timing, context.random.random)
        self.member = self.classic
        self.member_id = ""
        self._waited_in_round = False
        """Whether its last request was one of a round."""
        self._joined_ms: deque[int] = deque()
        self.evicted = False
        """The coordinator has removed it while it ran something. What it runs counts again once it is a
        member again.
        """

    @property
    def counts(self) -> bool:
        """Whether what it runs is judged."""
        return super().counts and not self.evicted

    @property
    def is_settled(self) -> bool:
        """Whether it runs what its group has assigned to it, and wants no round."""
        member = self.classic
        return member.phase is Phase.STABLE and self.running == member.owned == member.assigned

    def _may_be_over(self, now_ms: int) -> bool:
        """Also true in a round, which may have gone on without the worker."""
        return self.classic.stop_at_ms is None or super()._may_be_over(now_ms)

    def _abandons(self) -> bool:
        return self.classic.phase is Phase.ABANDONING

    def _is_gone(self) -> bool:
        return self.classic.phase is Phase.GONE

    def _overrun(self, action: actions.Overrun) -> None:
        """In a round a worker waits for an answer as long as its connection lasts. If none comes, it learns late that
        its session had ended before: this protocol gives no more.
        """
        if not self._waited_in_round:
            super()._overrun(action)

    def _send(self, number: int, request: Request, version: int = 0) -> None:
        self._waited_in_round = isinstance(request, JoinGroupRequest | SyncGroupRequest)
        if isinstance(request, JoinGroupRequest):
            self._joins()
        super()._send(number, request, request.MAX_VERSION)

    def _joins(self) -> None:
        """Check that it does not join endlessly, once nothing goes wrong any more."""
        now_ms = self._events.now_ms
        self._joined_ms.append(now_ms)
        while self._joined_ms[0] < now_ms - WITHIN_MS:
            self._joined_ms.popleft()
        if len(self._joined_ms) > MANY and not self._context.faulty:
            raise Violation("storm", f"{self.name} has sent {len(self._joined_ms)} JoinGroups in {WITHIN_MS} ms")

    def _do(self, wanted: list[actions.Action]) -> None:
        super()._do(wanted)
        self.member_id = self.classic.member_id
