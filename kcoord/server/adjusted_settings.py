"""A log line, at the load, about group settings that do not fit the server's settings.

kcoord checks a group's settings when they are set. If it is then started with other bounds, some of them may no longer
fit or may contradict each other. Then other values are in force (`group/connect/settings`).
"""

from __future__ import annotations

import logging

from kcoord.group.shard import Shard
from kcoord.group.state.bounded_text import bounded_name

log = logging.getLogger("kcoord.coordinator")

SHOWN_GROUPS = 5


def tell_of_adjusted_settings(partition: int, shard: Shard) -> None:
    """Log one line if groups of this partition have settings other than those that were set for them."""
    found = dict(shard.adjusted_settings())
    if not found:
        return
    shown = [
        f"{bounded_name(group_id)} ({', '.join(f'{name}={value}' for name, value in in_force.items())})"
        for group_id, in_force in sorted(found.items())[:SHOWN_GROUPS]
    ]
    more = f" and {len(found) - SHOWN_GROUPS} more" if len(found) > SHOWN_GROUPS else ""
    log.warning(
        "partition %d: settings of groups do not fit this server's or each other, other values are in force: %s%s; "
        "see: kcoord config describe GROUP",
        partition,
        "; ".join(shown),
        more,
    )
