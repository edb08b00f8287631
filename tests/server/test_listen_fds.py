"""Which handed-down sockets does kcoord take, and what does it say of those that do not fit?"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kcoord.server.startup import listen_fds
from kcoord.server.startup.listen_fds import CLIENTS, INTERNAL, HandedDown, HandedDownError, broker


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


def listening(stack: ExitStack, host: str = "127.0.0.1") -> tuple[socket.socket, int]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = stack.enter_context(socket.socket(family))
    made.bind((host, 0))
    made.listen()
    return made, int(made.getsockname()[1])


def test_a_socket_is_its_listeners_by_port_and_address(stack: ExitStack) -> None:
    clients, port = listening(stack)
    internal, internal_port = listening(stack, "0.0.0.0")
    handed_down = HandedDown([(clients, "kcoord.socket"), (internal, "kcoord.socket")])
    assert handed_down
    assert handed_down.of(CLIENTS, "localhost", port) == [clients]
    assert handed_down.of(broker(1), "localhost", port + 1) == [], "this listener opens its own"
    with pytest.raises(HandedDownError, match=rf"nothing listens .* 0\.0\.0\.0:{internal_port}: kcoord listens on X"):
        handed_down.check_all_taken("X")
    assert handed_down.of(INTERNAL, "10.0.0.1", internal_port) == [internal], "all addresses of the host"
    handed_down.check_all_taken("X")


def test_several_sockets_of_one_listener(stack: ExitStack) -> None:
    first, port = listening(stack)
    second = stack.enter_context(socket.socket(socket.AF_INET6))
    second.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    try:
        second.bind(("::", port))
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    second.listen()
    assert HandedDown([(first, ""), (second, "")]).of(CLIENTS, "127.0.0.1", port) == [first, second]


@pytest.mark.parametrize("name", ["", "clients"], ids=["without a name", "by its name"])
def test_a_narrower_address_does_not_fit(stack: ExitStack, name: str) -> None:
    clients, port = listening(stack)
    with pytest.raises(HandedDownError, match=rf"127\.0\.0\.1:{port}.* does not fit 0\.0\.0\.0:{port}.*ListenStream="):
        HandedDown([(clients, name)]).of(CLIENTS, "0.0.0.0", port)


def test_a_name_of_kcoords_own_says_which_listener_it_is_for(stack: ExitStack) -> None:
    clients, port = listening(stack)
    handed_down = HandedDown([(clients, "internal")])
    assert handed_down.of(CLIENTS, "127.0.0.1", port) == []
    with pytest.raises(HandedDownError, match=r"\(internal\) does not fit"):
        handed_down.of(INTERNAL, "127.0.0.1", port + 1)
    assert handed_down.of(INTERNAL, "127.0.0.1", port) == [clients]


def test_what_cannot_be_a_listener(stack: ExitStack) -> None:
    datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    with pytest.raises(HandedDownError, match="no TCP socket: use ListenStream="):
        HandedDown([(datagrams, "")])
    connected = stack.enter_context(socket.socket())
    with pytest.raises(HandedDownError, match="does not listen: set Accept=no"):
        HandedDown([(connected, "clients")])


def test_sockets_for_another_process_are_not_taken() -> None:
    environment = {"LISTEN_PID": str(os.getpid() + 1), "LISTEN_FDS": "1"}
    assert not HandedDown.take(environment)
    assert not HandedDown.take({})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"LISTEN_FDS": "many"}, "LISTEN_FDS=many is no number"),
        ({"LISTEN_FDS": "2", "LISTEN_FDNAMES": "clients"}, "names 1 sockets, and LISTEN_FDS=2"),
        ({"LISTEN_FDS": "1"}, "is no socket"),
    ],
    ids=["no number", "too few names", "no socket"],
)
def test_what_the_environment_says_must_be_so(
    said: dict[str, str], why: str, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    stack.callback(os.close, writing)
    stack.callback(os.close, reading)
    monkeypatch.setattr(listen_fds, "FIRST_FD", reading)
    with pytest.raises(HandedDownError, match=why):
        HandedDown.take({"LISTEN_PID": str(os.getpid()), **said})


def test_the_environment_is_left_without_them(stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    clients, port = listening(stack)
    monkeypatch.setattr(listen_fds, "FIRST_FD", os.dup(clients.fileno()))
    environment = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1", "LISTEN_FDNAMES": "clients", "OTHER": "1"}
    taken = HandedDown.take(environment)
    assert environment == {"OTHER": "1"}
    [mine] = taken.of(CLIENTS, "127.0.0.1", port)
    stack.enter_context(mine)
    assert not mine.get_inheritable()
