"""How many heartbeats of new consumers (KIP-848) does a CPU second answer: Kafka's broker, kcoord, and an echo server?

100 consumers in 10 stable groups, each on a connection of its own, as in `heartbeats.py`. kcoord does not hold answers
here: whoever waits for news sends few heartbeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.loader import Loader
from bench.results import Claim, Outcome
from bench.rounds import Round, figures_of, in_turn
from bench.sides import echo, kafka, kcoord

GROUPS, SIZE = 10, 10
TOPIC = "bench"
SESSION_MS = 1_800_000
"""Nobody goes while the others are measured."""
DEPTHS = (1, 8)
ROUNDS = 5
ROUND_S = 3.0
WARM_UP_S = {"Kafka": 15.0, "kcoord": 1.0, "echo": 1.0}
OF_ECHO, TIMES_KAFKA = 0.9, 2.5


def run(folder: Path) -> Outcome:
    """Measure all sides in turn."""
    patience = {f"group_consumer_{name}session_timeout_ms": SESSION_MS for name in ("", "max_")}
    own_settings = {"topics": f"{TOPIC}:{SIZE}", "group_consumer_heartbeat_wait_ms": 0, **patience}
    with (
        Loader() as loader,
        kafka(folder, **patience) as broker,
        kcoord(folder, **own_settings) as own,
        echo(folder) as bare,
    ):
        broker.cluster.create_topic(TOPIC, SIZE)
        sides = (broker.side, own, bare)
        frame_bytes = [loader.consumers(side.name, side.address, GROUPS, SIZE, TOPIC) for side in sides[:2]]
        loader.echoes(bare.name, bare.address, GROUPS * SIZE, frame_bytes[1])
        measured = in_turn(loader, sides, DEPTHS, WARM_UP_S, ROUNDS, ROUND_S)
    return outcome(measured, frame_bytes[1])


def outcome(typical_of: Mapping[tuple[str, int], Round], frame_bytes: int) -> Outcome:
    """The medians beside each other. The bars are those of one heartbeat in flight, as all clients send them."""
    own, broker, bare = (typical_of[name, 1].a_cpu_second for name in ("kcoord", "Kafka", "echo"))
    times, share = own / broker, own / bare
    what = "ConsumerGroupHeartbeats a CPU second, 100 consumers, 1 in flight"
    claims = [
        Claim(what, f"≥ {TIMES_KAFKA} times Kafka", f"{own:,.0f}: {times:.1f} times", times >= TIMES_KAFKA),
        Claim(what, f"≥ {OF_ECHO} of an echo", f"{share:.2f}", share >= OF_ECHO),
    ]
    how = (
        f"{GROUPS} stable consumer groups of {SIZE} consumers, a connection each, heartbeats of {frame_bytes} bytes, "
        f"answers not held; medians of {ROUNDS} rounds of {ROUND_S:.0f} s, sides in turn."
    )
    return Outcome("Heartbeats of new consumers", how, claims, [figures_of(typical_of)])
