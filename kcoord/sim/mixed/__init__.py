"""Fleets of Connect's own workers, alone and beside new-protocol ones, that move from one protocol to the other.

`world` is such a run; the rest is what it has that runs of new-protocol workers only lack. The workers themselves are
`kcoord.sim.legacy`.
"""
