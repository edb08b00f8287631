"""How does a program run its share of a group's work? The protocol as a pure state machine, and asyncio around it.

Start at `membership` (the protocol of connect groups), then `worker` (what programs use), then `runner` (connectors and
tasks out of a file).
"""

from kcoord.worker.configured import Configured
from kcoord.worker.listener import WorkerRebalanceListener
from kcoord.worker.worker import Worker, WorkerError

__all__ = ["Configured", "Worker", "WorkerError", "WorkerRebalanceListener"]
