"""Which assignors come with kcoord? Others come by entry point (docs/assignors.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcoord.assign.connect import MixedAssignor
from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.eager import EagerAssignor
from kcoord.assign.interface import ConnectAssignor, ServerAssignor
from kcoord.assign.uniform import UniformAssignor

SERVER_SIDE: Mapping[str, Callable[[], ServerAssignor]] = {
    each.name: each for each in (UniformAssignor, CooperativeAssignor)
}
"""What `group.connect.assignors` may name, in the order of its default."""

CLIENT_SIDE: Mapping[str, Callable[[], ConnectAssignor]] = {
    each.name: each for each in (CooperativeAssignor, EagerAssignor, MixedAssignor)
}
"""What a worker may list."""
