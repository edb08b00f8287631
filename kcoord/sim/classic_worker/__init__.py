"""A model of a worker of Java's Connect 4.3 in its group, without I/O, so that thousands can run.

`worker` is Connect's herder, `client` is Kafka's client below it (member id, generation, heartbeats), `leading` is what
the leading worker does. `configs` is what is configured, and the topic that says so. `actions` is what the worker asks
of its host. Sources: Connect 4.3's behaviour, KIP-394, KIP-415, KIP-800, and `docs/rules/classic-members.md`.
"""

from kcoord.sim.classic_worker.actions import Action, Close, ReadConfigs, Seek, Send, Start, Stop
from kcoord.sim.classic_worker.configs import Configs, ConfigTopic
from kcoord.sim.classic_worker.setup import ClassicSetup
from kcoord.sim.classic_worker.worker import ClassicWorker

__all__ = [
    "Action",
    "ClassicSetup",
    "ClassicWorker",
    "Close",
    "ConfigTopic",
    "Configs",
    "ReadConfigs",
    "Seek",
    "Send",
    "Start",
    "Stop",
]
