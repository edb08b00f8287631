"""Which tests does one process of several take on together, which parts are begun first, and by how many processes?

A file is one part: its tests share what they start. What takes long is begun early, since whoever takes it last keeps
all others waiting. Much of it waits, for sessions, delays and JVMs, so there are more processes than cores. Nothing
asserts what a part takes: an order that is out of date costs time only (`make test` ends with the slowest tests).
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest
from xdist.scheduler import LoadScopeScheduling

SPARK = "one session of Spark"
FOLDER, OF_THEIR_OWN = (
    "tests/pipeline/",
    (
        "tests/pipeline/test_command.py",
        "tests/pipeline/test_far_places.py",
        "tests/pipeline/test_standalone_cluster.py",
    ),
)
"""Whose tests share that session, which takes longer than most of them, but for those that start others."""
EARLY = (
    SPARK,
    "tests/connect/test_fleet.py",
    "tests/faults/test_instances.py",
    "tests/javafleet/test_migration.py",
    "tests/worker/test_config_beside_java.py",
    "tests/cli/test_connect_groups.py",
    "tests/javafleet/test_individual.py",
    "tests/javafleet/test_failover.py",
    "tests/gateway/test_instances.py",
    "tests/javafleet/test_adoption.py",
    "tests/server/test_instances.py",
    "tests/javafleet/test_drains.py",
    "tests/faults/test_cut_off.py",
    "tests/connect/test_upstream_restart.py",
    "tests/sim/test_seeds.py",
    "tests/sim/test_adoption.py",
    "tests/javafleet/test_protocols.py",
    "tests/assign/test_java_leaders.py",
    "tests/clients/test_retention.py",
    "tests/cli/test_placement.py",
    "tests/cli/test_groups.py",
    "tests/cli/test_consumer_groups.py",
    "tests/consumer/test_consumer_on_kafka.py",
    "tests/worker/test_worker.py",
    "tests/javafleet/test_exactly_once.py",
    "tests/gateway/test_outage.py",
    "tests/pipeline/test_command.py",
    "tests/pipeline/test_standalone_cluster.py",
    "tests/pipeline/test_far_places.py",
    "tests/connectgroups/test_outages.py",
    "tests/release/test_rolling_upgrade.py",
    "tests/javafleet/test_adoption_steps.py",
    "tests/javafleet/test_mode_switch.py",
    "tests/clients/test_kcoord_restart.py",
    "tests/gateway/test_retention.py",
    "tests/cli/test_log.py",
    "tests/cli/test_demo.py",
    "tests/faults/test_compaction.py",
    "tests/sim/test_mutants.py",
    "tests/faults/test_gateway.py",
    "tests/gateway/test_sasl.py",
    "tests/faults/test_embedded.py",
    "tests/faults/test_large_step.py",
    "tests/cli/test_config.py",
    "tests/worker/test_individual.py",
    "tests/faults/test_fleet.py",
    "tests/sim/test_scenarios.py",
    "tests/assign/test_policies_always.py",
    "tests/sim/test_placement.py",
    "tests/log/kafka/test_topic.py",
    "tests/worker/test_beside_java.py",
    "tests/connectgroups/test_kill_at_every_boundary.py",
    "tests/clients/test_security.py",
    "tests/clients/test_adoption_sasl.py",
)
"""The parts that take longest. Those with Connect's workers have others between them, so that few run at one time."""
MOST_PROCESSES = 8


def part_of(node_id: str) -> str:
    """The part that a test belongs to."""
    file = node_id.partition("::")[0]
    return SPARK if file.startswith(FOLDER) and file not in OF_THEIR_OWN else file


def put_in_order(items: list[pytest.Item]) -> None:
    """The tests of early parts come first; all others stay as they are."""
    ranks = {part: rank for rank, part in enumerate(EARLY)}
    items.sort(key=lambda item: ranks.get(part_of(item.nodeid), len(ranks)))


def processes() -> int:
    """Three times as many as there are cores: with twice as many the cores were idle for four tenths of the time."""
    return min(3 * len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 4, MOST_PROCESSES)


class Parts(LoadScopeScheduling):  # type: ignore[misc]
    """Gives parts to processes, in the order in which their tests were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return part_of(nodeid)


def named() -> Sequence[str]:
    """All files that are named here."""
    return [*OF_THEIR_OWN, *(part for part in EARLY if part != SPARK)]
