"""How does a worker of Java's Connect 4.3 behave in its group? A model of it without I/O, to be run by thousands.

`worker` is Connect's herder, `client` Kafka's client below it (member id, generation, heartbeats), `leading` what the
worker does that leads; `configs` is what is configured, and the topic that says so; `actions` what the host is asked
for. Sources: Connect 4.3's behaviour, KIP-394, KIP-415, KIP-800, and `docs/rules/classic-members.md`.
"""

from kcoord.sim.legacy.actions import Action, Close, ReadConfigs, Seek, Send, Start, Stop
from kcoord.sim.legacy.configs import Configs, ConfigTopic
from kcoord.sim.legacy.setup import LegacySetup
from kcoord.sim.legacy.worker import LegacyWorker

__all__ = [
    "Action", "Close", "ConfigTopic", "Configs", "LegacySetup", "LegacyWorker", "ReadConfigs", "Seek", "Send", "Start",
    "Stop",
]  # fmt: skip
