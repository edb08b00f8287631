"""Beginnings that many stories share."""

from __future__ import annotations

from kcoord.group.state.settings import GroupSettings

NO_DELAY = GroupSettings(initial_rebalance_delay_ms=0)

GATHERING = """
    0     A join v3              -> parked
    0     B join v3              -> parked
"""
"""Two members of a new group, in PreparingRebalance."""

JOINED = (
    GATHERING
    + """
    6000  time                   -> nothing else
          A                      -> gen 1 range leads A B
          B                      -> gen 1 range follows A
"""
)
"""Two members in CompletingRebalance; A leads."""

STABLE = (
    JOINED
    + """
    6010  B sync                 -> parked
    6020  A sync A=a B=b         -> got a
          B                      -> got b
"""
)
"""Two members in a stable group; A leads."""

STATIC = """
    0     A join static=a1       -> parked
    0     B join static=b1       -> parked
    6000  time                   -> nothing else
          A                      -> gen 1 range leads A B
          B                      -> gen 1 range follows A
    6010  B sync                 -> parked
    6020  A sync A=a B=b         -> got a
          B                      -> got b
"""
"""The same with static members."""
