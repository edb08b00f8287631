"""What happens to a fleet of classic workers that is led one by one? The events that CM-30 names, each with who had to
join how often and who had to stop what.
"""

from __future__ import annotations

from kcoord.protocol.embedded import EAGER
from tests.sim.classic_worker.house import GROUP
from tests.translation.fleet import SETTLED_MS, Fleet


def settled(*names: str) -> Fleet:
    """A fleet at rest that runs two connectors with 3 and 4 tasks."""
    fleet = Fleet()
    fleet.configure(a=3, b=4)
    for name in names:
        fleet.worker(name)
    fleet.run(SETTLED_MS)
    assert_well(fleet)
    fleet.mark()
    return fleet


def assert_well(fleet: Fleet) -> None:
    """All runs once, nothing ever ran twice, one worker leads, and nobody owes anybody anything."""
    assert fleet.all_run_once()
    assert not fleet.doubles
    assert all(host.worker.stable for host in fleet.alive)
    assert [host.name for host in fleet.alive if host.worker.leads and not host.worker.leads_blindly] != []
    assert sum(host.worker.leads for host in fleet.alive) == 1
    assert not fleet.group.unconverged
    assert fleet.group.epoch == fleet.group.assignment_epoch


def test_a_worker_that_joins_concerns_those_that_give_only() -> None:
    fleet = settled("w0", "w1", "w2")
    fleet.worker("w3")
    fleet.run(SETTLED_MS)
    assert_well(fleet)
    assert fleet.new_joins() == {"w2": 2, "w3": 1}


def test_a_new_connector_makes_everybody_join_once() -> None:
    fleet = settled("w0", "w1", "w2")
    fleet.configure(c=5)
    fleet.run(SETTLED_MS)
    assert_well(fleet)
    assert fleet.new_joins() == {"w0": 1, "w1": 1, "w2": 1}
    assert not fleet.stops()


def test_a_follower_that_is_killed_and_comes_back_concerns_nobody() -> None:
    """CM-18, CM-19."""
    fleet = settled("w0", "w1", "w2")
    had = fleet.hosts[1].runs
    fleet.hosts[1].kill()
    fleet.run(5_000)
    back = fleet.worker("w1")
    fleet.run(500)
    assert back.runs == had
    fleet.run(SETTLED_MS)
    assert_well(fleet)
    assert fleet.new_joins() == {"w1": 1}


def test_a_config_round_outlives_the_coordinator() -> None:
    """CM-25: what was reconfigured does not start anew while somebody may run it as it was, also if the coordinator
    dies.
    """
    fleet = settled("w0", "w1", "w2")
    slow = fleet.hosts[2]
    slow.reads = False
    fleet.configure(c=3)
    fleet.run(300)
    assert fleet.group.classic.round is not None
    fleet.reload()
    fleet.run(300)
    assert fleet.group.classic.round is not None
    assert not [each for host in fleet.alive for each in host.runs if each.connector == "c"]
    slow.reads = True
    fleet.tell()
    fleet.run(SETTLED_MS)
    assert_well(fleet)


def test_a_worker_of_default_alone_starts_nothing_that_others_run_on() -> None:
    """Going by its sources Connect 4.3 does not stop what the first answer under `default` lacks: so all is stopped
    before the group becomes a classic one (CM-16).
    """
    fleet = settled("w0", "w1", "w2")
    fleet.worker("eager", protocol=EAGER)
    fleet.run(3 * SETTLED_MS)
    assert GROUP not in fleet.shard.state.connect
    assert fleet.all_run_once()
    assert not fleet.doubles
