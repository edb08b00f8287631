"""A process of its own with an open log, for tests that kill it or take its disk away.

child.py write DIRECTORY        append until killed; a line "acked CLIENT N" for each acknowledged batch
child.py steps BOOTSTRAP TOPIC  append steps of some 6 MiB to a topic until killed; a line "acked N" for each
child.py hold DIRECTORY         open the log and keep it; "open" when done
child.py limited DIRECTORY N    append under a file size limit of N bytes until refused, lift the limit, go on
"""

import asyncio
import contextlib
import logging
import resource
import sys
from pathlib import Path

from kcoord.log.embedded import EmbeddedLog
from kcoord.log.interface import AppendFailed
from kcoord.log.kafka.log import KafkaLog
from kcoord.log.kafka.settings import KafkaLogSettings

CLIENTS = 8
RECORDS_A_BATCH = 3
STEP_RECORDS, STEP_VALUE = 3000, bytes(2000)


async def write(log: EmbeddedLog) -> None:
    """Clients append one batch after the other, each to the partition of its number."""

    async def client(number: int) -> None:
        partition = number % log.partitions
        n = sum([1 async for chunk in log.load(partition) for _, key, _ in chunk if key.startswith(b"%d/" % number)])
        n //= RECORDS_A_BATCH
        loads.append(number)
        while len(loads) < CLIENTS:  # a load lets go of what was appended before it: all load first
            await asyncio.sleep(0.001)
        while True:
            batch = [(b"%d/%d/%d" % (number, n, part), b"x" * (50 + n % 4000)) for part in range(RECORDS_A_BATCH)]
            await log.append(partition, batch)
            print("acked", number, n, flush=True)
            n += 1

    loads: list[int] = []
    await asyncio.gather(*map(client, range(CLIENTS)))


async def limited(log: EmbeddedLog, limit: int) -> None:
    """Write into a file size limit, lift it when told, and see that the log comes back by itself."""
    room = asyncio.Event()
    log.on_writable = room.set
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    acked = 0
    try:
        while True:
            await log.append(0, [(b"key-%d" % acked, b"x" * 5000)])
            acked += 1
    except AppendFailed as failed:
        print("refused", acked, "writable" if log.writable else "unwritable", failed, flush=True)
    print("readable", sum([len(chunk) async for chunk in log.load(0)]), flush=True)
    with contextlib.suppress(AppendFailed):
        await log.append(0, [(b"while-full", b"")])
        print("not refused", flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await room.wait()
    records = [key async for chunk in log.load(0) for _, key, _ in chunk]
    await log.append(0, [(b"after", b"")])
    print("resumed", len(records), b"while-full" in records, flush=True)


async def steps(bootstrap: str, topic: str) -> None:
    """Append large steps, each in one transaction of many requests."""
    log = KafkaLog(KafkaLogSettings(bootstrap=bootstrap, topic=topic, partitions=4))
    await log.open()
    n = sum([len(chunk) async for chunk in log.load(0)]) // STEP_RECORDS
    print("loaded", n, flush=True)
    while True:
        await log.append(0, [(b"%d/%d" % (n, record), STEP_VALUE) for record in range(STEP_RECORDS)])
        print("acked", n, flush=True)
        n += 1


async def main(command: str, directory: str, *arguments: str) -> None:
    if command == "steps":
        await steps(directory, *arguments)
    log = EmbeddedLog(Path(directory), partitions=4, check_interval_ms=0, probe_interval=0.05)
    await log.open()
    print("open", flush=True)
    if command == "write":
        await write(log)
    elif command == "limited":
        await limited(log, int(arguments[0]))
    else:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await log.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="log %(levelname)s %(message)s")
    asyncio.run(main(*sys.argv[1:]))
