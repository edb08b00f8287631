"""The checks of runs with several instances: only the run itself knows which of two connections is older."""

from __future__ import annotations

from kcoord.sim.instances.coordinator import SharedCoordinator
from kcoord.sim.instances.instance import FrontLink
from kcoord.sim.judging.checks import Checks
from kcoord.sim.network import Frame


class InstancesChecks(Checks):
    """The judge of one run."""

    _coordinator: SharedCoordinator

    def is_stale(self, frame: Frame) -> bool:
        """Whether the shard knows its member by a connection that was made later."""
        newest = self._coordinator.owner.known.get(self._newest)
        assert isinstance(frame.link, FrontLink)
        return newest is not None and frame.link.made < newest.made
