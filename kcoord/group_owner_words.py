"""The words by which a gateway tells commands who coordinates a group: kcoord or the cluster behind it.

The words are in the answer to ConnectGroupDescribe, with the error GROUP_ID_NOT_FOUND. `GroupState` says who has the
group. If the cluster has it, the `State` of each member says how that member is connected. A kcoord without a cluster,
and a kcoord of release 0.1.0, give the state `Dead`.
"""

from __future__ import annotations

__all__ = ["AT_CLUSTER", "AT_KCOORD", "DIRECT", "ELSEWHERE", "THROUGH_INSTANCE", "THROUGH_KCOORD"]

AT_KCOORD, AT_CLUSTER = "AtKcoord", "AtCluster"
"""The group is a classic group at kcoord; or it belongs to the cluster."""
THROUGH_KCOORD, DIRECT = "ThroughKcoord", "Direct"
"""The member is connected through kcoord; or directly to the cluster."""
THROUGH_INSTANCE, ELSEWHERE = "ThroughInstance", "Elsewhere"
"""The same from one of several instances. It knows only its own connections, so `Elsewhere` may be another instance."""
