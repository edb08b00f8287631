"""Does `kcoord check` see where clients would be sent, as they would?"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcoord.cli.checks.client_addresses import check_addresses
from kcoord.server.startup.upstream_watch import is_of_this_machine, is_own_address
from kcoord.settings import Settings
from tests.cli.run_cli import kcoord
from tests.cli.test_check import problems
from tests.kafka.ports import free_port


def told(*arguments: object) -> list[tuple[str, str]]:
    """How bad it is where clients are sent to, and the text."""
    found = kcoord("check", "--log", "kafka", "--log-bootstrap", "127.0.0.1:1", *arguments, "--json")
    findings = json.loads(found.out)["findings"]
    return [(each["level"], each["text"]) for each in findings if each["about"] == "advertise"]


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def other() -> Iterator[int]:
    """Somebody else listens there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_an_address_that_leads_here(port: int) -> None:
    assert told("--listen", f"127.0.0.1:{port}") == [
        ("note", "only clients on this machine reach 127.0.0.1; set listen and advertise for others"),
        ("ok", f"clients are sent to 127.0.0.1:{port}, which leads here"),
    ]


def test_loopback_while_it_listens_for_others(port: int) -> None:
    [(level, text), way] = told("--listen", f"0.0.0.0:{port}", "--advertise", f"localhost:{port}")
    assert level == "note"
    assert text.startswith(
        "clients are sent to localhost, which only clients on this machine can reach, but kcoord listens at"
    )
    assert way == ("ok", f"clients are sent to localhost:{port}, which leads here")


def test_nobody_listens_where_clients_are_sent_to(port: int) -> None:
    """This machine by another address than the one that kcoord listens at."""
    assert told("--listen", f"127.0.0.1:{port}", "--advertise", f"127.0.0.2:{port}")[-1] == (
        "problem",
        f"clients are sent to 127.0.0.2:{port}, which does not lead here (Connection refused): kcoord listens at "
        f"127.0.0.1:{port}; set listen or advertise",
    )


def test_somebody_else_is_where_clients_are_sent_to(port: int, other: int) -> None:
    [_, (level, text)] = told("--listen", f"127.0.0.1:{port}", "--advertise", f"127.0.0.1:{other}")
    assert level == "problem"
    assert text.startswith(
        f"clients are sent to 127.0.0.1:{other}, which does not lead here (another server responds there)"
    )


def test_another_machine_that_does_not_answer(port: int) -> None:
    """A load balancer, say, which cannot be looked behind: to be seen to, and no reason to fail."""
    [(level, text)] = told("--listen", f"127.0.0.1:{port}", "--advertise", "192.0.2.1:9092")  # nobody's (RFC 5737)
    assert level == "note"
    assert text.startswith("clients are sent to 192.0.2.1:9092, which does not lead here (")
    assert text.endswith(f"as seen from this machine: make sure that it leads clients to port {port} of this machine")


def test_a_port_that_is_taken_is_said_once(other: int) -> None:
    assert [level for level, _ in told("--listen", f"127.0.0.1:{other}")] == ["note"]


def test_the_port_for_other_instances(port: int, other: int) -> None:
    secret = ("-o", "internal.secret=sixteen characters", "-o", f"internal.listen=127.0.0.1:{other}")
    found = kcoord("check", "--log", "kafka", "--log-bootstrap", "127.0.0.1:1", "--listen", f"127.0.0.1:{port}",
                   *secret, "--json")  # fmt: skip
    assert ("internal", f"127.0.0.1:{other} for other instances is taken: another program listens there; set "
                        "internal.listen, unless systemd keeps it open for kcoord") in problems(found)  # fmt: skip


# -- is it kcoord itself? ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listen", "advertise", "upstream", "is_own"),
    [
        ("127.0.0.1:9092", None, "127.0.0.1:9092", True),
        ("127.0.0.1:9092", None, "localhost:9092", True),
        ("0.0.0.0:9092", "kcoord.example:9092", "localhost:9092", True),
        ("0.0.0.0:9092", "kcoord.example:9092", "127.0.0.2:9092", True),
        ("0.0.0.0:9092", "kcoord.example:9092", "kcoord.example:9092", True),
        ("127.0.0.1:9192", None, "127.0.0.1:9092", False),
        ("127.0.0.1:9092", None, "127.0.0.2:9092", False),
        ("0.0.0.0:9092", "kcoord.example:9092", "192.0.2.1:9092", False),
        ("0.0.0.0:9092", "kcoord.example:9092", "nowhere.invalid:9092", False),
    ],
)
def test_itself(listen: str, advertise: str | None, upstream: str, is_own: bool) -> None:
    settings = Settings(listen=listen, advertise=advertise, upstream=upstream)  # type: ignore[arg-type]
    assert is_own_address(settings, settings.upstream[0]) is is_own


def test_addresses_of_this_machine() -> None:
    assert is_of_this_machine("127.0.0.1")
    assert not is_of_this_machine("192.0.2.1")


@pytest.mark.parametrize(
    ("listen", "options", "says"),
    [
        ("0.0.0.0", {}, "clients are sent to the IP address of this machine at which their connection arrives"),
        ("localhost", {"ssl_certificate_location": Path("server.pem")}, "set advertise to a name that the certificate"),
    ],
    ids=["all addresses", "TLS without a name"],
)
async def test_without_a_name_clients_are_sent_to_an_ip_address(
    port: int, listen: str, options: dict[str, Any], says: str
) -> None:
    """A kcoord that is alone names the address at which the client's connection arrived."""
    settings = Settings(listen=(listen, port), **options)
    first = await anext(check_addresses(settings, []))
    assert says in first.text
