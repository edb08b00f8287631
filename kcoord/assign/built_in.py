"""The assignors that come with kcoord. Others come by entry point (docs/assignors.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kcoord.assign.connect import MixedAssignor
from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.eager import EagerAssignor
from kcoord.assign.interface import ConnectAssignor, ServerAssignor
from kcoord.assign.policies import DESIGN_1, DESIGN_2, DESIGN_3, IncrementalAssignor, Kip415Assignor
from kcoord.assign.uniform import UniformAssignor

POLICIES: Mapping[str, Callable[[], EagerAssignor | IncrementalAssignor | Kip415Assignor]] = {
    EagerAssignor.name: EagerAssignor,
    **{each.name: partial(IncrementalAssignor, each) for each in (DESIGN_1, DESIGN_2, DESIGN_3)},
    Kip415Assignor.name: Kip415Assignor,
}
"""The rebalance policies, for either side."""

SERVER_SIDE: Mapping[str, Callable[[], ServerAssignor]] = {
    UniformAssignor.name: UniformAssignor,
    CooperativeAssignor.name: CooperativeAssignor,
    **POLICIES,
}
"""The server-side assignors, by the names for `group.connect.assignors`."""

CLIENT_SIDE: Mapping[str, Callable[[], ConnectAssignor]] = {
    CooperativeAssignor.name: CooperativeAssignor,
    MixedAssignor.name: MixedAssignor,
    **POLICIES,
}
"""The client-side assignors that a worker may list."""
