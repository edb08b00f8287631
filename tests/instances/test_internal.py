"""Who gets in by the internal port, and what can somebody do there who should not, or who is broken?"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest

from kcoord.instances import link as link_module
from kcoord.instances import listener as listener_module
from kcoord.instances.frames import request_frame
from kcoord.instances.instance_parts import Instances, InstancesError, InstancesSettings, InternalSettings
from kcoord.instances.secret import Secret, nonce
from kcoord.instances.tls import InternalTls
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.instance_ask_request import InstanceAskRequest
from kcoord.protocol.generated.instance_check_commit_request import InstanceCheckCommitRequest
from kcoord.protocol.generated.instance_group_facts_request import InstanceGroupFactsRequest
from kcoord.protocol.generated.instance_hello_request import InstanceHelloRequest
from kcoord.protocol.generated.instance_hello_response import InstanceHelloResponse
from kcoord.protocol.generated.instance_let_go_request import InstanceLetGoRequest
from kcoord.protocol.generated.instance_ping_request import InstancePingRequest
from kcoord.protocol.generated.instance_proof_request import InstanceProofRequest
from kcoord.protocol.generated.instance_relay_request import InstanceRelayRequest
from kcoord.protocol.generated.instance_session_request import InstanceSessionRequest
from tests.instances.neighbours import FRAME_LIMIT, SECRET, Client, Neighbour, neighbours
from tests.instances.standing import until
from tests.instances.test_relay import Member
from tests.kafka.security import Certificates

OWNED_BY_THE_OTHER = (1, 1, 1, 1)
KNOWN = Secret(SECRET)


@pytest.mark.parametrize(
    ("secrets", "served"),
    [
        ((SECRET, SECRET), True),
        ((SECRET, SECRET + "!"), False),
        ((None, SECRET), False),
        ((SECRET, None), False),
    ],
    ids=["the same", "another", "only there", "only here"],
)
async def test_secrets(
    secrets: tuple[str | None, str | None], served: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER, secrets=secrets) as (entry, owner):
        answer = await Member(entry.connect()).join()
        assert answer.error_code == (ErrorCode.NONE if served else ErrorCode.NOT_COORDINATOR)
        assert ("internal.secret" in caplog.text) is not served
        assert bool(owner.coordinator.groups_of(owner.coordinator.partition_of("group"))) is served
        assert not owner.listener.strangers or not served


async def test_certificates_on_both_sides(tmp_path: Path) -> None:
    ours, theirs = Certificates.make(tmp_path / "ours"), Certificates.make(tmp_path / "theirs")
    good = InternalTls(certificate=ours.server, key=ours.server, ca=ours.authority)
    strange = InternalTls(certificate=theirs.server, key=theirs.server, ca=ours.authority)
    for mine, error in (
        (good, ErrorCode.NONE),
        (strange, ErrorCode.NOT_COORDINATOR),
        (None, ErrorCode.NOT_COORDINATOR),
    ):
        folder = tmp_path / str(error) / str(mine is None)
        async with neighbours(folder, OWNED_BY_THE_OTHER, secrets=(None, None), tls=(mine, good)) as (entry, _):
            assert (await Member(entry.connect()).join()).error_code == error


async def test_a_port_that_is_somebody_elses(tmp_path: Path) -> None:
    """An instance whose port another has taken over since the map was made."""
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER, number=3) as (entry, owner, third):
        moved = attrs.evolve(owner.instance, internal=third.instance.internal)
        entry.map = attrs.evolve(entry.map, instances={**entry.map.instances, 1: moved})
        assert (await Member(entry.connect()).join()).error_code == ErrorCode.NOT_COORDINATOR


# -- strangers ---------------------------------------------------------------------------------------------------------

STRANGE_FRAMES: dict[str, bytes] = {
    "an HTTP request": b"GET / HTTP/1.1\r\n\r\n",
    "a frame of a gigabyte": (1 << 30).to_bytes(4, "big"),
    "a frame above what strangers may send": (2000).to_bytes(4, "big"),
    "a negative size": b"\xff\xff\xff\xff",
    "a frame without a header": b"\0\0\0\1x",
    "a request of the clients' protocol": b"\0\0\0\x0b\0\x12\0\0\0\0\0\1\xff\xff\0",
    "a relay before any proof": request_frame(1, InstanceRelayRequest()),
    "a ping before any proof": request_frame(1, InstancePingRequest()),
    "a proof before the first words": request_frame(1, InstanceProofRequest(nonce=nonce())),
    "an unreadable body": request_frame(1, InstanceHelloRequest(run="run"))[:-2] + b"\xff\xff",
    "the first words twice": request_frame(1, InstanceHelloRequest()) * 2,
}


@pytest.mark.parametrize("sent", STRANGE_FRAMES.values(), ids=STRANGE_FRAMES.keys())
async def test_strangers_are_closed_after_few_bytes(sent: bytes, tmp_path: Path) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner), stranger(owner) as (reader, writer):
        writer.write(sent)
        assert len(await _to_its_end(reader)) < 100
        assert (await Member(entry.connect()).join()).error_code == ErrorCode.NONE, "nobody else is harmed"


async def test_a_stranger_that_says_nothing_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener_module, "AUTHENTICATION_S", 0.2)
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (_, owner), stranger(owner) as (reader, _):
        assert await _to_its_end(reader) == b""
        assert not owner.listener.strangers


async def test_strangers_keep_no_instance_out(tmp_path: Path) -> None:
    """As many as there may be, and they say nothing: a new connection takes the oldest one's place."""
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        crowd = [
            await asyncio.open_connection(*owner.instance.internal or ()) for _ in range(listener_module.STRANGERS + 8)
        ]
        await until(lambda: len(owner.listener.strangers) == listener_module.STRANGERS, "those too many are closed")
        assert [await _to_its_end(reader) for reader, _ in crowd[:8]] == [b""] * 8, "the oldest"
        assert (await Member(entry.connect(), "meanwhile").join()).error_code == ErrorCode.NONE
        for _, writer in crowd:
            writer.close()
        await until(lambda: not owner.listener.strangers, "all have gone")


@pytest.mark.parametrize("claimed", [FRAME_LIMIT + 1, 1 << 31 - 1])
async def test_an_instance_that_claims_too_much_is_closed(claimed: int, tmp_path: Path) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (_, owner), stranger(owner) as (reader, writer):
        await _prove(reader, writer)
        writer.write((claimed % (1 << 31)).to_bytes(4, "big") + b"x" * 1000)
        assert await _to_its_end(reader) == b""


async def test_what_an_instance_cannot_have_meant_is_answered_by_an_error(tmp_path: Path) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (_, owner), stranger(owner) as (reader, writer):
        await _prove(reader, writer)
        for api_key, body in ((0, b""), (11, b"no JoinGroup")):
            writer.write(request_frame(7, InstanceRelayRequest(api_key=api_key, api_version=9, body=body)))
            answer = await _frame(reader)
            assert int.from_bytes(answer[5:7], "big") in (ErrorCode.INVALID_REQUEST, ErrorCode.UNSUPPORTED_VERSION)


async def test_whatever_an_instance_sends_harms_nobody_else(tmp_path: Path) -> None:
    """Whole frames with something wrong in them, from one that has proved to be an instance."""
    rng = random.Random(5)
    join = Member(Client(neighbour=None, connection=1, client_id="c")).join_request()  # type: ignore[arg-type]
    relay = InstanceRelayRequest(api_key=11, api_version=9, client_host="/h", body=join.encode(9))
    frames = [
        request_frame(9, relay),
        request_frame(9, InstanceLetGoRequest(connection=3, group_id="group")),
        request_frame(9, InstanceGroupFactsRequest(group_ids=["a", "b"])),
        request_frame(9, InstanceSessionRequest(group_id="group", member_id="m", pause_ms=5)),
        request_frame(9, InstanceCheckCommitRequest(group_id="group", member_id="m")),
        request_frame(9, InstanceAskRequest(group_id="group", what=7)),
    ]
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        for _ in range(200):
            frame = bytearray(rng.choice(frames))
            for _ in range(rng.randint(0, 3)):
                frame[rng.randrange(4, len(frame))] = rng.randrange(256)
            async with stranger(owner) as (reader, writer):
                await _prove(reader, writer)
                writer.write(frame + request_frame(10, InstancePingRequest()))
                writer.write_eof()
                await _to_its_end(reader)
        assert (await Member(entry.connect()).join()).error_code == ErrorCode.NONE
    assert not faults


# -- peers that do not answer ------------------------------------------------------------------------------------------


async def test_a_port_that_accepts_and_says_nothing(tmp_path: Path) -> None:
    async with (
        neighbours(tmp_path, OWNED_BY_THE_OTHER, timeout_s=0.3) as (entry, owner),
        before(entry, owner) as way,
    ):
        way.is_open.clear()
        assert (await Member(entry.connect()).join()).error_code == ErrorCode.NOT_COORDINATOR


async def test_an_owner_that_falls_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A join may wait for long, but only while its owner is there."""
    monkeypatch.setattr(link_module, "PING_S", 0.05)
    async with (
        neighbours(tmp_path, OWNED_BY_THE_OTHER, timeout_s=0.5) as (entry, owner),
        before(entry, owner) as way,
    ):
        first = Member(entry.connect())
        await first.join()
        await first.sync()
        waiting = asyncio.create_task(Member(entry.connect()).join())
        await until(
            lambda: any(caller._in_work for caller in owner.listener.callers),
            "the owner lets it wait for the first",
        )
        await asyncio.sleep(1.0)
        assert not waiting.done(), "pings are answered"
        way.is_open.clear()
        assert (await waiting).error_code == ErrorCode.NOT_COORDINATOR
        assert await first.heartbeat() == ErrorCode.NOT_COORDINATOR


async def test_a_way_that_is_cut_and_mended(tmp_path: Path) -> None:
    async with (
        neighbours(tmp_path, OWNED_BY_THE_OTHER, timeout_s=0.5) as (entry, owner),
        before(entry, owner) as way,
    ):
        member = Member(entry.connect())
        await member.join()
        await member.sync()
        way.cut()
        assert await member.heartbeat() in (ErrorCode.NOT_COORDINATOR, ErrorCode.NONE)

        async def answers() -> bool:
            return await member.heartbeat() == ErrorCode.NONE

        while not await answers():
            await asyncio.sleep(0.05)


# -- what may be set ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("internal", "complaint"),
    [
        (InternalSettings(listen=("127.0.0.1", 0)), "internal.secret"),
        (InternalSettings(listen=("127.0.0.1", 0), secret="short"), "16"),
        (InternalSettings(listen=("0.0.0.0", 0), secret=SECRET), "internal.advertise"),
        (
            InternalSettings(
                listen=("127.0.0.1", 0),
                tls=InternalTls(certificate=Path("no.pem"), key=Path("no.pem"), ca=Path("no.pem")),
            ),
            "no.pem",
        ),
    ],
)
async def test_settings_that_cannot_be_meant(internal: InternalSettings, complaint: str, tmp_path: Path) -> None:
    settings = InstancesSettings(
        instance_id=1,
        group="g",
        topic="t",
        partitions=4,
        kafka={"bootstrap_servers": "127.0.0.1:1"},
        host="127.0.0.1",
        port=9092,
        lease_ms=5_000,
        internal=internal,
    )
    async with neighbours(tmp_path, (0, 0, 0, 0)) as (one, _):
        with pytest.raises(InstancesError, match=complaint):
            Instances(settings, one.coordinator, lambda: 1)


# -- tools -------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def stranger(owner: Neighbour) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to somebody's internal port."""
    assert owner.instance.internal is not None
    reader, writer = await asyncio.open_connection(*owner.instance.internal)
    try:
        yield reader, writer
    finally:
        writer.close()


async def _prove(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Be an instance."""
    writer.write(request_frame(1, InstanceHelloRequest(instance_id=7, run="seven")))
    hello = InstanceHelloResponse.decode(await _frame(reader), 0, 5)
    mine = nonce()
    proof = KNOWN.of_caller(7, "seven", hello.nonce, mine)
    writer.write(request_frame(2, InstanceProofRequest(nonce=mine, proof=proof)))
    await _frame(reader)


async def _frame(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(180):
        return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))


async def _to_its_end(reader: asyncio.StreamReader) -> bytes:
    read = b""
    async with asyncio.timeout(180):
        while True:
            try:
                more = await reader.read(4096)
            except ConnectionError:
                return read
            if not more:
                return read
            read += more


@attrs.define(eq=False)
class Way:
    """A way to an internal port on which bytes wait while it is not open."""

    is_open: asyncio.Event
    writers: set[asyncio.StreamWriter] = attrs.Factory(set)

    def cut(self) -> None:
        for writer in self.writers:
            writer.transport.abort()
        self.writers.clear()


@asynccontextmanager
async def before(entry: Neighbour, owner: Neighbour) -> AsyncIterator[Way]:
    """From now on `entry` reaches `owner` by another port, and what goes there can be held up."""
    way = Way(asyncio.Event())
    way.is_open.set()
    assert owner.instance.internal is not None
    behind = owner.instance.internal

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                await way.is_open.wait()
                writer.write(data)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onwards: tuple[asyncio.StreamReader, asyncio.StreamWriter] = await asyncio.open_connection(*behind)
        way.writers |= {writer, onwards[1]}
        copies: list[Awaitable[None]] = [copy(reader, onwards[1]), copy(onwards[0], writer)]
        await asyncio.gather(*copies)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    moved = attrs.evolve(owner.instance, internal=("127.0.0.1", server.sockets[0].getsockname()[1]))
    entry.map = attrs.evolve(entry.map, instances={**entry.map.instances, owner.number: moved})
    try:
        yield way
    finally:
        server.close()
        way.is_open.set()
        way.cut()
        await asyncio.sleep(0.05)
