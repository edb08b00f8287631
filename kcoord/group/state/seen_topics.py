"""What a look at the cluster has shown of the topics that a consumer subscribes to (KG-17)."""

from __future__ import annotations

from collections.abc import Mapping

from kcoord.group.state.topic import Topic
from kcoord.protocol.frozen_class import frozen


@frozen(slots=True)
class SeenTopics:
    """Topics by name. A name that is in neither mapping has not been looked for."""

    there: Mapping[str, Topic]
    """What a single look has shown. It may say that there is more than before, or another topic by that name."""
    certain: Mapping[str, Topic | None]
    """What several looks agree upon. It may also say that there is less, or (None) no such topic."""
    agreed_ms: int = 0
    """The first of the looks that agree was at most so long ago."""

    def with_these(self, others: SeenTopics) -> SeenTopics:
        """What this and other looks have shown; the others count where they differ."""
        there = {**self.there, **others.there}
        certain = {**self.certain, **others.certain}
        return SeenTopics(there, certain, max(self.agreed_ms, others.agreed_ms))
