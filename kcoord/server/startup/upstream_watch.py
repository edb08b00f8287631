"""The check of the upstream cluster at the start: is it reachable, and is it what the settings say?

kcoord starts in any case and keeps trying: a missing cluster may come up, and a wrong listener may be corrected on the
cluster's side. The log has one line for what is wrong, a new one when that changes, and one when the cluster answers.
Only what can never work ends the start: an upstream that is kcoord itself.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Iterator

from kcoord.address import Address
from kcoord.client.broker_probe import Expectation, Probed, probe
from kcoord.server.startup.served_groups import COULD_SERVE_CONSUMERS, could_serve_consumers
from kcoord.settings import WILDCARD_HOSTS, Settings

log = logging.getLogger("kcoord.gateway")

PROTOCOL = "upstream.security.protocol"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
AGAIN_S = (1.0, 2.0, 5.0)
"""Pauses between attempts; the last one repeats."""
GOES_ON = ". No client is served meanwhile; kcoord goes on trying"


def expectation(settings: Settings) -> Expectation:
    """What the settings say about the cluster's listener."""
    return Expectation(PROTOCOL, settings.upstream_security_protocol)


def own_addresses(settings: Settings) -> list[Address]:
    """The addresses in `upstream` at which kcoord itself would listen. Names that do not resolve do not count."""
    return [address for address in settings.upstream if is_own_address(settings, address)]


def is_own_address(settings: Settings, address: Address) -> bool:
    """Whether kcoord itself would listen at `address` or advertises it."""
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
    """Whether `ip` is an address of this machine, that is, whether a socket can be bound to it."""
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
    """Log what is wrong with the cluster, until one of its addresses answers as it should."""
    expected = expectation(settings)
    said: list[str] = []
    tried = 0
    while True:
        found = await asyncio.gather(*(probe(address, tls, expected) for address in settings.upstream))
        problems = [each.problem for each in found if each.problem]
        if problems != said:
            _say(found, problems)
            said = problems
        answers = next((each for each in found if not each.problem), None)
        if answers is not None:
            log.info("upstream answers, and speaks as Apache Kafka %s does", answers.release)
            if could_serve_consumers(settings, has_consumer_groups=answers.has_consumer_groups):
                log.info(COULD_SERVE_CONSUMERS)
            return
        await asyncio.sleep(AGAIN_S[min(tried, len(AGAIN_S) - 1)])
        tried += 1


def _say(found: list[Probed], problems: list[str]) -> None:
    for each in found:
        if each.problem:
            level = logging.ERROR if each.is_reached else logging.WARNING
            log.log(level, "upstream %s%s", each.problem, GOES_ON if len(problems) == len(found) else "")
