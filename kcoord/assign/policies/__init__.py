"""Which rebalance policy? Designs I to III, which KIP-415 came of, and Connect's own, as assignors like any other.

The designs are those of "Incremental Cooperative Rebalancing: Support and Policies" (`docs/assignors.md`).

``policy`` says what makes the designs different; ``incremental`` is the assignor; ``weights`` and ``spreading`` even
out what weighs differently, ``pacing`` holds rounds; ``connects_own`` is what Java's leaders compute.
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
