"""Log lines come out in order, none is lost, and those of one turn of the event loop come out together."""

import asyncio
import base64
import io
import logging
from collections.abc import Callable, Iterator, Sequence

import pytest
from aiokafka.protocol.admin import SaslAuthenticateRequest_v1, SaslAuthenticateResponse_v0

from kcoord.cli.output.log_lines import LineFormatter, Seldom, TurnHandler


class Screen(io.StringIO):
    """Notes each write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return super().write(text)


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.fixture
def log(screen: Screen) -> Iterator[logging.Logger]:
    logger = logging.getLogger("tests.log_lines")
    handler = TurnHandler(screen)
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(logging.INFO)
    yield logger
    logger.removeHandler(handler)


def test_without_an_event_loop_each_line_is_written_at_once(log: logging.Logger, screen: Screen) -> None:
    log.info("one")
    log.info("two")
    assert screen.writes == ["one\n", "two\n"]


async def test_the_lines_of_one_turn_are_written_together_at_its_end(log: logging.Logger, screen: Screen) -> None:
    log.info("one")
    log.info("two")
    assert screen.writes == []
    await asyncio.sleep(0)
    assert screen.writes == ["one\ntwo\n"]
    log.info("three")
    await asyncio.sleep(0)
    assert screen.writes == ["one\ntwo\n", "three\n"]


async def test_a_warning_is_written_at_once_behind_what_came_before_it(log: logging.Logger, screen: Screen) -> None:
    log.info("one")
    log.warning("two")
    assert screen.writes == ["one\ntwo\n"]
    log.info("three")
    await asyncio.sleep(0)
    assert screen.writes == ["one\ntwo\n", "three\n"]


async def test_lines_of_other_threads_are_written_at_once(log: logging.Logger, screen: Screen) -> None:
    log.info("one")
    await asyncio.to_thread(log.info, "two")
    await asyncio.sleep(0)
    assert screen.getvalue() == "one\ntwo\n"


async def test_what_waits_is_written_when_logging_ends(log: logging.Logger, screen: Screen) -> None:
    log.info("one")
    for handler in log.handlers:
        handler.flush()
    assert screen.getvalue() == "one\n"


async def test_a_log_that_nobody_reads_any_more_ends_nothing(log: logging.Logger, screen: Screen) -> None:
    screen.close()
    log.info("one")
    log.warning("two")
    await asyncio.sleep(0)


def test_lines_of_one_kind_come_out_once_in_a_while(log: logging.Logger, screen: Screen) -> None:
    seldom = Seldom(every_s=3600.0)
    log.addFilter(seldom)
    try:
        for number in range(5):
            log.error("broker %d is away", number)
            log.error("something else")
    finally:
        log.removeFilter(seldom)
    assert screen.getvalue() == "broker 0 is away\nsomething else\n"


@pytest.fixture
def formatted(log: logging.Logger, screen: Screen) -> Callable[..., str]:
    """What is written of a line whose formatter knows these secrets."""

    def line(*arguments: object, secrets: Sequence[str] = (), fault: Exception | None = None) -> str:
        log.handlers[0].setFormatter(LineFormatter(secrets))
        log.warning(*arguments, exc_info=fault)
        return screen.getvalue()

    return line


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("two\r\nlines", r"two\r\nlines"),
        ("a\u2028b\u202ec\x85d", r"a\u2028b\u202ec\x85d"),
        ("größe 組 \\n", "größe 組 \\n"),
    ],
)
def test_what_clients_are_called_moves_no_cursor_and_begins_no_line(
    formatted: Callable[..., str], name: str, shown: str
) -> None:
    line = formatted("group %s", name)
    assert line.endswith(f" WARNING tests.log_lines: group {shown}\n")
    assert line.count("\n") == 1


def test_a_traceback_is_indented_so_that_none_of_its_lines_looks_like_another_record(
    formatted: Callable[..., str],
) -> None:
    forged = "2026-01-01 00:00:00,000 INFO kcoord: all is well"
    first, *others = formatted("a fault", fault=ValueError(f"of \x1b\n{forged}")).splitlines()
    assert first.endswith("a fault")
    assert others[-2:] == [r"  ValueError: of \x1b", f"  {forged}"]
    assert all(line.startswith("  ") for line in others)


@pytest.mark.parametrize("secret", ["correct horse", "it's \\ \n ü", "both \" and '"])
def test_no_line_has_a_secret_in_it_however_it_is_written(formatted: Callable[..., str], secret: str) -> None:
    token = f"\0user\0{secret}".encode()
    forms = (secret, repr(secret), repr(token), token, base64.b64encode(secret.encode()).decode())
    line = formatted(" and ".join(["%s"] * len(forms)), *forms, secrets=[secret, "ab"])
    assert line.count("[hidden]") == len(forms)
    for part in ("horse", "ü", "both"):
        assert part not in line


def test_a_message_that_carries_a_token_is_named_and_not_shown(formatted: Callable[..., str]) -> None:
    """aiokafka's own, as it logs them at DEBUG; nobody knows the token before, it comes from a provider."""
    token = SaslAuthenticateRequest_v1(b"eyJhbGciOi")
    answer = SaslAuthenticateResponse_v0(0, None, b"eyJhbGciOi")
    line = formatted("Request to %s:%d %s, %s", "broker", 9092, token, answer)
    assert line.endswith("Request to broker:9092 SaslAuthenticateRequest_v1, SaslAuthenticateResponse_v0\n")
