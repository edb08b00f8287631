"""What do settings make of a start: which APIs are offered, which assignors run, and what is refused?"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from kcoord.assign.consumer import ConsumerTargets, SubscribedGroup, UniformConsumerAssignor
from kcoord.assign.interface import ServerAssignor
from kcoord.assign.model import Assignment, Group, MemberAssignment
from kcoord.assign.uniform import UniformAssignor
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.unassigned import ADOPT_GROUP, DECLARED_TOPICS
from kcoord.protocol.messages import OWN_APIS, ApiVersionsRequest, ConnectGroupDescribeRequest, DescribeConfigsRequest
from kcoord.server.standalone import CONNECT_GROUP_APIS, CONSUMER_GROUP_APIS
from kcoord.server.startup.assignors import ENTRY_POINTS, AssignorError, load_assignors, load_consumer_assignors
from kcoord.server.startup.components import StartError, connect_settings, consumer_settings
from kcoord.settings_sources import SettingsError, load_settings
from tests.connectgroups.worker import Worker, resources
from tests.gateway.scripted import ask, connect
from tests.kafka.installed_package import install
from tests.kafka.kcoord_process import Kcoord

# -- offered ----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[True, False], ids=["on", "off"])
def enabled(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def kcoord(tmp_path: Path, enabled: bool) -> Iterator[Kcoord]:
    """A lone kcoord, as users run it."""
    process = Kcoord(tmp_path, settings={"group.connect.enable": str(enabled).lower()})
    yield process.start()
    process.remove()


async def test_the_apis_are_offered_where_the_feature_is_on(kcoord: Kcoord, enabled: bool) -> None:
    client = await connect(kcoord.bootstrap)
    offered = {each.api_key: each for each in (await ask(client, ApiVersionsRequest("test", "1"))).api_keys}
    own = {request.API_KEY for request in (*CONNECT_GROUP_APIS, *CONSUMER_GROUP_APIS)}
    assert own >= OWN_APIS - {ADOPT_GROUP, DECLARED_TOPICS}
    for request in CONNECT_GROUP_APIS:
        found = offered.get(request.API_KEY)
        versions = None if found is None else (found.min_version, found.max_version)
        assert versions == ((request.MIN_VERSION, request.MAX_VERSION) if enabled else None)
    for asked in (ConnectGroupDescribeRequest([]), DescribeConfigsRequest()):
        client = await connect(kcoord.bootstrap)
        if enabled:
            assert await ask(client, asked)
        else:
            client.writer.write(client.frame(asked, asked.MAX_VERSION)[1])
            assert await client.read_frame() == b"", "an API that is unknown closes its connection"
    if not enabled:
        assert "ConnectGroupDescribe is not served" in kcoord.log.read_text()


# -- assignors --------------------------------------------------------------------------------------------------------


class FirstGetsAll:
    """An assignor as somebody else would write one."""

    name = "first"

    def assign(self, group: Group) -> Assignment:
        first, *others = sorted(member.member_id for member in group.members)
        rest = tuple(MemberAssignment(other) for other in others)
        return Assignment((MemberAssignment(first, group.configured or frozenset()), *rest))


class Nameless:
    """None."""


def breaks() -> ServerAssignor:
    """Cannot be made."""
    raise RuntimeError("no licence")


def entry(name: str, thing: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{thing}", ENTRY_POINTS)


OFFERED = [
    entry("first", "FirstGetsAll"),
    entry("other", "FirstGetsAll"),
    entry("nameless", "Nameless"),
    entry("breaks", "breaks"),
    entry("missing", "Missing"),
    EntryPoint("gone", "no_such_module_at_all:X", ENTRY_POINTS),
]


def test_assignors_come_in_the_order_in_which_they_are_named() -> None:
    assert [each.name for each in load_assignors(["cooperative", "first", "uniform"], OFFERED)] == [
        "cooperative",
        "first",
        "uniform",
    ]
    assert isinstance(load_assignors(["uniform"])[0], UniformAssignor)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("unifrom", "there is no assignor unifrom; the nearest is uniform (all: uniform, cooperative, eager, "),
        ("frist", "there is no assignor frist; the nearest is first"),
        ("other", "calls itself first: an entry point has the name of its assignor"),
        ("nameless", "makes a Nameless, which is no assignor"),
        ("breaks", "cannot be loaded: RuntimeError: no licence"),
        ("missing", "cannot be loaded: AttributeError"),
        ("gone", "cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_an_assignor_that_cannot_be_had_stops_the_start(name: str, says: str) -> None:
    with pytest.raises(AssignorError) as refused:
        load_assignors(["uniform", name], OFFERED)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert load_assignors(["uniform"], OFFERED), "what nobody names harms nobody"


class EveryConsumer:
    """An assignor of consumer groups."""

    name, reads_racks = "every", True

    def assign(self, group: SubscribedGroup) -> ConsumerTargets:
        return UniformConsumerAssignor().assign(group)


def test_consumer_groups_have_assignors_of_their_own() -> None:
    offered = [entry("every", "EveryConsumer"), entry("first", "FirstGetsAll")]
    loaded = load_consumer_assignors(["range", "every"], offered)
    assert [(each.name, each.reads_racks) for each in loaded] == [("range", False), ("every", True)]
    for name, says in (
        ("evry", "group.consumer.assignors: there is no assignor evry; the nearest is every (all: uniform, range, "),
        ("first", "makes a FirstGetsAll, which is no assignor: it needs name, reads_racks and assign"),
    ):
        with pytest.raises(AssignorError) as refused:
            load_consumer_assignors([name], offered)
        assert says in str(refused.value)
    with pytest.raises(StartError, match="there is no assignor rnge; the nearest is range"):
        consumer_settings(load_settings(["group.consumer.assignors=rnge"]))


def test_a_package_cannot_take_a_built_in_name() -> None:
    with pytest.raises(AssignorError, match="takes the name of the built-in assignor uniform"):
        load_assignors(["uniform"], [entry("uniform", "FirstGetsAll")])


def test_the_setting_is_refused_at_the_start(tmp_path: Path) -> None:
    settings = load_settings(["group.connect.assignors=cooperatve", f"data.dir={tmp_path}"])
    with pytest.raises(StartError, match="there is no assignor cooperatve; the nearest is cooperative"):
        connect_settings(settings)
    process = Kcoord(tmp_path, settings={"group.connect.assignors": "cooperatve"})
    process.start(wait=False)
    assert process.process.popen.wait(30) == 1
    assert "the nearest is cooperative" in process.log.read_text()
    assert not (tmp_path / "data" / "kcoord.db").exists(), "nothing was opened for it"


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("group.connect.assignors=", "none of them empty"),
        ("group.connect.assignors=uniform,,cooperative", "none of them empty"),
        ("group.connect.assignors=uniform,uniform", "is there twice"),
        ("group.connect.session.timeout.ms=1000", "group.connect.min.session.timeout.ms=6000 is more than"),
        ("group.connect.session.timeout.ms=70000", "is more than group.connect.max.session.timeout.ms=60000"),
        ("group.connect.heartbeat.interval.ms=1", "is more than group.connect.heartbeat.interval.ms=1"),
        ("group.connect.rebalance.delay.ms=-1", "group.connect.rebalance.delay.ms"),
        ("group.connect.enabled=true", "the nearest is group.connect.enable "),
    ],
)
def test_settings_that_do_not_fit_are_refused(option: str, says: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings([option])
    assert says in str(refused.value)


PLUG_IN = "from tests.connectgroups.test_start import FirstGetsAll\n"


async def test_an_installed_package_brings_an_assignor(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, PLUG_IN, ENTRY_POINTS, "first", "FirstGetsAll")
    process = Kcoord(tmp_path, settings={"group.connect.assignors": "uniform,first"})
    try:
        process.start()
        one = Worker(await connect(process.bootstrap), name, "w1")
        two = Worker(await connect(process.bootstrap), name, "w2")
        assert await one.join(resources("a", "a-0"), server_assignor="first") == ErrorCode.NONE
        assert await two.join(server_assignor="first") == ErrorCode.NONE
        await one.settle(resources("a", "a-0"))
        await two.settle(frozenset())
    finally:
        process.remove()
