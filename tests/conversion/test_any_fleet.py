"""Does a fleet find its way whatever happens to it? Drawn by a seed: workers of both kinds come, go, die and come back,
connectors change, settings too, the coordinator is loaded anew, all of it while conversions are on their way.

While that goes on nothing runs twice but by a worker that believes it lives (a killed one's session, a coordinator that
was away); and when it is over everything runs once.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.cells import cells
from tests.conversion.fleet import SETTLED_MS, TASKS, Fleet, settings
from tests.light import fewer

SEEDS = 16
AT_EACH_COMMIT = fewer(6, 2)
EVENTS = 14
MODES = ("individual", "barrier")
POLICIES = ("bidirectional", "bidirectional", "upgrade", "downgrade", "disabled")


@pytest.mark.parametrize("protocol", [0, 1, 2], ids=["default", "compatible", "sessioned"])
@pytest.mark.parametrize("seed", cells(range(SEEDS), lambda seed: seed >= AT_EACH_COMMIT))
def test_a_fleet_finds_its_way(seed: int, protocol: int) -> None:
    drawn = Random(seed * 3 + protocol)
    fleet = Fleet(settings(classic_mode=drawn.choice(MODES)))
    fleet.started(3, protocol=protocol, max_delay_ms=3_000)
    told = []
    for number in range(EVENTS):
        told.append((fleet.events.now_ms, happen(fleet, drawn, number, protocol)))
        fleet.run(drawn.choice((1, 7, 60, 900, 3_100, 15_000, 40_000)))
    if not any(host.closed is None for host in fleet.hosts):
        fleet.worker("last", protocol=protocol)
    fleet.run(6 * SETTLED_MS)
    assert fleet.all_run_once(), (told, {name: sorted(runs) for name, runs in fleet.runs().items()})
    assert not fleet.doubles, (told, fleet.doubles)
    live = {host.name for host in fleet.alive}
    assert not [each for each in fleet.errors if each[0] not in live], told


def happen(fleet: Fleet, drawn: Random, number: int, protocol: int) -> str:
    """One event."""
    ours = {worker.name for worker in fleet.news}
    old = [host for host in fleet.hosts if host.closed is None and host.name not in ours]
    new = [worker for worker in fleet.news if worker.closed is None]
    match drawn.choice(("old", "old", "new", "new", "stop", "leave", "die", "mode", "policy", "load", "tasks")):
        case "old":
            fleet.worker(f"w{number + 3}", protocol=protocol, max_delay_ms=3_000)
            return f"w{number + 3} starts"
        case "new":
            fleet.start_new(f"n{number}")
            return f"n{number} starts"
        case "stop" if old:
            host = drawn.choice(old)
            fleet.stop(host)
            return f"{host.name} stops"
        case "leave" if new:
            worker = drawn.choice(new)
            worker.leave()
            return f"{worker.name} leaves"
        case "die" if new:
            worker = drawn.choice(new)
            worker.kill()
            return f"{worker.name} dies"
        case "mode":
            mode = drawn.choice(MODES)
            fleet.configure_group(classic_mode=mode)
            return mode
        case "policy":
            policy = drawn.choice(POLICIES)
            fleet.configure_group(migration_policy=policy)
            return policy
        case "load":
            fleet.reload()
            return "load"
        case "tasks":
            fleet.configure(**{drawn.choice([*TASKS]): drawn.randrange(1, 6)})
            return "tasks"
    return "nothing"
