"""Is kcoord's image fit to be run: healthy, not root, its data its own, its settings from the environment?"""

from collections.abc import Callable

from kcoord import __version__
from kcoord.address import parse_address
from kcoord.client import Cluster
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.cli.run_cli import kcoord
from tests.containers.image import DATA, OFTEN, KcoordContainer, run_once
from tests.kafka.wait import NotYet, eventually

NewContainer = Callable[[], KcoordContainer]


async def join(bootstrap: str, group: str) -> HeartbeatRequest:
    """Make `group` with one member; its heartbeat."""
    async with Cluster([parse_address(bootstrap)]) as cluster:
        connection = await cluster.to(await cluster.coordinator(group))
        join = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=120_000,
            rebalance_timeout_ms=120_000,
            protocol_type="sr",
            protocols=[JoinGroupRequestProtocol(name="v0", metadata=b"")],
            group_instance_id="node-1",
        )
        joined = await connection.send(join, JoinGroupResponse)
        assert joined.error_code == 0
        sync = SyncGroupRequest(
            group_id=group,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            group_instance_id="node-1",
            protocol_type="sr",
            protocol_name="v0",
            assignments=[SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"four")],
        )
        assert (await connection.send(sync, SyncGroupResponse)).error_code == 0
    return HeartbeatRequest(
        group_id=group, generation_id=joined.generation_id, member_id=joined.member_id, group_instance_id="node-1"
    )


async def beat(bootstrap: str, heartbeat: HeartbeatRequest) -> int:
    """The error code that a member's heartbeat gets."""
    async with Cluster([parse_address(bootstrap)]) as cluster:
        connection = await cluster.to(await cluster.coordinator(heartbeat.group_id))
        return (await connection.send(heartbeat, HeartbeatResponse)).error_code


def test_it_comes_up_healthy_and_is_reached_on_loopback_only(new_container: NewContainer) -> None:
    container = new_container().start(healthcheck=None).wait_until("healthy")
    listed = kcoord("groups", "list", "--bootstrap-server", container.bootstrap)
    assert (listed.code, listed.out) == (0, "There are no such groups.\n")
    published = container.inner.attrs["NetworkSettings"]["Ports"]["9092/tcp"]
    assert published == [{"HostIp": "127.0.0.1", "HostPort": str(container.port)}]
    assert container.run("kcoord", "health") == "127.0.0.1:9092 answers\n"


def test_it_is_not_root_and_needs_no_right_but_to_its_data(new_container: NewContainer) -> None:
    """It runs with its root file system read-only, no capabilities, and no way to gain any."""
    container = new_container().start(read_only=True, cap_drop=["ALL"], security_opt=["no-new-privileges"])
    container.wait_until("healthy")
    assert container.inner.attrs["Config"]["User"] == "10001:10001"
    status = container.run("cat", "/proc/1/status").splitlines()
    rights = {line.split()[0]: line.split()[1:] for line in status if line.startswith(("Uid:", "Gid:", "CapEff:"))}
    assert rights == {"Uid:": ["10001"] * 4, "Gid:": ["10001"] * 4, "CapEff:": ["0000000000000000"]}
    assert container.run("stat", "--format", "%u %a", DATA) == "10001 700\n"


async def test_a_member_outlives_a_kill(new_container: NewContainer, volume: str) -> None:
    container = new_container().start(volume=volume).wait_until("healthy")
    heartbeat = await join(container.bootstrap, "registry")
    container.kill()
    container.start_again()
    container.wait_until("healthy")
    assert await beat(container.bootstrap, heartbeat) == 0


async def test_a_member_outlives_the_container(new_container: NewContainer, volume: str) -> None:
    """As when the image is replaced by a newer one: what is kept is in the volume, all of it."""
    predecessor = new_container().start(volume=volume).wait_until("healthy")
    heartbeat = await join(predecessor.bootstrap, "registry")
    predecessor.kill()
    predecessor.remove()
    newer = new_container().start(volume=volume).wait_until("healthy")
    assert await beat(newer.bootstrap, heartbeat) == 0


def test_docker_stop_ends_it_in_order(new_container: NewContainer) -> None:
    container = new_container().start().wait_until("healthy")
    container.inner.stop(timeout=60)
    assert container.inner.wait()["StatusCode"] == 0
    assert "stopping" in container.log


def test_without_an_answer_it_becomes_unhealthy(new_container: NewContainer) -> None:
    """Here because the cluster behind it is not there. It says so, and does not end: the cluster may come yet."""
    behind_nothing = {"KCOORD_UPSTREAM": "127.0.0.1:1", "KCOORD_GROUPS": ".*"}
    container = new_container().start(behind_nothing, healthcheck={**OFTEN, "retries": 1}).wait_until("unhealthy")

    def says_why() -> bool:
        said = container.inner.attrs["State"]["Health"]["Log"][-1]["Output"]
        if not said.startswith("kcoord: 127.0.0.1:9092: "):
            raise NotYet(said)
        return True

    eventually(says_why, "the health check says why")


def test_its_codecs_are_compiled(new_container: NewContainer) -> None:
    container = new_container().start()
    module = "kcoord.protocol.generated.heartbeat_request"
    assert container.run("python", "-c", f"import {module} as m; print(m.__file__)").endswith(".so\n")


def test_commands_and_mistakes(image: str) -> None:
    assert run_once(image, "--version") == (0, f"kcoord {__version__}\n")
    code, said = run_once(image, environment={"KCOORD_LISEN": "0.0.0.0:9092"})
    assert (code, said.count("\n")) == (2, 1)
    assert "the nearest is KCOORD_LISTEN" in said
