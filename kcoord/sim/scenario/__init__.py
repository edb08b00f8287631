"""Scenarios: what a fleet's bad day costs under each rebalance policy, run on virtual time and measured.

``description`` is the content of a file, ``restarts`` changes how its workers go, ``run`` runs it. ``workers`` and
``hub`` are the two sides, ``operator`` sets rules and drains workers, ``meter`` counts.
"""

from kcoord.sim.scenario.description import Scenario, ScenarioError, built_in, load
from kcoord.sim.scenario.meter import Figures
from kcoord.sim.scenario.restarts import Restart, restarted
from kcoord.sim.scenario.run import POLICIES, DidNotSettle, Kind, NoFigures, Run, follows_rules, run

__all__ = [
    "POLICIES",
    "DidNotSettle",
    "Figures",
    "Kind",
    "NoFigures",
    "Restart",
    "Run",
    "Scenario",
    "ScenarioError",
    "built_in",
    "follows_rules",
    "load",
    "restarted",
    "run",
]
