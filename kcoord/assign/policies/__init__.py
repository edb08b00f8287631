"""Rebalance policies, as assignors like any other: designs I to III, which KIP-415 came from, and Connect's own.

The designs are those of "Incremental Cooperative Rebalancing: Support and Policies" (`docs/assignors.md`).

``policy`` says what makes the designs different; ``incremental`` is the assignor; ``weights`` and ``spreading`` spread
resources of different weights evenly; ``pacing`` limits the moves in a round; ``connects_own`` is what Java's leaders
compute.
"""

from kcoord.assign.policies.connects_own import Kip415Assignor
from kcoord.assign.policies.incremental import IncrementalAssignor
from kcoord.assign.policies.policy import AT_MOST, DESIGN_1, DESIGN_2, DESIGN_3, INTERVAL_MS, Policy
from kcoord.assign.policies.weights import Weights

__all__ = [
    "AT_MOST",
    "DESIGN_1",
    "DESIGN_2",
    "DESIGN_3",
    "INTERVAL_MS",
    "IncrementalAssignor",
    "Kip415Assignor",
    "Policy",
    "Weights",
]
