"""The machine on which kcoord would run: free ports, a writable data directory, files that it loads at its start."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

from kcoord.address import Address
from kcoord.cli.checks.finding import Finding, fine, problem
from kcoord.server.run import StartError, connect_settings, tls
from kcoord.server.startup.tls import TlsError
from kcoord.settings import Settings


def check_place(settings: Settings) -> Iterator[Finding]:
    """The checks that need no cluster."""
    yield _check_port("listen", settings.listen, "listen")
    if settings.internal_listen is not None:
        yield _check_port("internal", settings.internal_listen, "internal.listen", "for other instances")
    if settings.log == "embedded":
        yield _check_folder(settings.data_dir)
    yield from _check_files(settings)


def _check_files(settings: Settings) -> Iterator[Finding]:
    """Certificates and assignors, which kcoord loads at its start."""
    try:
        if tls(settings) is not None:
            yield fine("tls", f"kcoord's ports speak TLS with {settings.ssl_certificate_location}")
        connect_settings(settings)
    except TlsError as error:
        yield problem("tls", str(error))
    except StartError as error:
        yield problem("assignors", str(error))


def check_broker_ports(settings: Settings, ports: Sequence[tuple[int, int | None]]) -> Iterator[Finding]:
    """The ports that stand for brokers, by broker id."""
    host, listen_port = settings.listen
    taken: dict[int, int] = {}
    for broker_id, port in ports:
        if port is None:
            yield problem("ports", f"there is no port for broker {broker_id}: give it one in gateway.broker.ports")
        elif port == listen_port or port in taken:
            whose = "listen" if port == listen_port else f"broker {taken[port]}"
            yield problem(
                "ports",
                f"broker {broker_id} would have port {port}, which is the port of {whose}: set gateway.broker.ports",
            )
        else:
            taken[port] = broker_id
            yield _check_port("ports", (host, port), "gateway.port.offset", f"for broker {broker_id}")


def _check_port(about: str, address: Address, setting: str, whose: str = "") -> Finding:
    host, port = address
    where = " ".join(filter(None, (f"{host}:{port}", whose)))
    try:
        kind = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except socket.gaierror as error:
        return problem(about, f"{where}: {host} has no address: {error.strerror}")
    with socket.socket(kind[0], kind[1]) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(kind[4])
            listener.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                taken = f"{where} is taken: another program listens there"
                return problem(about, f"{taken}; set {setting}, unless systemd keeps it open for kcoord")
            return problem(about, f"kcoord cannot listen at {where}: {os.strerror(error.errno or 0)}; set {setting}")
    return fine(about, f"{where} is free")


def _check_folder(folder: Path) -> Finding:
    """The directory of the embedded log, or the one in which kcoord would create it."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        return problem(
            "records", f"{there} is not a directory, so kcoord cannot keep its records in {folder}; set data.dir"
        )
    if not os.access(there, os.W_OK | os.X_OK):
        return problem(
            "records", f"kcoord may not write to {there}, so it cannot keep its records in {folder}; set data.dir"
        )
    return fine("records", f"are kept in {folder}" + ("" if folder.exists() else ", which kcoord will create"))
