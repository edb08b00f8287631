"""A place for tables on another file system: whether a server answers there, and the errors if it cannot be used.

Hadoop's own clients try again for minutes where nothing answers.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Mapping
from urllib.parse import SplitResult, urlsplit

from kcoord.pipeline.failure import PipelineError, reason_of

HADOOP_AWS = "org.apache.hadoop:hadoop-aws:3.4.1"
"""Maven coordinates of Hadoop's S3A, of the version of Hadoop that Spark 4.0 comes with."""
ANSWERS_WITHIN_S = 10
"""How long a server may take to accept a connection, in s."""


def check_answers(place: str, settings: Mapping[str, str]) -> None:
    """Raises PipelineError if a server is named, by `place` or by these settings of Spark, and does not accept a
    connection.

    Not looked at: a name service of HDFS, which has no port; an endpoint of S3 that only Hadoop's own files name, or
    that is reached by a proxy.
    """
    server = _server(urlsplit(place), settings)
    if server is None:
        return
    try:
        socket.create_connection(server, ANSWERS_WITHIN_S).close()
    except OSError as error:
        host, port = server
        raise PipelineError(
            f"nothing answers at {host}:{port}, where {place} should be: {error}; see that it runs and can be reached"
        ) from None


@contextlib.contextmanager
def usable(place: str) -> Iterator[None]:
    """Turns an error of Hadoop's into a PipelineError of one line."""
    try:
        yield
    except PipelineError:
        raise
    except Exception as error:
        raise PipelineError(f"{place} cannot be used: {reason_of(error)}{_advice(str(error))}") from error


def _advice(text: str) -> str:
    if "S3AFileSystem not found" in text:
        return f"; give --conf spark.jars.packages={HADOOP_AWS}"
    if "No AWS Credentials provided" in text:
        return "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    return ""


def _server(place: SplitResult, settings: Mapping[str, str]) -> tuple[str, int] | None:
    """The host and port. Raises PipelineError if there can be no such port."""
    url = place if place.scheme == "hdfs" else _endpoint(place, settings)
    try:
        port = None if url is None else url.port or {"http": 80, "https": 443}.get(url.scheme)
    except ValueError as error:
        raise PipelineError(f"there is no such address ({error}): {url.geturl() if url else place.geturl()}") from None
    return (url.hostname, port) if url is not None and url.hostname and port else None


def _endpoint(place: SplitResult, settings: Mapping[str, str]) -> SplitResult | None:
    """That of a bucket, as far as the settings name it."""

    def setting(name: str) -> str | None:
        """A bucket may have its own."""
        own = settings.get(f"spark.hadoop.fs.s3a.bucket.{place.hostname}.{name}")
        return own or settings.get(f"spark.hadoop.fs.s3a.{name}")

    endpoint = setting("endpoint")
    if place.scheme != "s3a" or endpoint is None or setting("proxy.host") is not None:
        return None
    scheme = "http" if setting("connection.ssl.enabled") == "false" else "https"
    return urlsplit(endpoint if "://" in endpoint else f"{scheme}://{endpoint}")
