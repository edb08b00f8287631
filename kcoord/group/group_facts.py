"""Facts about a group, for parts of kcoord that do not coordinate it or need no step of it."""

from __future__ import annotations

import attrs

__all__ = ["AUTO", "UNKNOWN", "GroupFacts"]

AUTO = "auto"


@attrs.frozen(slots=True)
class GroupFacts:
    """What a group's coordinator said about it when it was last asked."""

    known: bool
    """Whether the coordinator has answered. False: nobody could be asked, and the other fields mean nothing."""
    has_members: bool
    """Whether the group has members, joined or joining."""
    generation: int | None
    """The group's generation, or the group epoch of a connect group; None: the group does not exist. For a consumer
    group of the new protocol: a number that moves when somebody loses partitions without having let go of them (KG-17).
    """
    loaded: bool
    """Whether the group's shard serves. False: it is being loaded or nobody has it, and the other fields may be old."""
    owner: str = AUTO
    """Who is to coordinate the group, from its setting `gateway.owner`: `auto`, `kcoord` or `cluster`."""
    consumer_epoch: int | None = None
    """The group epoch of a consumer group of the new protocol; None: it is of another kind, or does not exist."""
    is_led_alone: bool = False
    """Whether its classic consumers are to be led one by one, once what there is of their topics is known (KG-26). So
    may be those of a group without members.
    """


UNKNOWN = GroupFacts(known=False, has_members=False, generation=None, loaded=False)
