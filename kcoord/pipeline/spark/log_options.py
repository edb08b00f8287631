"""The options that say where a log is, and kcoord's settings by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kcoord.log.interface import LogError
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.spark.sources import FileSource, Source, TopicSource
from kcoord.server.startup.log_opening import kafka_log_settings
from kcoord.settings_sources import SettingsError, load_settings

SHORT_NAMES = {"bootstrap.servers": "log.bootstrap", "topic": "log.topic", "path": "data.dir"}
"""Options of Spark's habit, and the settings of kcoord that they are."""


def settings_of(options: Mapping[str, str]) -> Any:
    """kcoord's settings by the options of a reader. Raises PipelineError."""
    named = {SHORT_NAMES.get(name, name): value for name, value in options.items()}
    given = {"log": "embedded" if "data.dir" in named else "kafka"} if "log" not in named else {}
    try:
        return load_settings([f"{name}={value}" for name, value in named.items()], given, None)
    except SettingsError as error:
        raise PipelineError(str(error)) from None


def look(options: Mapping[str, str]) -> Source:
    """The log that they name, as it is now. Raises PipelineError: no such log, no answer, no rights."""
    settings = settings_of(options)
    if settings.log == "embedded":
        return FileSource.look(settings.data_dir)
    return TopicSource.look(topic_of(settings))


def topic_of(settings: Any) -> KafkaLogSettings:
    """Where the log's topic is. Raises PipelineError."""
    try:
        return kafka_log_settings(settings)
    except (LogError, ValueError) as error:
        raise PipelineError(str(error)) from None
