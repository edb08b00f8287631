"""Whole sessions of hostile clients against a kcoord without sockets. ``python -m tests.hostile.session_fuzz --requests
1000000``.

A seed is a session: some hundred requests by several connections, some at an edge, some damaged, connections that
break, times in between, compactions and restarts. After each session `log verify` must find the log sound; what else is
a fault is said in `session_world`. A session that ends in a fault is saved as a list of events and can be replayed with
``--replay``, whatever the drawing of sessions has become since. ``--state`` makes a run resumable: it keeps, for each
commit, how many requests were answered and which seed is next.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import logging
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from kcoord.group.state.connect_settings import ClassicMode, ConnectSettings, MigrationPolicy
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.settings import GroupLimits, GroupSettings
from kcoord.server.server import Limits
from tests.hostile.session_requests import Drawer
from tests.hostile.session_sockets import run_over_sockets
from tests.hostile.session_world import SIZE_BYTES, Clock, ClockedLoop, Fault, World, moved_by_hand
from tests.protocol.fuzz import mutated

EVENTS = 220
CONNECTIONS = 5
DAMAGED = 0.03
"""So many frames are damaged inside, their size still being right."""
CUT = 0.004
"""So many have a wrong size, so that all behind them is something else."""
SHARED_MEMORY = Path("/dev/shm")

Event = tuple[Any, ...]
"""("open", connection), ("data", connection, bytes), ("break", connection), ("pass", ms), ("compact",), ("restart",)"""


@attrs.frozen
class Outcome:
    """What came of one session."""

    seed: int
    requests: int
    fault: str | None = None
    events: list[Event] = attrs.Factory(list)


def settings_of(seed: int) -> tuple[GroupSettings, Limits]:
    """What the session of that seed is run with: mostly small limits, so that all are met."""
    rng = random.Random(f"{seed}/settings")
    small = GroupLimits(300, 4_096, 20_000, 50, 40, 5, 40)
    mode = rng.choice((ClassicMode.BARRIER, ClassicMode.INDIVIDUAL))
    connect = ConnectSettings(
        rebalance_delay_ms=rng.choice((0, 5_000, 60_000)),
        classic_mode=mode,
        migration_policy=rng.choice((MigrationPolicy.BIDIRECTIONAL, *MigrationPolicy)),
        max_size=rng.choice((3, 2**31 - 1, 2**31 - 1)),
    )
    groups = GroupSettings(
        initial_rebalance_delay_ms=rng.choice((0, 3_000)),
        max_size=rng.choice((3, 2**31 - 1, 2**31 - 1)),
        offsets_retention_ms=rng.choice((60_000, 7 * 86_400_000)),
        limits=rng.choice((small, small, GroupLimits())),
        connect=connect,
        consumer=ConsumerSettings(client_assignors=True),
    )
    return groups, Limits(rng.choice((20_000, 100 << 20)), 1 << 20, 1_000, 1_000, 600_000)


async def play(world: World, events: Iterator[Event], done: list[Event]) -> None:
    """Carry out `events`, noting each in `done` before it is."""
    await world.start()
    for event in events:
        done.append(event)
        match event:
            case ("open", number):
                if number not in world.wires:  # the drawer has opened it already
                    world.open(number).is_sound = False
            case ("data", number, data):
                await world.data(number, data)
            case ("break", number):
                await world.break_off(number)
            case ("pass", ms):
                await world.pass_ms(ms)
            case ("compact",):
                await world.compact()
            case ("restart",):
                await world.restart()
    await world.end()


def drawn(world: World, seed: int) -> Iterator[Event]:
    """The events of a session, drawn while it runs: what comes next depends on the answers."""
    rng = random.Random(seed)
    drawer = Drawer(rng)
    world.on_answer = drawer.learn
    for _ in range(EVENTS):
        kind = rng.random()
        if kind < 0.10:
            yield ("pass", rng.choice((1, 500, 500, 3_000, 3_000, 3_000, 9_000, 9_000, 31_000, 61_000)))
        elif kind < 0.13 and world.wires:
            yield ("break", rng.choice(sorted(world.wires)))
        elif kind < 0.134:
            yield ("compact",)
        elif kind < 0.138:
            yield ("restart",)
        else:
            yield from _drawn_data(world, drawer, rng)


def _drawn_data(world: World, drawer: Drawer, rng: random.Random) -> Iterator[Event]:
    number = rng.randrange(CONNECTIONS)
    if number in world.wires and not world.wires[number].is_open:
        yield ("break", number)
    if number not in world.wires:
        world.open(number)
        yield ("open", number)
    wire = world.wires[number]
    data = b""
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3, 8))):
        request, version = drawer.request(number)
        client_id = rng.choice(("fuzz", "fuzz", "", "c" * 5_000))
        frame = wire.frame(request, version, client_id)
        if rng.random() < DAMAGED:
            _, version, correlation_id = wire.unanswered.pop()
            wire.unanswered.append((None, version, correlation_id))
            body = mutated(rng, frame[SIZE_BYTES:])
            frame = len(body).to_bytes(SIZE_BYTES, "big") + body
        elif rng.random() < CUT:
            wire.is_sound = False
            frame = mutated(rng, frame)
        data += frame
    yield ("data", number, data)


def run_session(seed: int, events: list[Event] | None = None) -> Outcome:
    """One session: that of `seed`, or these events with the settings of `seed`."""
    clock = Clock()
    loop = ClockedLoop(clock)
    done: list[Event] = []
    groups, limits = settings_of(seed)
    where = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    logger = logging.getLogger("kcoord")
    level, propagates = logger.level, logger.propagate
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    answered = 0

    async def session(directory: str) -> None:
        nonlocal answered
        world = World(Path(directory), groups, limits, clock)
        try:
            await play(world, drawn(world, seed) if events is None else iter(events), done)
        finally:
            answered = world.requests

    try:
        with tempfile.TemporaryDirectory(dir=where, prefix="sessions-") as directory, moved_by_hand(clock):
            loop.run_until_complete(session(directory))
        return Outcome(seed, answered)
    except Exception as fault:
        text = str(fault) if isinstance(fault, Fault) else f"{type(fault).__name__}: {fault}"
        return Outcome(seed, answered, text or repr(fault), done)
    finally:
        logger.setLevel(level)
        logger.propagate = propagates
        loop.close()
        gc.unfreeze()  # a load has frozen what there was, of earlier sessions too


# -- sessions on disk --------------------------------------------------------------------------------------------------


def save(outcome: Outcome, directory: Path) -> Path:
    """Keep a session that ended in a fault."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"session-{outcome.seed}.json"
    events = [[each.hex() if isinstance(each, bytes) else each for each in event] for event in outcome.events]
    path.write_text(json.dumps({"seed": outcome.seed, "fault": outcome.fault, "events": events}))
    return path


def replay(path: Path) -> Outcome:
    """Carry out a saved session, which may be packed by gzip."""
    saved = json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_text())
    events = [
        ("data", event[1], bytes.fromhex(event[2])) if event[0] == "data" else tuple(event) for event in saved["events"]
    ]
    return run_session(saved["seed"], events)


# -- command line ------------------------------------------------------------------------------------------------------


def _commit() -> str:
    said = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def _tell(outcome: Outcome, directory: Path) -> None:
    path = save(outcome, directory)
    print(
        f"seed {outcome.seed}: {outcome.fault}\npython -m tests.hostile.session_fuzz --replay {path}", file=sys.stderr
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.session_fuzz", description="Hostile sessions.")
    parser.add_argument("--requests", type=int, default=100_000, help="answered requests to reach")
    parser.add_argument("--seed", type=int, default=1, help="the first session")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--state", type=Path, help="goes on from this file, for the commit that is checked out")
    parser.add_argument("--save", type=Path, default=Path("build/sessions"), help="where faulty sessions are kept")
    parser.add_argument("--most-faults", type=int, default=1, help="stops after so many")
    parser.add_argument("--sockets", type=int, default=0, help="so many sessions over real sockets as well")
    parser.add_argument("--replay", type=Path, help="a saved session, and nothing else")
    options = parser.parse_args()
    if options.replay is not None:
        outcome = replay(options.replay)
        print(outcome.fault or "no fault", file=sys.stderr)
        return int(outcome.fault is not None)
    return _fuzz(options) or _fuzz_over_sockets(options)


def _fuzz_over_sockets(options: argparse.Namespace) -> int:
    answered = 0
    for seed in range(options.seed, options.seed + options.sockets):
        try:
            answered += run_over_sockets(seed)
        except Exception as fault:
            print(f"seed {seed} over sockets: {fault!r}", file=sys.stderr)
            return 1
    if options.sockets:
        print(f"{answered:,} requests answered over sockets in {options.sockets} sessions, 0 faults")
    return 0


def _fuzz(options: argparse.Namespace) -> int:
    commit, began = _commit(), time.perf_counter()
    states = json.loads(options.state.read_text()) if options.state and options.state.exists() else {}
    state = states.setdefault(commit, {"seed": options.seed, "requests": 0, "faults": 0})
    before = state["requests"]
    with ProcessPoolExecutor(options.jobs) as pool:
        while state["requests"] < options.requests and state["faults"] < options.most_faults:
            seeds = range(state["seed"], state["seed"] + 8 * options.jobs)
            for outcome in pool.map(partial(run_session), seeds):
                state["requests"] += outcome.requests
                if outcome.fault is not None:
                    state["faults"] += 1
                    _tell(outcome, options.save)
            state["seed"] = seeds.stop
            if options.state:
                options.state.write_text(json.dumps(states, indent=1))
    took = time.perf_counter() - began
    print(
        f"commit {commit[:10]}: {state['requests']:,} requests answered in sessions {options.seed} to "
        f"{state['seed'] - 1}, {state['faults']} faults ({state['requests'] - before:,} in {took:.0f} s now)"
    )
    return int(state["faults"] > 0)


if __name__ == "__main__":
    sys.exit(main())
