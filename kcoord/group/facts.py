"""What is known of a group by those who do not coordinate it, or need no step of it?"""

from __future__ import annotations

import attrs

__all__ = ["AUTO", "UNKNOWN", "GroupFacts"]

AUTO = "auto"


@attrs.frozen(slots=True)
class GroupFacts:
    """What a group's coordinator said of it when it was asked last."""

    known: bool
    """Whether the coordinator has said something: with False nobody could be asked, and the rest says nothing."""
    has_members: bool
    """Whether the group has members, joined or joining."""
    generation: int | None
    """The group's generation, for a connect group its epoch; None for a group that is not there."""
    loaded: bool
    """Whether the group's shard serves: with False it is being loaded, or nobody has it, and the rest may be old."""
    owner: str = AUTO
    """Who is to have it, as the group's setting `gateway.owner` says: `auto`, `kcoord` or `cluster`."""


UNKNOWN = GroupFacts(known=False, has_members=False, generation=None, loaded=False)
