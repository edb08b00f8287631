"""How many heartbeats of workers does a CPU second answer, beside a server that only echoes?

100 workers in 10 stable connect groups, each on a connection of its own, as in `heartbeats.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.loader import Loader
from bench.results import Claim, Outcome
from bench.rounds import Round, figures_of, in_turn
from bench.sides import echo, kcoord

GROUPS, SIZE = 10, 10
DEPTHS = (1, 8)
ROUNDS = 5
ROUND_S = 3.0
WARM_UP_S = 1.0
OF_ECHO = 0.7


def run(folder: Path) -> Outcome:
    """Measure both sides in turn."""
    with Loader() as loader, kcoord(folder) as own, echo(folder) as bare:
        frame_bytes = loader.connect_members(own.name, own.address, GROUPS, SIZE)
        loader.echoes(bare.name, bare.address, GROUPS * SIZE, frame_bytes)
        warm_up_s = {side.name: WARM_UP_S * len(DEPTHS) for side in (own, bare)}
        measured = in_turn(loader, (own, bare), DEPTHS, warm_up_s, ROUNDS, ROUND_S)
    return outcome(measured, frame_bytes)


def outcome(typical_of: Mapping[tuple[str, int], Round], frame_bytes: int) -> Outcome:
    """The medians beside each other."""
    figures = figures_of(typical_of)
    claims = []
    for depth in DEPTHS:
        share = typical_of["kcoord", depth].a_cpu_second / typical_of["echo", depth].a_cpu_second
        what = f"ConnectGroupHeartbeats a CPU second, 100 workers, {depth} in flight"
        claims.append(Claim(what, f"≥ {OF_ECHO} of an echo", f"{share:.2f}", share >= OF_ECHO))
    how = (
        f"{GROUPS} stable connect groups of {SIZE} workers, a connection each, heartbeats of {frame_bytes} bytes; "
        f"medians of {ROUNDS} rounds of {ROUND_S:.0f} s, sides in turn."
    )
    return Outcome("Heartbeats of connect groups", how, claims, [figures])
