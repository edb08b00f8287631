"""Words by which a gateway says who coordinates a group, kcoord or the cluster behind it.

They stand in the answer to ConnectGroupDescribe, beside the error GROUP_ID_NOT_FOUND: `GroupState` says who has the
group, and of a group that the cluster has, the `State` of each member says by which way it came. A kcoord without a
cluster behind it, and one of release 0.1.0, say `Dead` there.
"""

from __future__ import annotations

__all__ = ["AT_CLUSTER", "AT_KCOORD", "DIRECT", "ELSEWHERE", "THROUGH_INSTANCE", "THROUGH_KCOORD"]

AT_KCOORD, AT_CLUSTER = "AtKcoord", "AtCluster"
"""The group is one of the classic protocol at kcoord; or it is the cluster's."""
THROUGH_KCOORD, DIRECT = "ThroughKcoord", "Direct"
"""The member's calls pass through kcoord; or they do not."""
THROUGH_INSTANCE, ELSEWHERE = "ThroughInstance", "Elsewhere"
"""The same, of one of several instances, which knows its own connections only: elsewhere may be another instance."""
