"""Which rebalance policy? The designs that KIP-415 came of, and Connect's own (docs/assignors.md), as assignors.

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
