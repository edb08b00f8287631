"""May anybody but its own user read what kcoord keeps?"""

import stat
from pathlib import Path

from tests.kafka.kcoord_process import Kcoord


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_data_directory_is_for_its_user_alone(tmp_path: Path) -> None:
    process = Kcoord(tmp_path).start()
    try:
        assert rights(process.data) == 0o700
        files = {path.name: rights(path) for path in process.data.iterdir()}
        assert files.keys() >= {"kcoord.db", "kcoord.db-wal", "kcoord.lock", "kcoord.pid", "cluster.id"}
        assert set(files.values()) == {0o600}
        process.stop()
        assert "other users" not in process.log.read_text()
    finally:
        process.remove()


def test_an_existing_one_is_left_as_it_is_with_a_warning(tmp_path: Path) -> None:
    """As release 0.1.0 made it."""
    process = Kcoord(tmp_path).start()
    try:
        process.stop()
        process.data.chmod(0o755)
        (process.data / "kcoord.db").chmod(0o644)
        process.start()
        process.stop()
        assert rights(process.data) == 0o755
        assert f"can read kcoord.db in the data directory {process.data}" in process.log.read_text()
    finally:
        process.remove()
