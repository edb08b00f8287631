"""Does an acknowledged change survive kill -9, at whatever moment it comes?"""

from pathlib import Path

from kcoord.log.embedded import EmbeddedLog
from tests.log.child import CLIENTS, RECORDS_A_BATCH
from tests.log.conftest import Child, loaded, opened

ROUNDS = 5


async def test_acknowledged_changes_survive_kill_9(tmp_path: Path, start_child: object) -> None:
    """The same log is killed five times, each time after some hundred acknowledgements, amid others on their way."""
    acked = dict.fromkeys(range(CLIENTS), -1)
    for number in range(ROUNDS):
        child: Child = await start_child("write", tmp_path)  # type: ignore[operator]
        assert child.stdout is not None
        for _ in range(150 + 37 * number):
            _note(await child.stdout.readline(), acked)
        child.kill()
        for line in (await child.stdout.read()).splitlines(keepends=True):  # acknowledged before the kill came
            _note(line, acked)
        await child.wait()
        async with opened(tmp_path) as log:
            await _check(log, acked)
    assert all(n > 0 for n in acked.values())


def _note(line: bytes, acked: dict[int, int]) -> None:
    match line.split():
        case [b"acked", client, n] if line.endswith(b"\n"):
            acked[int(client)] = int(n)


async def _check(log: EmbeddedLog, acked: dict[int, int]) -> None:
    found: dict[int, list[tuple[int, int]]] = {client: [] for client in acked}
    for partition in range(log.partitions):
        for key, value in await loaded(log, partition):
            client, n, part = map(int, key.split(b"/"))
            assert value == b"x" * (50 + n % 4000)
            found[client].append((n, part))
    for client, last in acked.items():
        batches = len(found[client]) // RECORDS_A_BATCH
        # Whole batches in order without a hole, all that were acknowledged, and at most the one on its way besides.
        assert found[client] == [(n, part) for n in range(batches) for part in range(RECORDS_A_BATCH)]
        assert last + 1 <= batches <= last + 2
