"""Fleets of Connect's own workers, alone and beside new-protocol ones, that move from one protocol to the other.

`world` is such a run. The other modules are what it has beyond runs with only new-protocol workers. The workers
themselves are in `kcoord.sim.classic_worker`.
"""
