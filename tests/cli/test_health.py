"""Does `kcoord health` tell a kcoord that answers from one that does not?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.run_cli import kcoord
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port
from tests.kafka.security import Certificates
from tests.kafka.wait import eventually


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Kcoord]:
    process = Kcoord(tmp_path).start()
    yield process
    process.process.thaw()
    process.remove()


def test_one_that_answers(alone: Kcoord) -> None:
    outcome = kcoord("health", "--bootstrap-server", alone.bootstrap)
    assert (outcome.code, outcome.out, outcome.err) == (0, f"{alone.bootstrap} answers\n", "")


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_its_own_settings_say_where_it_is(alone: Kcoord, host: str, tmp_path: Path) -> None:
    """In a container they are the environment's, or a file's, and kcoord listens on all addresses."""
    by_environment = kcoord("health", env={"KCOORD_LISTEN": f"{host}:{alone.port}"})
    assert (by_environment.code, by_environment.out) == (0, f"127.0.0.1:{alone.port} answers\n")
    file = tmp_path / "kcoord.toml"
    file.write_text(f'listen = "{host}:{alone.port}"\n')
    assert kcoord("health", env={"KCOORD_CONFIG": str(file)}).code == 0


def test_over_tls_it_needs_no_certificate(tmp_path: Path) -> None:
    certificates = Certificates.make(tmp_path / "certificates")
    settings = {"ssl.certificate.location": str(certificates.server)}
    process = Kcoord(tmp_path / "kcoord", settings=settings).start()
    try:
        environment = {"KCOORD_LISTEN": process.bootstrap, "KCOORD_SSL_CERTIFICATE_LOCATION": str(certificates.server)}
        assert kcoord("health", env=environment).code == 0
    finally:
        process.remove()


def test_nobody_there() -> None:
    port = free_port()
    outcome = kcoord("health", env={"KCOORD_LISTEN": f"127.0.0.1:{port}"})
    assert outcome.code == 1
    assert outcome.err == f"kcoord: 127.0.0.1:{port} cannot be reached: Connection refused\n"


def test_one_that_is_frozen(alone: Kcoord) -> None:
    """Its port takes connections all the same: the system does that."""
    alone.process.freeze()
    outcome = kcoord("health", "--bootstrap-server", alone.bootstrap)
    assert outcome.code == 1
    assert outcome.err == f"kcoord: {alone.bootstrap}: no answer to ApiVersions within 5 s\n"


def test_a_cluster_behind_it_that_is_away(tmp_path: Path) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    process = Kcoord(tmp_path, nobody, [".*"]).start(wait=False)
    try:
        eventually(lambda: "listening" in process.log.read_text(), "kcoord listens")
        outcome = kcoord("health", "--bootstrap-server", process.bootstrap)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.startswith(f"kcoord: {process.bootstrap}: ")
    finally:
        process.remove()


def test_a_setting_that_does_not_exist() -> None:
    outcome = kcoord("health", env={"KCOORD_LISEN": "127.0.0.1:1"})
    assert (outcome.code, outcome.out) == (2, "")
    assert "the nearest is KCOORD_LISTEN" in outcome.err
