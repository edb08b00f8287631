"""The coordinator of a run with consumer groups: as in any run, and it hears late which topics exist, either all at
once, or with heartbeats (`watch.py`). It may take long over assignments, as its shard is told.
"""

from __future__ import annotations

import attrs

from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import CachedReply, RequestContext, Step
from kcoord.protocol.message_base import Response
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.process import ConsumerProcess
from kcoord.sim.consumer.watch import SimulatedWatch, Telling
from kcoord.sim.coordinator import UP, Coordinator
from kcoord.sim.network import Frame, Link

LOOKS_AGAIN_MS = 500
"""How long after a look that nobody could answer the next one comes."""


class ConsumerCoordinator(Coordinator):
    """One shard, its log, its connections, and its watch of topics."""

    _context: ConsumerContext

    def __init__(self, context: ConsumerContext, settings: GroupSettings) -> None:
        super().__init__(context, settings)
        self._looks = 0
        self._watch = SimulatedWatch(context) if context.consumers.in_front else None

    def _loaded(self, life: int) -> None:
        super()._loaded(life)
        if life == self._life and self.stage is UP:
            if self._watch is not None:
                self._watch.begin_anew()
            self.look_for_topics()

    def _context_of(self, frame: Frame) -> RequestContext:
        context, request = super()._context_of(frame), frame.request
        client = frame.link.client
        if isinstance(client, ConsumerProcess) and client.requests.is_patient:
            context = attrs.evolve(context, is_patient=True)
        if self._watch is None or not isinstance(request, Telling):
            return context
        return self._watch.told(self.shard, request, frame.link.serial, context)

    def _deliver(self, frame: Frame, response: Response, cached: CachedReply | None) -> None:
        request = frame.request
        if self._watch is not None and isinstance(request, Telling) and getattr(response, "error_code", 0) != 0:
            self._watch.refused(request, frame.link.serial)
        super()._deliver(frame, response, cached)

    def _gone(self, link: Link) -> None:
        if self._watch is not None:
            self._watch.closed(link.serial)
        super()._gone(link)

    def _begin(self, frame: Frame) -> None:
        super()._begin(frame)
        link = frame.link
        if link.queue and link.call is frame and frame.seen < 0 and self.stage is UP:
            self._flush_held_reply(link)  # another request had come before this one began

    def _take(self, step: Step, frame: Frame | None) -> None:
        if step.computed:
            self.shard.took(step, self._context.consumers.assignment_takes_ms * len(step.computed))
        super()._take(step, frame)

    def count(self) -> None:
        super().count()
        self._context.sightings.counted(self.shard.state.consumer_counters)

    def look_for_topics(self) -> None:
        """Hear which topics exist, mostly soon. In front of a cluster the watch does it."""
        if self._watch is not None:
            return
        self._looks += 1
        chance = self._random.random
        late_ms = int(chance() * (3_000 if self._context.faulty and chance() < 0.3 else 100))
        self._events.after(late_ms, self._learn, self._looks)

    def _learn(self, look: int) -> None:
        if look != self._looks or self.stage is not UP:
            return  # a newer look is under way, or comes with the load
        if self.frozen_until_ms > self._events.now_ms:
            self._events.after(LOOKS_AGAIN_MS, self._learn, look)
            return
        self._context.note("coordinator", f"hears of topics {', '.join(self._context.topics) or 'no more'}")
        self._take(self.shard.learn_topics(self._context.topics, self._events.now_ms, self.wall_ms), None)
