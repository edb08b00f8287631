"""What does a fleet's bad day cost under each rebalance policy? Scenarios on virtual time, measured.

``description`` is what a file says, ``run`` runs it, ``workers`` and ``hub`` are the two sides, ``meter`` counts.
"""

from kcoord.sim.scenario.description import Scenario, ScenarioError, built_in, load
from kcoord.sim.scenario.meter import Figures
from kcoord.sim.scenario.run import POLICIES, DidNotSettle, Kind, Run, run

__all__ = [
    "POLICIES",
    "DidNotSettle",
    "Figures",
    "Kind",
    "Run",
    "Scenario",
    "ScenarioError",
    "built_in",
    "load",
    "run",
]
