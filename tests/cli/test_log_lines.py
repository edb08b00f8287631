"""Log lines come out in order, none is lost, and those of one turn of the event loop come out together."""

import asyncio
import io
import logging
from collections.abc import Iterator

import pytest

from kcoord.cli.log_lines import Seldom, TurnHandler


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
