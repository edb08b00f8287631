"""What 0.1.0 has left behind is taken up as if nothing had happened; see `stored.py`. No history is needed for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.group.state.connect_settings import FORMER_NAMES
from kcoord.instances.instance_map import Facts, InstanceMap
from kcoord.protocol.generated.instance_hello_request import InstanceHelloRequest
from kcoord.protocol.generated.instance_relay_request import InstanceRelayRequest
from kcoord.protocol.record_levels import RECORD_LEVEL, RELEASE_0_1_0
from kcoord.settings_sources import Settings, load_settings, setting_name
from tests.cli.run_cli import kcoord as run
from tests.gateway.scripted import close_all
from tests.kafka.kcoord_process import Kcoord
from tests.release.cast import SETTINGS, ask_all, bring_to_rest, go_on
from tests.release.comparison import differences
from tests.release.stored import read, read_cast, run_in_release, unpack_log

FORMER_SETTINGS = {f"group.{former}": f"group.{name}" for former, name in FORMER_NAMES.items()}
NAMES = {setting_name(field): field for field in Settings.model_fields}


async def test_its_log_is_loaded_and_everybody_goes_on(tmp_path: Path) -> None:
    kcoord = Kcoord(tmp_path, settings=SETTINGS)
    unpack_log(kcoord.data)
    verified = run("log", "verify", "--data-dir", kcoord.data, "-o", "offsets.topic.num.partitions=4")
    assert verified.code == 0, verified
    kcoord.start()
    try:
        assert differences(await ask_all(kcoord.port), read("answers.json")) == []
        cast = read_cast()
        await go_on(kcoord.port, cast)
        await bring_to_rest(kcoord.port, cast)
    finally:
        await close_all()
        kcoord.remove()


CHANGED = {"instances.session.timeout.ms": 6_000, "group.connect.min.session.timeout.ms": 6_000}
"""Defaults that are others now, which CHANGELOG says: whoever is silent is replaced within 7 s, an instance whose host
has gone, and a worker whose author asks for it."""


@pytest.mark.parametrize("name", read("settings.json"))
def test_its_settings_are_accepted(name: str) -> None:
    """The same name, or one that the old one leads to; the same default; and every value that could be chosen."""
    today = FORMER_SETTINGS.get(name, name)
    assert today in NAMES, f"{name} was a setting of 0.1.0: users have it in their files"
    said = read("settings.json")[name]
    default: Any = Settings.model_fields[NAMES[today]].get_default(call_default_factory=True)
    plain: Any = default if isinstance(default, int | float | dict | None) else str(default)
    if isinstance(default, tuple):
        plain = list(default)
    assert plain == CHANGED.get(name, said["default"])
    for choice in said["choices"]:
        Settings.__pydantic_validator__.validate_assignment(load_settings((), {}, None, {}), NAMES[today], choice)


def test_what_its_instances_say_is_understood() -> None:
    said = {name: bytes.fromhex(data) for name, data in read("instances.json").items()}
    facts, given = Facts.decode(said["Facts"]), InstanceMap.decode(said["InstanceMap"])
    assert facts.former == given
    assert facts.instance == given.instances[1]
    assert (facts.instance.record_level, given.record_level) == (RELEASE_0_1_0, RELEASE_0_1_0)
    assert facts.unreadable == frozenset()
    assert (given.partitions, given.brokers, given.epoch) == ((1, 2, None), {3: 1}, 7)
    assert InstanceHelloRequest.decode(said["InstanceHelloRequest"], 0) == InstanceHelloRequest(1, "run")
    relayed = InstanceRelayRequest(4, True, "client", "/10.0.0.1", 12, 4, b"body")
    assert InstanceRelayRequest.decode(said["InstanceRelayRequest"], 0) == relayed


def test_it_understands_what_instances_say_now(release: Path) -> None:
    """0.1.0 reads all that it knows, and leaves out what it does not know."""
    given = InstanceMap.decode(bytes.fromhex(read("instances.json")["InstanceMap"]))
    instances = {number: attrs.evolve(each, record_level=RECORD_LEVEL) for number, each in given.instances.items()}
    given = attrs.evolve(given, instances=instances)
    facts = Facts(instance=instances[1], partitions=3, owned=frozenset({1}), unreadable=frozenset({2}), former=given)
    script = """
import sys
from kcoord.instances.map import Facts
facts = Facts.decode(bytes.fromhex(sys.argv[1]))
print(facts.instance.host, sorted(facts.owned), facts.former.partitions, facts.former.instances[2].port)
"""
    assert run_in_release(release, script, facts.encode().hex()) == "h1 [1] (1, 2, None) 9093\n"
