"""The look at the cluster when kcoord starts: is it there, and is it what the settings say?

kcoord starts in any case and goes on trying: a cluster that is not there may come, and a wrong listener may be put
right at the other side. The log says in one line what is wrong, again when something else is, and when the cluster
answers. Only what can never work ends the start: an upstream that is kcoord itself.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Iterator

from kcoord.address import Address
from kcoord.client.broker_probe import Expectation, Probed, probe
from kcoord.settings import WILDCARD_HOSTS, Settings

log = logging.getLogger("kcoord.gateway")

PROTOCOL = "upstream.security.protocol"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
AGAIN_S = (1.0, 2.0, 5.0)
"""Pauses between attempts; the last one goes on."""
GOES_ON = ". No client is served meanwhile; kcoord goes on trying"


def expectation(settings: Settings) -> Expectation:
    """What the settings say of the cluster's listener."""
    return Expectation(PROTOCOL, settings.upstream_security_protocol)


def own_addresses(settings: Settings) -> list[Address]:
    """Those of `upstream` at which kcoord itself would listen; names that do not resolve are none of them."""
    return [address for address in settings.upstream if is_own_address(settings, address)]


def is_own_address(settings: Settings, address: Address) -> bool:
    """Whether kcoord itself would listen there, or says that it does."""
    host, port = address
    if address in (settings.listen, settings.advertise):
        return True
    listens_at = settings.listen[0]
    if port != settings.listen[1]:
        return False
    if host in LOOPBACK and listens_at in (*LOOPBACK, *WILDCARD_HOSTS):
        return True
    theirs = set(_resolved(host))
    if listens_at in WILDCARD_HOSTS:
        return any(is_of_this_machine(each) for each in theirs)
    return not theirs.isdisjoint(_resolved(listens_at))


def is_of_this_machine(ip: str) -> bool:
    """Whether that is an address of this machine: whether one can listen there."""
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as tried:
            tried.bind((ip, 0))
    except OSError:
        return False
    return True


def _resolved(host: str) -> Iterator[str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return
    yield from (str(each[4][0]) for each in found)


async def watch_upstream(settings: Settings, tls: ssl.SSLContext | None) -> None:
    """Say what is wrong with the cluster, until one of its addresses is well."""
    expected = expectation(settings)
    said: list[str] = []
    tried = 0
    while True:
        found = await asyncio.gather(*(probe(address, tls, expected) for address in settings.upstream))
        problems = [each.problem for each in found if each.problem]
        if problems != said:
            _say(found, problems)
            said = problems
        release = next((each.release for each in found if not each.problem), None)
        if release is not None:
            log.info("upstream answers, and speaks as Apache Kafka %s does", release)
            return
        await asyncio.sleep(AGAIN_S[min(tried, len(AGAIN_S) - 1)])
        tried += 1


def _say(found: list[Probed], problems: list[str]) -> None:
    for each in found:
        if each.problem:
            level = logging.ERROR if each.is_reached else logging.WARNING
            log.log(level, "upstream %s%s", each.problem, GOES_ON if len(problems) == len(found) else "")
