"""How many heartbeats does a CPU second answer: Kafka's broker, kcoord, and a server that only echoes?

100 members in 10 stable groups, each on a connection of its own. A member with 1 in flight sends its next heartbeat
when the last one is answered; with 8 there are always 8 on their way.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.loader import Loader
from bench.results import Claim, Outcome
from bench.rounds import Round, figures_of, in_turn
from bench.sides import echo, kafka, kcoord

GROUPS, SIZE = 10, 10
DEPTHS = (1, 8)
ROUNDS = 5
ROUND_S = 3.0
WARM_UP_S = {"Kafka": 15.0, "kcoord": 1.0, "echo": 1.0}
TIMES_KAFKA = {1: 2.0, 8: 6.0}
OF_ECHO = 0.7


def run(folder: Path) -> Outcome:
    """Measure all sides in turn."""
    with Loader() as loader, kafka(folder) as broker, kcoord(folder) as own, echo(folder) as bare:
        sides = (broker.side, own, bare)
        frame_bytes = [loader.members(side.name, side.address, GROUPS, SIZE) for side in sides[:2]]
        loader.echoes(bare.name, bare.address, GROUPS * SIZE, frame_bytes[1])
        measured = in_turn(loader, sides, DEPTHS, WARM_UP_S, ROUNDS, ROUND_S)
    return outcome(measured, frame_bytes[1])


def outcome(typical_of: Mapping[tuple[str, int], Round], frame_bytes: int) -> Outcome:
    """The medians beside each other."""
    figures = figures_of(typical_of)
    claims = []
    for depth in DEPTHS:
        own, broker, bare = (typical_of[name, depth].a_cpu_second for name in ("kcoord", "Kafka", "echo"))
        times, share = own / broker, own / bare
        what = f"heartbeats a CPU second, 100 members, {depth} in flight"
        claims += [
            Claim(
                what,
                f"≥ {TIMES_KAFKA[depth]:.0f} times Kafka",
                f"{own:,.0f}: {times:.1f} times",
                times >= TIMES_KAFKA[depth],
            ),
            Claim(what, f"≥ {OF_ECHO} of an echo", f"{share:.2f}", share >= OF_ECHO),
        ]
    how = (
        f"{GROUPS} stable groups of {SIZE} members, a connection each, heartbeats of {frame_bytes} bytes; medians of "
        f"{ROUNDS} rounds "
        f"of {ROUND_S:.0f} s, sides in turn. The echo server (uvloop, Python) sends all that one read brought back in "
        "one "
        "write and looks at nothing."
    )
    return Outcome("Heartbeats", how, claims, [figures])
