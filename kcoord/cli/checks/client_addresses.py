"""The addresses that clients are sent to: whether their names resolve, and whether they lead to this kcoord.

A client connects once to the address that it was given. Then it goes where it is sent: to the bootstrap address, and to
one more address for each broker. So the check opens kcoord's ports for a moment and connects to each address as a
client would. What arrives must be what was sent.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import secrets
import socket
from collections.abc import AsyncIterator, Sequence

import attrs

from kcoord.cli.checks.finding import Finding, fine, note, problem
from kcoord.server.startup.upstream_watch import LOOPBACK, is_of_this_machine
from kcoord.settings import WILDCARD_HOSTS, Settings

ABOUT = "advertise"
PATIENCE_S = 2.0
TOKEN_BYTES = 16


@attrs.frozen
class AdvertisedAddress:
    """An address that clients are sent to, and the port here that it must lead to."""

    host: str
    port: int
    listen_port: int


def advertised_addresses(settings: Settings, broker_ports: Sequence[int]) -> list[AdvertisedAddress]:
    """The bootstrap address and the brokers' addresses, as clients get them."""
    host, first = settings.advertise or settings.listen
    listen_port = settings.listen[1]
    return [AdvertisedAddress(host, first + port - listen_port, port) for port in (listen_port, *broker_ports)]


async def check_addresses(settings: Settings, broker_ports: Sequence[int]) -> AsyncIterator[Finding]:
    """Check the addresses. `broker_ports`: the ports on which kcoord would listen for brokers."""
    if settings.advertise is None and settings.listen[0] in WILDCARD_HOSTS:
        yield fine(ABOUT, "clients are sent to the IP address of this machine at which their connection arrives")
        return
    if settings.advertise is None and settings.log == "embedded" and settings.ssl_certificate_location is not None:
        yield note(
            ABOUT,
            "clients are sent to the IP address at which their connection arrives, and most compare that with the "
            "names in kcoord's TLS certificate: set advertise to a name that the certificate has",
        )
    addresses = advertised_addresses(settings, broker_ports)
    host, port = addresses[0].host, addresses[0].port
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        yield problem(ABOUT, f"clients are sent to {host}:{port}, and {host} has no address: {error.strerror}")
        return
    ips = sorted({str(each[4][0]) for each in found})
    if all(ipaddress.ip_address(each.partition("%")[0]).is_loopback for each in ips):
        yield _loopback(settings, host, ips)
    found_way = await _check_way(settings, addresses, ips)
    if found_way is not None:
        yield found_way


def _loopback(settings: Settings, host: str, ips: Sequence[str]) -> Finding:
    listens_at = settings.listen[0]
    if host not in LOOPBACK and host not in ips:
        return note(
            ABOUT,
            f"{host} is {', '.join(ips)} here, which only this machine can reach: make sure that other machines "
            "resolve it to an address of this machine",
        )
    if listens_at in LOOPBACK:
        return note(ABOUT, f"only clients on this machine reach {host}; set listen and advertise for others")
    return note(
        ABOUT,
        f"clients are sent to {host}, which only clients on this machine can reach, but kcoord listens at "
        f"{listens_at} for others too: set advertise to a name that they can reach",
    )


async def _check_way(settings: Settings, addresses: Sequence[AdvertisedAddress], ips: Sequence[str]) -> Finding | None:
    """Whether connections to these addresses arrive here. None if all ports are taken: another check reports that."""
    outcomes = await asyncio.gather(*(_try(settings.listen[0], each) for each in addresses))
    host = addresses[0].host
    tried = [(each, why) for each, why in zip(addresses, outcomes, strict=True) if why is not None]
    lost = [(each, why) for each, why in tried if why]
    if not lost:
        ports = _ports([each for each, _ in tried])
        return fine(ABOUT, f"clients are sent to {host}:{ports}, which leads here") if tried else None
    first, why = lost[0]
    text = f"clients are sent to {host}:{_ports([each for each, _ in lost])}, which does not lead here ({why})"
    if all(is_of_this_machine(each) for each in ips):
        return problem(
            ABOUT, f"{text}: kcoord listens at {settings.listen[0]}:{first.listen_port}; set listen or advertise"
        )
    return note(
        ABOUT,
        f"{text}, as seen from this machine: make sure that it leads clients to port {first.listen_port} of this "
        "machine" + (" and so on" if len(lost) > 1 else ""),
    )


def _ports(addresses: Sequence[AdvertisedAddress]) -> str:
    ports = sorted(each.port for each in addresses)
    is_range = len(ports) > 2 and ports[-1] - ports[0] == len(ports) - 1
    return f"{ports[0]} to {ports[-1]}" if is_range else ", ".join(map(str, ports))


async def _try(listen_host: str, address: AdvertisedAddress) -> str | None:
    """Why what is sent to the address does not arrive. Empty: it arrives. None: the port here is taken."""
    token = secrets.token_bytes(TOKEN_BYTES)
    arrived = asyncio.Event()

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if await reader.readexactly(TOKEN_BYTES) == token:
                arrived.set()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    try:
        server = await asyncio.start_server(receive, listen_host, address.listen_port)
    except OSError:
        return None
    async with server:
        try:
            async with asyncio.timeout(PATIENCE_S):
                _, writer = await asyncio.open_connection(address.host, address.port)
        except TimeoutError:
            return "no response"
        except OSError as error:
            return os.strerror(error.errno or 0) if error.errno in errno.errorcode else str(error)
        try:
            writer.write(token)
            async with asyncio.timeout(PATIENCE_S):
                await arrived.wait()
        except (OSError, TimeoutError):
            return "another server responds there"
        finally:
            writer.close()
    return ""
