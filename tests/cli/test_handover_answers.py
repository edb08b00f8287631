"""What do `kcoord groups adopt` and `release` say and set, by what kcoord answers? AD-19. The answers are scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from kcoord.group_owner_words import AT_CLUSTER, AT_KCOORD
from kcoord.protocol.messages import ConnectGroupDescribeRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from tests.cli.run_cli import Outcome, kcoord
from tests.cli.scripted_kcoord import NOBODY, Group, ScriptedKcoord


@pytest.fixture
async def server() -> AsyncIterator[ScriptedKcoord]:
    """A kcoord in front of a cluster, without groups yet."""
    async with ScriptedKcoord().serving() as server:
        yield server


async def run(server: ScriptedKcoord, *arguments: object, bootstrap: str | None = None) -> Outcome:
    return await asyncio.to_thread(kcoord, "groups", *arguments, "--bootstrap-server", bootstrap or server.bootstrap)


# -- a release that is under way ---------------------------------------------------------------------------------------


async def test_a_release_that_goes_on_says_for_whom_it_waits(server: ScriptedKcoord) -> None:
    """The command ends, the release does not."""
    server.groups["g"] = Group(clients=("ada", "bob"))
    done = await run(server, "release", "g", "--wait", "0.1")
    assert done.code == 1
    first, last = done.out.splitlines()
    assert first == "g: kcoord still has it; its release is under way"
    assert last == (
        "g: its release goes on, also without this command: kcoord waits until all its 2 members have joined once "
        "more, at the cluster: ada (h), bob (h). A member that does not come holds it up until its session ends or the "
        "rebalance is over"
    )
    assert server.changes == [("g", "cluster")]
    planned = await run(server, "release", "g", "--dry-run")
    assert planned.out.splitlines()[-1] == "g: kcoord still has it; its release is under way"


async def test_an_adoption_does_not_take_a_release_that_is_under_way_for_done(server: ScriptedKcoord) -> None:
    """kcoord has the group at first, and the cluster after that; then kcoord adopts it."""
    server.groups["g"] = Group(clients=("ada",), owner="cluster")
    planned = await run(server, "adopt", "g", "--dry-run")
    assert planned.out.startswith("g: it is to go to the cluster (gateway.owner=cluster), so its release may be under")
    assert server.changes == []

    def moves(group: Group) -> None:
        asyncio.get_running_loop().call_later(1.0, setattr, group, "by", AT_CLUSTER)
        asyncio.get_running_loop().call_later(6.0, setattr, group, "by", AT_KCOORD)

    server.after_change = moves
    done = await run(server, "adopt", "g")
    lines = done.out.splitlines()
    assert (done.code, lines[0].startswith("g: its release was under way. kcoord takes it back, unless ")) == (0, True)
    assert lines[1:] == ["g: kcoord", "g: the cluster, 1 of 1 members comes through kcoord", "g: kcoord"]


async def test_an_adoption_that_takes_a_release_back_is_done_soon(server: ScriptedKcoord) -> None:
    server.groups["g"] = Group(clients=("ada",), owner="cluster")
    done = await run(server, "adopt", "g", "--wait", "0.1")
    assert (done.code, done.out.splitlines()[1:]) == (0, ["g: kcoord"])


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "owner"), [("adopt", "kcoord"), ("release", "cluster")])
async def test_a_group_that_does_not_exist_is_refused(server: ScriptedKcoord, command: str, owner: str) -> None:
    """Its name may be mistyped. What `kcoord config set` has set for it is heeded."""
    told = (
        "g: there is no such group, neither at kcoord nor at the cluster, so nothing is set. To set it beforehand: "
        f"kcoord config set g gateway.owner={owner}\n"
    )
    done = await run(server, command, "g")
    assert (done.code, done.out, server.changes) == (1, told, [])
    assert (await run(server, command, "g", "--dry-run")).out == told
    server.groups["g"] = Group(NOBODY, "", owner="auto", is_listed=False)
    done = await run(server, command, "g")
    whose = "kcoord" if command == "adopt" else "the cluster"
    assert (done.code, done.out) == (0, f"g: there is no such group now; {whose} has it as soon as it begins\n")
    assert server.changes == [("g", owner)]


async def test_a_group_without_members_is_told_from_none(server: ScriptedKcoord) -> None:
    server.groups["g"] = Group(NOBODY)
    done = await run(server, "release", "g")
    assert (done.code, done.out) == (0, "g: it has no members; the cluster has it as soon as one joins\n")


async def test_a_group_that_is_named_twice_counts_once(server: ScriptedKcoord) -> None:
    server.groups["g"] = Group(clients=("ada",))
    done = await run(server, "adopt", "g", "g")
    assert (done.code, done.out, server.changes) == (0, "g: kcoord\n", [("g", "kcoord")])


async def test_a_group_that_no_expression_matches_stays_with_the_cluster(server: ScriptedKcoord) -> None:
    server.groups["g"] = Group(AT_CLUSTER, clients=("ada",), why="it is not matched")
    done = await run(server, "release", "g")
    assert (done.code, done.out) == (0, "g: it is not matched\n")
    server.groups["h"] = Group(AT_CLUSTER, why="it is not matched", is_listed=False)
    done = await run(server, "release", "h")
    assert (done.code, done.out.startswith("h: there is no such group")) == (1, True)
    done = await run(server, "adopt", "g")
    assert (done.code, done.out, server.changes) == (1, "g: it is not matched\n", [])


# -- consumers of the new protocol -------------------------------------------------------------------------------------


async def test_consumer_groups_of_kcoords_are_listed_as_such_and_not_released(server: ScriptedKcoord) -> None:
    server.serves_consumers = True
    server.groups |= {
        "new": Group(type="consumer", clients=("ada", "bob")),
        "there": Group(NOBODY, type="consumer", clients=("cleo",)),
        "old": Group(clients=("dan",)),
    }
    listed = await run(server, "list")
    told = {line.split()[0]: line for line in listed.out.splitlines()[2:]}
    assert [told[name].split(") ")[1].strip() for name in ("new", "there", "old")] == [
        "kcoord",
        "the cluster",
        "kcoord",
    ]
    server.after_change = lambda group: setattr(group, "by", AT_CLUSTER)
    done = await run(server, "release", "--all")
    assert done.code == 1
    assert "new: it cannot be released, because no rebalance brings consumers of the new protocol to the cluster. " in (
        done.out
    )
    assert "ada, bob" in done.out
    assert server.changes == [("old", "cluster")]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (
            "consumer",
            "nothing to do: it is a consumer group of the cluster already, and its consumers speak the new prot",
        ),
        ("share", "nothing to do: it is a share group of the cluster already"),
    ],
)
async def test_a_group_that_only_the_cluster_can_have_is_released_already(
    server: ScriptedKcoord, kind: str, told: str
) -> None:
    server.groups["g"] = Group(NOBODY, kind, ("ada",))
    for arguments in (("release", "g"), ("release", "g", "--dry-run")):
        done = await run(server, *arguments)
        assert (done.code, done.out.startswith(f"g: {told}"), server.changes) == (0, True, [])


@pytest.mark.parametrize(
    ("serves", "told"),
    [
        (False, "it is a consumer group of the cluster, and kcoord"),
        (True, "its consumers speak the new protocol and are"),
    ],
)
async def test_consumers_of_the_new_protocol_are_not_adopted(server: ScriptedKcoord, serves: bool, told: str) -> None:
    server.serves_consumers = serves
    server.groups["g"] = Group(NOBODY, "consumer", ("ada",))
    done = await run(server, "adopt", "g")
    assert (done.code, done.out.startswith(f"g: {told}"), server.changes) == (1, True, [])
    server.groups["g"] = Group(NOBODY, "consumer")
    assert (await run(server, "adopt", "g")).code == (0 if serves else 1)


async def test_why_a_consumer_group_of_the_cluster_has_no_history(server: ScriptedKcoord) -> None:
    server.groups["g"] = Group(NOBODY, "consumer", ("ada",))
    done = await run(server, "explain", "g")
    assert done.err == (
        f"kcoord: {server.bootstrap} (1) keeps no history of g: only kcoord keeps one, of the groups that it "
        "coordinates\n"
    )


# -- lists -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "told"), [("--state", "there are Empty, Preparing"), ("--type", "there are classic, connect, consumer")]
)
async def test_a_state_or_type_that_does_not_exist_is_refused(server: ScriptedKcoord, option: str, told: str) -> None:
    done = await run(server, "list", option, "foo")
    assert (done.code, done.out, told in done.err) == (2, "", True)


async def test_a_list_of_groups_that_nobody_has_says_that_kcoord_was_asked(server: ScriptedKcoord) -> None:
    server.groups["g"] = Group(NOBODY)
    assert "COORDINATED BY" in (await run(server, "list", "--state", "empty")).out
    server.is_kcoord = False
    assert "COORDINATED BY" not in (await run(server, "list", "--state", "empty")).out


# -- servers that go away ----------------------------------------------------------------------------------------------

AWAY = "it closed the connection; kcoord answers there, but the cluster behind it does not: try again when the brokers"


@pytest.mark.parametrize(
    ("arguments", "is_change"),
    [(("list",), False), (("describe", "g"), False), (("release", "g"), True), (("delete", "g"), True)],
)
async def test_a_cluster_that_is_away_is_told_from_a_kcoord_that_is(
    server: ScriptedKcoord, arguments: tuple[str, ...], is_change: bool
) -> None:
    server.groups["g"] = Group(clients=("ada",))
    server.is_away = True
    done = await run(server, *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"kcoord: {server.bootstrap}: {AWAY}")
    changed = done.err.rpartition("; ")[2]
    assert (changed == "nothing was changed\n") == (is_change and arguments[0] != "delete")


async def test_a_server_that_ends_every_connection_may_be_a_kcoord_whose_cluster_is_away(
    server: ScriptedKcoord,
) -> None:
    server.is_shut = True
    told = f"kcoord: {server.bootstrap}: it closed the connection: a kcoord in front of a cluster does so while the "
    for command in (("list",), ("adopt", "g")):
        done = await run(server, *command)
        assert (done.code, done.err.startswith(told)) == (1, True), done
        assert done.err.endswith("; nothing was changed\n") == (command[0] == "adopt")


async def test_a_kcoord_that_goes_away_before_a_change(server: ScriptedKcoord) -> None:
    server.groups["g"] = Group(clients=("ada",))
    server.dies_at = DescribeConfigsRequest
    done = await run(server, "release", "g")
    assert (done.code, done.out) == (1, "")
    assert done.err.endswith("; nothing was changed\n")


async def test_a_kcoord_that_goes_away_during_a_change(server: ScriptedKcoord) -> None:
    server.groups["g"] = Group(clients=("ada",))
    server.dies_at = IncrementalAlterConfigsRequest
    done = await run(server, "release", "g")
    assert done.err == (
        f"kcoord: {server.bootstrap}: it closed the connection; it is not known whether the change was made\n"
    )


async def test_a_wait_goes_on_with_another_server() -> None:
    first, second = (
        ScriptedKcoord({"g": Group(AT_CLUSTER, clients=("ada",))}),
        ScriptedKcoord({"g": Group(clients=("ada",))}),
    )
    async with first.serving(), second.serving():

        def dies(_group: Group) -> None:
            first.dies_at = ConnectGroupDescribeRequest

        first.after_change = dies
        done = await run(first, "adopt", "g", bootstrap=f"{first.bootstrap},{second.bootstrap}")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{first.bootstrap}: it closed the connection; asking again until the time of --wait is over",
        "g: kcoord",
    ]


async def test_a_wait_without_another_server_says_that_kcoord_goes_on(server: ScriptedKcoord) -> None:
    server.groups["g"] = Group(AT_CLUSTER, clients=("ada",))
    server.after_change = lambda _group: setattr(server, "dies_at", ConnectGroupDescribeRequest)
    done = await run(server, "adopt", "g", "--wait", "0.1")
    assert done.code == 1
    assert done.err.startswith(
        f"kcoord: {server.bootstrap} cannot be reached: Connection refused. gateway.owner is set, "
    )
