"""What does a scripted process run, and until when may it? The protocol's clock (CG-8).

The clock runs from the sending of the last request that was answered. What runs when the session is over has stopped at
that moment, whenever the script notices: a test's machine may stall, and a real worker's watchdog would not.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from kcoord.resource import Resource
from tests.faults.history import History, Ran, now_us

MARGIN_US = 100_000
"""How long before its session ends a process stops."""


@attrs.define(eq=False)
class Running:
    """What one process runs."""

    history: History
    group: str
    name: str
    _deadline_us: int = attrs.field(default=0, init=False)
    _since: dict[Resource, int] = attrs.field(factory=dict, init=False)

    @property
    def resources(self) -> frozenset[Resource]:
        """What runs, if the session does."""
        return frozenset(self._since)

    def alive(self, at_us: int) -> bool:
        """Whether the session runs at that time."""
        return at_us < self._deadline_us

    @property
    def over(self) -> bool:
        """Whether the session is over."""
        return not self.alive(now_us())

    def begin(self, sent_us: int, timeout_ms: int) -> bool:
        """A session begins with the answer to a join. False if it is over already."""
        self._deadline_us = sent_us + timeout_ms * 1000 - MARGIN_US
        return not self.over

    def go_on(self, sent_us: int, timeout_ms: int) -> bool:
        """A request was answered. False if the session was over when the answer came."""
        if self.over:
            return False
        self._deadline_us = max(self._deadline_us, sent_us + timeout_ms * 1000 - MARGIN_US)
        return True

    def end(self) -> None:
        """The session is over: the coordinator has said so."""
        self.stop_all()
        self._deadline_us = 0

    def start(self, resources: Iterable[Resource]) -> None:
        """Run these from now on."""
        at_us = now_us()
        for resource in resources:
            self._since.setdefault(resource, at_us)

    def stop(self, resources: Iterable[Resource]) -> None:
        """These have stopped, now or when the session was over."""
        end_us = min(now_us(), self._deadline_us)
        for resource in resources:
            start_us = self._since.pop(resource, None)
            if start_us is not None and start_us < end_us:
                self.history.add(Ran(self.group, resource, self.name, start_us, end_us))

    def stop_all(self) -> None:
        """Nothing runs any more."""
        self.stop(self.resources)
