"""Incremental policies: three choices. Designs I to III (`docs/assignors.md`) are sets of them.

| | lost work | moves for balance | |
| --- | --- | --- | --- |
| `design-1` | is given away at once | all at once | simple cooperative rebalancing |
| `design-2` | waits for its worker | all at once, none while something waits | deferred resolution of imbalance |
| `design-3` | waits for its worker | a few in each round, light ones first | incremental resolution of imbalance |

Lost work is what a departed worker had. How long it waits is the group's rebalance delay, not the policy's.
"""

from __future__ import annotations

import attrs

AT_MOST = 5
"""The most resources that stop in one round of design III, unless another number is given."""
INTERVAL_MS = 10_000
"""The time from one round of design III to the next, unless another time is given."""


@attrs.frozen
class Policy:
    """When the incremental assignor gives lost work away, and when it moves resources."""

    name: str
    """The name that users type."""
    defers: bool = False
    """Lost work waits, and meanwhile no worker has to stop anything."""
    at_most: int | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.ge(1)))
    """The most resources that move in one round; None: all that balance asks for."""
    interval_ms: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    """The time between two such rounds."""

    def __attrs_post_init__(self) -> None:
        """Raises ValueError for rounds without a time between them: they would all be one round."""
        if self.at_most is not None and self.interval_ms < 1:
            raise ValueError(f"{self.name} moves {self.at_most} a round: say how long after comes the next, in ms")


DESIGN_1 = Policy("design-1")
DESIGN_2 = Policy("design-2", defers=True)
DESIGN_3 = Policy("design-3", defers=True, at_most=AT_MOST, interval_ms=INTERVAL_MS)
