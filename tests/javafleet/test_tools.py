"""What do Kafka's command line tools print of a Connect fleet's group, before, while and after kcoord has it?

At the broker and at kcoord, with the tools of the cluster's own version and the tests' own: always the same, which is
what they print of any Connect group. A proof.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import attrs
import pytest

from tests.cli.run_cli import kcoord as run
from tests.javafleet.conftest import DELAY, INDIVIDUAL
from tests.javafleet.fleet import JavaFleet
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.tools import GROUPS, PATIENCE, Tools, tools_for

WORKERS = ("w1", "w2")
GROUP = "tools"
DELAY_MS = 10_000
NO_CONSUMERS = f"GroupId {GROUP} is not a consumer group"


def say(tools: Tools, bootstrap: str) -> dict[str, str]:
    """What each of them prints of the group, at this address."""
    at = ["--bootstrap-server", bootstrap]
    of_group = [*at, "--group", GROUP, "--describe", *PATIENCE]
    said = {
        "--list --state": row_of(tools, tools.consumer_groups, [*at, "--list", "--state", *PATIENCE]),
        "--describe": first_line(tools, of_group),
        "--describe --state": first_line(tools, [*of_group, "--state"]),
    }
    if tools.has_groups:
        said["kafka-groups --list"] = row_of(tools, GROUPS, [*at, "--list"])
    return said


def row_of(tools: Tools, tool: str, arguments: list[str]) -> str:
    """The line of a list that has the group, "" if there is none."""
    lines = [line.split() for line in tools.java.tool(tool, *arguments).splitlines()]
    return " ".join(next((line for line in lines if line[:1] == [GROUP]), []))


def first_line(tools: Tools, arguments: list[str]) -> str:
    """What kafka-consumer-groups says first, or its error."""
    done = tools.java.run(tools.consumer_groups, *arguments)
    told = [line for line in done.stdout.splitlines() if line.strip()]
    return told[0] if told else done.stderr


OURS = "4.3"
MATRIX = [OURS, "3.9", "2.8"]


@attrs.frozen
class Places:
    """Where the tools are asked, and what they said of the fleet when the cluster had its group."""

    kafka: KafkaCluster
    kcoord: Kcoord
    tools: list[Tools]

    def check(self) -> None:
        """Everywhere the same, and what is true of any Connect group."""
        for tools in self.tools:
            at_broker, at_kcoord = say(tools, self.kafka.bootstrap), say(tools, self.kcoord.bootstrap)
            assert at_kcoord == at_broker
            assert at_broker["--list --state"] == ""
            for name in ("--describe", "--describe --state"):
                assert NO_CONSUMERS in at_broker[name], at_broker
            if tools.has_groups:
                assert at_broker["kafka-groups --list"].endswith(" connect"), at_broker


@pytest.mark.proof
@pytest.mark.parametrize("version", MATRIX)
def test_they_say_the_same_before_while_and_after(
    version: str, kafka: KafkaCluster, start_kafka: Callable[..., KafkaCluster], java: Java, tmp_path: Path
) -> None:
    cluster = kafka if version == OURS else start_kafka(version={"3.9": "3.9.1", "2.8": "2.8.2"}[version])
    with ExitStack() as stack:
        kcoord = kcoord_of(cluster, tmp_path / "kcoord", [GROUP], group_connect_classic_mode=INDIVIDUAL)
        stack.callback(kcoord.remove)
        fleet = JavaFleet(java, tmp_path / "fleet", cluster.bootstrap, GROUP, {DELAY: DELAY_MS})
        stack.callback(fleet.remove)
        places = Places(cluster, kcoord, tools_for(version, java))
        fleet.start(*WORKERS)
        fleet.create("a", 3)
        fleet.wait_until_quiet()
        places.check()

        move(fleet, kcoord.bootstrap)
        wait_until_said(kcoord, "is kcoord's now: adopted")
        check_kcoord_owns(cluster, GROUP)
        places.check()

        done = run("groups", "release", GROUP, "--bootstrap-server", kcoord.bootstrap)
        assert done.code == 0, done
        wait_until_said(kcoord, "is the cluster's again")
        fleet.wait_until_quiet()
        places.check()

        move(fleet, cluster.bootstrap)
        places.check()
        for name in WORKERS:
            fleet.stop(name)
        places.check()


def move(fleet: JavaFleet, bootstrap: str) -> None:
    """Restart each worker with that address."""
    fleet.bootstrap = bootstrap
    for name in WORKERS:
        fleet.stop(name)
        fleet.start(name)
        fleet.wait_until_quiet()


def wait_until_said(kcoord: Kcoord, what: str) -> None:
    """kcoord has logged that of the group."""
    kcoord.wait_for_line(f"group {GROUP} {what}")
