"""What do 9,000 members on 9,000 connections cost, each with a heartbeat every three seconds?

CPU over a stretch of time, and memory: what the process holds with them, less what it held with a few, divided by
their number. Beside it a bare uvloop connection with its protocol object in the echo server, and Kafka's CPU for the
same.
"""

from __future__ import annotations

import time
from pathlib import Path

from bench.loader import Loader
from bench.probe import KIB
from bench.results import Claim, Outcome, Table
from bench.rounds import Round, measure
from bench.sides import Side, echo, kafka, kcoord

GROUPS, SIZE = 90, 100
MEMBERS = GROUPS * SIZE
EVERY_S = 3.0
RAMP_S = 6.0
MEASURED_S = 15.0
RING = 2
MOST_CORES, MOST_KIB = 0.10, 6.0
DELAY_MS = 3000


def run(folder: Path) -> Outcome:
    """Measure kcoord, the echo server and Kafka, one after the other."""
    with Loader() as loader, kcoord(folder, group_initial_rebalance_delay_ms=DELAY_MS) as own:
        loader.members("few", own.address, 1, 10, RING)
        before = own.process.resident_bytes()
        began = time.monotonic()
        loader.members("many", own.address, GROUPS, SIZE, RING)
        settled_s = time.monotonic() - began
        beats = paced(loader, own)
        member_kib = (own.process.resident_bytes() - before) / MEMBERS / KIB
    with Loader() as loader, echo(folder) as bare:
        before = bare.process.resident_bytes()
        loader.echoes("many", bare.address, MEMBERS, 87, RING)
        echoes = paced(loader, bare)
        bare_kib = (bare.process.resident_bytes() - before) / MEMBERS / KIB
    with Loader() as loader, kafka(folder) as broker:
        loader.members("many", broker.side.address, GROUPS, SIZE, RING)
        theirs = paced(loader, broker.side)
    figures = Table(
        ["server", "heartbeats a second", "CPU, cores", "memory a member"],
        [
            ["kcoord", f"{beats.a_second:,.0f}", f"{beats.cores:.3f}", f"{member_kib:.2f} KiB"],
            [
                "echo",
                f"{echoes.a_second:,.0f}",
                f"{echoes.cores:.3f}",
                f"{bare_kib:.2f} KiB (connection and protocol object)",
            ],
            ["Kafka", f"{theirs.a_second:,.0f}", f"{theirs.cores:.3f}", "its heap is set, not grown"],
        ],
    )
    what = f"{MEMBERS:,} members on as many connections, a heartbeat every {EVERY_S:.0f} s"
    claims = [
        Claim(what, f"< {MOST_CORES:.2f} CPU", f"{beats.cores:.3f}", beats.cores < MOST_CORES),
        Claim(what, f"< {MOST_KIB:.0f} KiB a member", f"{member_kib:.2f} KiB", member_kib < MOST_KIB),
    ]
    how = (
        f"{GROUPS} groups of {SIZE} members; CPU over {MEASURED_S:.0f} s after {RAMP_S:.0f} s of the same load; "
        "memory is resident memory with all "
        f"members less that with 10, divided by {MEMBERS:,}. All were joined, synced and stable after {settled_s:.1f} "
        "s "
        f"(of which {DELAY_MS / 1000:.0f} s initial rebalance delay)."
    )
    return Outcome("Many members", how, claims, [figures])


def paced(loader: Loader, side: Side) -> Round:
    """The fleet "many" at its pace, after a ramp."""
    loader.pace("many", EVERY_S)
    time.sleep(RAMP_S)
    done = measure(loader, side, "many", MEASURED_S)
    loader.rest("many")
    return done
