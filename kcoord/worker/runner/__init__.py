"""The runner: a worker that runs connectors and tasks from a file, or from Connect's configuration topic.

Each connector and each task is an asyncio task.

`connector` has the two classes to write; `definitions` reads the file; `sources` has the other places where connectors
may come from; `runner` puts it together.
"""

from kcoord.worker.runner.connector import Connector, Context, Task, to_its_end
from kcoord.worker.runner.definitions import DefinitionError
from kcoord.worker.runner.runner import Runner
from kcoord.worker.runner.running import Status
from kcoord.worker.runner.sources import Classes, Source, TopicSource

__all__ = [
    "Classes",
    "Connector",
    "Context",
    "DefinitionError",
    "Runner",
    "Source",
    "Status",
    "Task",
    "TopicSource",
    "to_its_end",
]
