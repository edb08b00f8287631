"""Connect's configuration topic, read by a worker of this library.

Connect keeps connectors, the configurations of their tasks, and more in a topic (`config.storage.topic`). `records` is
what one record says, `state` what all of them say together, `topic` reads them. Nothing is written there.
"""

from kcoord.worker.config_topic.records import Target
from kcoord.worker.config_topic.state import ConnectConfig, ConnectorConfig
from kcoord.worker.config_topic.topic import ConfigTopic, ConfigTopicError

__all__ = ["ConfigTopic", "ConfigTopicError", "ConnectConfig", "ConnectorConfig", "Target"]
