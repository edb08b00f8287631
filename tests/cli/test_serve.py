"""What does `kcoord serve` say when it starts, and when it cannot?"""

import re
import shlex
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcoord import __version__
from tests.cli.run_cli import kcoord
from tests.kafka.kcoord_process import Kcoord
from tests.repository import ROOT


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Kcoord]:
    process = Kcoord(tmp_path).start()
    yield process
    process.remove()


def test_the_screen_says_what_it_is_and_what_to_try(alone: Kcoord) -> None:
    """Its first command, pasted into a shell, works."""
    shown = alone.log.read_text()
    assert f"kcoord {__version__}: coordinating groups, alone" in shown
    assert f"listening  {alone.bootstrap}\n" in shown
    assert f"records    {alone.data}\n" in shown
    [command] = re.findall(r"^    (.*groups list .*)$", shown, re.M)
    done = subprocess.run(shlex.split(command), cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "There are no such groups.\n")


def test_it_stops_in_order_and_starts_again_on_its_data(alone: Kcoord) -> None:
    assert alone.stop() == 0
    alone.start()
    assert alone.stop() == 0
    assert "Traceback" not in alone.log.read_text()


def test_a_second_one_on_the_same_data_is_refused_in_a_line(alone: Kcoord) -> None:
    outcome = kcoord("serve", "--listen", "127.0.0.1:0", "--data-dir", alone.data)
    assert outcome.code == 1
    pid = (alone.data / "kcoord.pid").read_text().strip()
    assert outcome.err.splitlines()[-1].startswith(
        f"kcoord: the data directory {alone.data} is in use by process {pid}; stop that kcoord first"
    )
    assert "Traceback" not in outcome.err


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        outcome = kcoord("serve", "--listen", address, "--data-dir", tmp_path)
    assert outcome.code == 1
    assert f"kcoord: cannot listen on {address}" in outcome.err
    assert "Traceback" not in outcome.err


def test_a_damaged_log_is_reported_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "kcoord.db").write_bytes(b"something else entirely" * 100)
    outcome = kcoord("serve", "--listen", "127.0.0.1:0", "--data-dir", tmp_path)
    assert outcome.code == 1
    assert f"kcoord: the log {tmp_path}/kcoord.db is damaged: " in outcome.err
    assert "from a backup" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["serve", "-o", "group.max.siz=3"], "the nearest is group.max.size"),
        (["serve", "--upstream", "kafka:9092"], "--upstream needs --groups"),
        (["serve", "--groups", "x"], "--groups: --groups needs --upstream"),
        (["serve", "--upstream", "kafka:9092", "--groups", ""], "--groups: groups does not fit: an empty expression"),
        (
            ["check", "--upstream", "kafka:9092", "--groups", "x", "--groups", " "],
            "an empty expression matches no group",
        ),
        (["serve", "--listen", "nowhere"], "--listen: listen does not fit: 'nowhere' is no HOST:PORT"),
        (["serve", "--config", "none.toml"], "--config none.toml: cannot be read: No such file or directory"),
        (["serve", "--lisen", "x:1"], "--listen"),
        (["serv"], "'serve'"),
        (["groups", "describe"], "GROUP..."),
    ],
)
def test_a_mistake_of_usage_ends_with_2_and_without_a_traceback(arguments: list[str], says: str) -> None:
    outcome = kcoord(*arguments)
    assert outcome.code == 2
    assert says in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["upstream.ssl.ca.location={}"], "upstream's authorities in {} cannot be read: "),
        (
            ["upstream.ssl.certificate.location={}", "upstream.ssl.all.clients.are.kcoord=true"],
            "the certificate for upstream in {} cannot be used: ",
        ),
    ],
    ids=["authorities", "certificate"],
)
@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_file_for_tls_with_upstream_that_does_not_fit_is_named(
    tmp_path: Path, settings: list[str], says: str, content: str | None
) -> None:
    file = tmp_path / "some.pem"
    if content is not None:
        file.write_text(content)
    options = [word for each in settings for word in ("-o", each.format(file))]
    where = ["--listen", "127.0.0.1:0", "--data-dir", tmp_path, "--upstream", "127.0.0.1:1", "--groups", "x"]
    outcome = kcoord("serve", *where, "-o", "upstream.security.protocol=SSL", *options)
    assert outcome.code == 1
    assert outcome.err.startswith(f"kcoord: {says.format(file)}")
    assert "Traceback" not in outcome.err


def test_settings_come_from_the_environment_too() -> None:
    outcome = kcoord("serve", env={"KCOORD_GROUP_MAX_SIZE": "0"})
    assert outcome.code == 2
    assert "the environment's KCOORD_GROUP_MAX_SIZE: group.max.size does not fit" in outcome.err


def test_version() -> None:
    assert kcoord("--version").out == f"kcoord {__version__}\n"
