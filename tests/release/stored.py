"""What 0.1.0 has left behind: a log, what it answered about it, its settings, what its instances say to each other.

`python -m tests.release.stored` writes it to `tests/release/stored` by running that release; it never changes again.

| file | what is in it |
| --- | --- |
| log.db.gz | the embedded log of the groups of `cast.py` |
| cast.json | their members, as they are to go on |
| answers.json | what 0.1.0 answered about these groups after it had loaded that log |
| settings.json | each setting's name, default and choices |
| instances.json | messages between instances, by their names |
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.gateway.scripted import close_all
from tests.kafka.kcoord_process import Kcoord
from tests.release.cast import SETTINGS, Cast, ClassicMember, ConnectMember, ask_all, play
from tests.release.wheel import release_site

FOLDER = Path(__file__).with_name("stored")
LOG = "kcoord.db"
SETTINGS_OF_RELEASE = """
import json, typing
from kcoord.config import Settings, setting_name
def choices(kind):
    return [text for each in typing.get_args(kind) for text in ([each] if isinstance(each, str) else choices(each))]
found = {}
for field, info in Settings.model_fields.items():
    default = info.get_default(call_default_factory=True)
    found[setting_name(field)] = {"default": default, "choices": choices(info.annotation)}
print(json.dumps(found, indent=1, sort_keys=True, default=str))
"""
INSTANCES_OF_RELEASE = """
import json
from kcoord.instances.map import Facts, Instance, InstanceMap
from kcoord.protocol.generated import instance_hello_request as hello, instance_relay_request as relay
one = Instance(instance_id=1, member_id="m1", started_ms=5, host="h1", port=9092, broker_ports={3: 9999},
    internal=("i1", 9099), lease_ms=5000)
two = Instance(instance_id=2, member_id="m2", started_ms=6, host="h2", port=9093, lease_ms=5000)
given = InstanceMap(epoch=7, instances={1: one, 2: two}, partitions=(1, 2, None), brokers={3: 1})
facts = Facts(instance=one, partitions=3, owned=frozenset({0}), brokers=frozenset({3}), leaders=(3, None, 3),
    former=given)
said = {"Facts": facts.encode(), "InstanceMap": given.encode(),
    "InstanceHelloRequest": hello.InstanceHelloRequest(1, "run").encode(0),
    "InstanceRelayRequest": relay.InstanceRelayRequest(4, True, "client", "/10.0.0.1", 12, 4, b"body").encode(0)}
print(json.dumps({name: data.hex() for name, data in said.items()}, indent=1))
"""


def read(name: str) -> Any:
    """One of the JSON files."""
    return json.loads((FOLDER / name).read_text())


def unpack_log(data: Path) -> None:
    """Put the log into an empty data directory."""
    data.mkdir(parents=True, exist_ok=True)
    (data / LOG).write_bytes(gzip.decompress((FOLDER / "log.db.gz").read_bytes()))


def read_cast() -> Cast:
    """The members."""

    def owned(told: dict[str, Any]) -> Any:
        return frozenset((connector, task) for connector, task in told.pop("owned"))

    told = read("cast.json")
    return Cast(
        [ClassicMember(owned=owned(each), **each) for each in told["classic"]],
        [ConnectMember(owned=owned(each), **each) for each in told["connect"]],
    )


def _as_json(member: ClassicMember | ConnectMember) -> dict[str, Any]:
    names = [name for name in member.__slots__ if not name.startswith("_")]
    return {name: getattr(member, name) for name in names} | {"owned": sorted(member.owned)}


def run_in_release(site: Path, script: str, *arguments: str) -> str:
    """What a script prints that uses the package of another release."""
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


async def record(site: Path) -> None:
    """Write everything."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        kcoord = Kcoord(Path(scratch), settings=SETTINGS, site=site).start()
        try:
            cast = await play(kcoord.port)
            await close_all()
            kcoord.stop()
            (FOLDER / "log.db.gz").write_bytes(gzip.compress((kcoord.data / LOG).read_bytes(), mtime=0))
            kcoord.start()
            answers = await ask_all(kcoord.port)
        finally:
            await close_all()
            kcoord.remove()
    told = {"classic": list(map(_as_json, cast.classic)), "connect": list(map(_as_json, cast.connect))}
    (FOLDER / "cast.json").write_text(json.dumps(told, indent=1) + "\n")
    (FOLDER / "answers.json").write_text(json.dumps(answers, indent=1) + "\n")
    (FOLDER / "settings.json").write_text(run_in_release(site, SETTINGS_OF_RELEASE))
    (FOLDER / "instances.json").write_text(run_in_release(site, INSTANCES_OF_RELEASE))


if __name__ == "__main__":
    first = release_site()
    assert first is not None, "the history of 0.1.0 is not here"
    asyncio.run(record(first))
