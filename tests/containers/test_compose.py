"""Does compose.yaml come up as a whole, and does its Connect fleet go on while one kcoord or the other is gone?"""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.containers.compose import KCOORDS, LINES, SERVICES, WORKERS, Composed
from tests.containers.place import place
from tests.kafka.wait import NotYet, eventually

GROUP = "connect-fleet"
SOURCE, SINK = "lines-in", "lines-out"
SINK_GROUP = f"connect-{SINK}"
RESOURCES = {f"connector {SOURCE}", f"task {SOURCE}-0", f"connector {SINK}", f"task {SINK}-0"}
ARRIVED_S = 300


@pytest.fixture(scope="module")
def composed(image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    """compose.yaml, up and healthy."""
    place().check(compose=True)
    composed = Composed.up(place(), image, tmp_path_factory.mktemp("compose"))
    try:
        composed.wait_until_healthy(*SERVICES)
        yield composed
    finally:
        composed.remove()


def create_connectors(composed: Composed) -> None:
    """Lines go from a file into a topic, and from there into another file."""
    kinds = {SOURCE: ("FileStreamSource", "in", "topic"), SINK: ("FileStreamSink", "out", "topics")}
    composed.run(WORKERS[0], "touch", str(LINES / "in"))
    for name, (kind, file, topic) in kinds.items():
        config = {"connector.class": kind, "file": str(LINES / file), topic: "lines"}
        composed.rest("PUT", f"/connectors/{name}/config", config)


def write(composed: Composed, *lines: str) -> None:
    """Add lines to the file that the source reads."""
    text = "".join(f"{line}\\n" for line in lines)
    composed.run(WORKERS[0], "bash", "-c", f"printf '{text}' >>{LINES / 'in'}")


def wait_for_lines(composed: Composed, *lines: str) -> None:
    """Wait until the sink has written these lines."""

    def all_there() -> bool:
        arrived = Counter(composed.run(WORKERS[0], "bash", "-c", f"cat {LINES / 'out'} || true").splitlines())
        missing = [line for line in lines if not arrived[line]]
        if missing:
            raise NotYet(f"{len(missing)} lines are missing: {missing[:3]}")
        return True

    eventually(all_there, "all lines arrived", deadline_s=ARRIVED_S, every_s=0.5)


def wait_until_running(composed: Composed) -> dict[str, str]:
    """Wait until all connectors and tasks run, and both workers have some; who runs what."""

    def all_run() -> dict[str, str]:
        states = {}
        for name, info in composed.rest("GET", "/connectors?expand=status").items():
            status = info["status"]
            states[f"connector {name}"] = (status["connector"]["state"], status["connector"]["worker_id"])
            for task in status["tasks"]:
                states[f"task {name}-{task['id']}"] = (task["state"], task["worker_id"])
        if set(states) != RESOURCES or any(state != "RUNNING" for state, _ in states.values()):
            raise NotYet(states)
        owners = {resource: worker for resource, (_, worker) in states.items()}
        if set(owners.values()) != {f"{worker}:8083" for worker in WORKERS}:
            raise NotYet(owners)
        return owners

    return eventually(all_run, "connectors and tasks run", deadline_s=ARRIVED_S, every_s=0.5)


def test_everything_is_published_on_loopback_only(composed: Composed) -> None:
    hosts = set()
    for service in SERVICES:
        for published in (composed.container(service)["NetworkSettings"]["Ports"] or {}).values():
            hosts |= {each["HostIp"] for each in published or []}
    assert hosts == {"127.0.0.1"}


def test_the_fleet_goes_on_when_one_kcoord_is_killed_and_then_the_other(composed: Composed) -> None:
    """GW-19 to GW-21. The fleet was formed through kcoord, or it would not be there: workers know nobody else.

    No worker loses its membership. That it may start its work anew is Connect's own way: a worker lets go of all that
    it has when it cannot reach the coordinator for one heartbeat interval, 3 s.
    """
    create_connectors(composed)
    wait_until_running(composed)
    write(composed, "one", "two")
    wait_for_lines(composed, "one", "two")

    # Both tell the same of the group, and both coordinate it: asked here, there is one coordinator.
    seen = [composed.describe(GROUP, instance) for instance in KCOORDS]
    assert seen[0] == seen[1]
    assert {member["client"] for member in seen[0]["members"]} == set(WORKERS)
    members = {member["member"] for member in seen[0]["members"]}

    for killed, other in (KCOORDS, KCOORDS[::-1]):
        composed.kill(killed)
        write(composed, f"while-{killed}-is-gone")
        wait_for_lines(composed, f"while-{killed}-is-gone")
        taken_over = eventually(
            lambda other=other: composed.describe(GROUP, other),  # type: ignore[misc]
            f"{other} has taken over from {killed}",
            deadline_s=ARRIVED_S,
            retry=AssertionError,  # until the session of the killed one is over, the other leads to it
        )
        assert {member["member"] for member in taken_over["members"]} == members
        composed.start(killed)
        composed.wait_until_healthy(*KCOORDS)
        write(composed, f"{killed}-is-back")
        wait_for_lines(composed, f"{killed}-is-back")

    wait_until_running(composed)
    assert {member["member"] for member in composed.describe(GROUP, KCOORDS[0])["members"]} == members
