"""Log lines about settings of groups: at the load, those that do not fit the server's settings; former names.

kcoord checks a group's settings when they are set. If it is then started with other bounds, some of them may no longer
fit or may contradict each other. Then other values are in force (`group/connect/settings`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from kcoord.group.shard import Shard
from kcoord.group.state.bounded_text import bounded_name
from kcoord.group.state.connect_settings import FORMER_NAMES

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


def tell_of_former_names(group_id: str, names: Iterable[str]) -> None:
    """Log a line for each setting that a client has changed under a former name."""
    for name in names:
        if name in FORMER_NAMES:
            log.warning(
                "%s: a client calls a setting of this group %s; it is %s now",
                bounded_name(group_id),
                name,
                FORMER_NAMES[name],
            )
