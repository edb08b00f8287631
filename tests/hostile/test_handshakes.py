"""Who has not said who it is counts like everybody else, and not for long; and when there are no more open files,
accepting goes on later."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import ssl
from collections.abc import Callable
from pathlib import Path

from kcoord.loop.handshake_queue import BEGUN_AT_ONCE, is_whole
from kcoord.protocol.messages import ApiVersionsRequest
from tests.gateway.scripted import connect, until
from tests.hostile.frames import API_VERSIONS_FRAME
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import Certificates
from tests.server.harness import Client, standalone


async def test_tls_handshakes_count_as_connections_and_have_a_deadline(
    tmp_path: Path, start_kcoord: Callable[..., Kcoord]
) -> None:
    certificates = Certificates.make(tmp_path / "tls")
    kcoord = start_kcoord(
        "alone",
        ssl_certificate_location=certificates.server,
        max_connections=8,
        connections_authentication_timeout_ms=5000,
    )
    silent = [await connect(kcoord.bootstrap) for _ in range(12)]
    assert [await each.read_frame() for each in silent[8:]] == [b""] * 4, "above max.connections"
    assert [await each.read_frame() for each in silent[:8]] == [b""] * 8, "the deadline has passed"
    trust = ssl.create_default_context(cafile=certificates.authority)

    async def served() -> bool:  # the last one's place is free a moment after its end is seen
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", kcoord.port, ssl=trust)
        except (OSError, ssl.SSLError):
            return False
        async with Client(reader, writer) as honest:
            return bool(await honest.ask(ApiVersionsRequest(), 0))

    await until(served, "an honest client is served")
    await asyncio.to_thread(kcoord.wait_for_line, "(max.connections)", 4)
    await asyncio.to_thread(
        kcoord.wait_for_line, "its TLS handshake failed", 7
    )  # who saw it start may have had a place


def hello() -> bytes:
    """A client's first message."""
    sent = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="127.0.0.1").do_handshake()
    return sent.read()


async def test_handshakes_begin_a_few_a_turn_of_the_loop(tmp_path: Path) -> None:
    """Each takes the server about a millisecond, which it would take for all of them in one turn."""
    certificates = Certificates.make(tmp_path / "tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.server)
    async with standalone(tmp_path / "data", tls=context) as running:
        crowd = [await connect(running.port) for _ in range(40)]
        late = crowd.pop()
        for each in crowd:
            each.writer.write(hello())
        late.writer.write(hello()[:-1])
        for each in crowd:
            assert await each.reader.readexactly(1) == b"\x16", "the server's hello"
        handshakes = running.server.handshakes
        assert handshakes is not None
        assert handshakes.begun == len(crowd), "a hello that is not whole does not begin"
        assert handshakes.turns >= len(crowd) / BEGUN_AT_ONCE
        assert BEGUN_AT_ONCE <= 4, "so many milliseconds of a turn"
        late.writer.write(b"\0")
        assert await late.reader.readexactly(1)


def test_a_hello_is_whole_when_its_last_record_is() -> None:
    whole = hello()
    assert [size for size in range(len(whole) + 1) if is_whole(whole[:size])] == [len(whole)]
    message = whole[5:]
    records = b"".join(b"\x16\3\1\0\1" + message[at : at + 1] for at in range(len(message)))
    assert [size for size in range(len(records) + 1) if is_whole(records[:size])] == [len(records)]
    assert is_whole(b"GET / HTTP/1.1"), "it is TLS that says so"
    assert is_whole(b"\x16\3\1\xff\xff\1" + b"\xff" * (1 << 16)), "nor is it waited for without end"


async def test_who_does_not_authenticate_is_closed(start_kcoord: Callable[..., Kcoord]) -> None:
    """In front of a cluster that uses SASL; what a client may ask before it authenticates does not prolong it."""
    kcoord = start_kcoord(
        "gateway", upstream_security_protocol="SASL_PLAINTEXT", connections_authentication_timeout_ms=1000
    )
    silent, asking = await connect(kcoord.bootstrap), await connect(kcoord.bootstrap)
    asking.writer.write(API_VERSIONS_FRAME)
    assert await asking.read_frame()
    assert await silent.read_frame() == b""
    assert await asking.read_frame() == b""
    await asyncio.to_thread(kcoord.wait_for_line, "(connections.authentication.timeout.ms)", 2)


async def test_when_there_are_no_more_open_files_accepting_goes_on_later(start_kcoord: Callable[..., Kcoord]) -> None:
    kcoord = start_kcoord("alone")
    kept = await connect(kcoord.bootstrap)
    await kept.ask(ApiVersionsRequest(), 0)
    open_files = len(list(Path(f"/proc/{kcoord.process.popen.pid}/fd").iterdir()))
    limits = resource.prlimit(kcoord.process.popen.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(kcoord.process.popen.pid, resource.RLIMIT_NOFILE, (open_files + 10, limits[1]))
    crowd = [await connect(kcoord.bootstrap) for _ in range(20)]
    await asyncio.to_thread(kcoord.wait_for_line, "accepts no connections for the moment")
    await kept.ask(ApiVersionsRequest(), 0)
    for each in crowd:
        await each.close()
    await (await connect(kcoord.bootstrap)).ask(ApiVersionsRequest(), 0)
    assert kcoord.log.read_text().count("accepts no connections for the moment") == 1
