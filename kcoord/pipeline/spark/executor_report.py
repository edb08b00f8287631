"""What a Spark cluster's executors have: their Python, the packages there, and whether they see a file.

The function that looks is sent with its code, not by its name: before anything is shipped, an executor has nothing of
kcoord. It imports the standard library only.
"""

from __future__ import annotations

import importlib.metadata
import re
import socket
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kcoord.pipeline.failure import PipelineError, reason_of

NEEDED = {"pandas": "pandas>=2.2,<3", "pyarrow": "pyarrow>=18"}
"""The packages that only the executors themselves can have, because Spark's own code needs them, and how pip is asked
for them. The least versions are those in kcoord's pyproject.toml.
"""
NEEDED_ELSEWHERE = {"pydantic": "pydantic>=2.9"}
"""The same for executors of another platform, which get no compiled modules from here."""
OTHER_PYTHON = re.compile(r"PYTHON_VERSION_MISMATCH\]? .*?different version: (\S+) than that in driver: (\d+\.\d+)")
NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
SET_PYTHON = "--conf spark.pyspark.python=PATH"


class Found(NamedTuple):
    """What one Python on an executor has."""

    host: str
    python: str
    """Its path."""
    platform: str
    """What a compiled module must have been made for."""
    versions: dict[str, str | None]
    """The version of each package that may be needed; None: not there."""
    unseen: list[str]
    """Which of the files asked for it does not see."""

    @property
    def fits(self) -> bool:
        """Whether modules that were compiled for this Python run there."""
        return self.platform == platform()

    def lacks(self) -> dict[str, str]:
        """The packages that must be there and are not, or are too old, and how pip is asked for them."""
        needed = NEEDED if self.fits else NEEDED | NEEDED_ELSEWHERE
        return {name: wanted for name, wanted in needed.items() if not _suffices(self.versions.get(name), wanted)}


def platform() -> str:
    """The platform of this Python: system, processor, and kind of interpreter."""
    return f"{sysconfig.get_platform()} {sysconfig.get_config_var('SOABI') or sys.implementation.cache_tag}"


def _looking(packages: Collection[str], files: Collection[str]) -> Callable[[Iterable[int]], Iterator[Found]]:
    def version(package: str) -> str | None:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return None

    def look(_numbers: Iterable[int]) -> Iterator[Found]:
        unseen = [each for each in files if not Path(each).exists()]
        versions = {each: version(each) for each in packages}
        yield Found(socket.gethostname(), sys.executable, platform(), versions, unseen)

    return look


def reports(spark: Any, shared: Collection[Path] = ()) -> list[Found]:
    """What the executors that are there have, each Python once. `shared`: files that all must see.

    Raises PipelineError: no such Python there, or one of another minor version.
    """
    from pyspark import cloudpickle

    context = spark.sparkContext
    tasks = context.defaultParallelism
    numbers = context.parallelize(range(tasks), tasks)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        found: list[Found] = numbers.mapPartitions(
            _looking([*NEEDED, *NEEDED_ELSEWHERE], [str(each) for each in shared])
        ).collect()
    except Exception as error:
        raise refusal(error) from None
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    return list({(each.host, each.python): each for each in found}.values())


def check(found: Collection[Found]) -> None:
    """Raises PipelineError if an executor lacks a package that it must have, or does not see a file."""
    for each in found:
        if lacking := each.lacks():
            there = [f"{name} is {each.versions[name] or 'not installed'}" for name in lacking]
            wanted = " ".join(f"'{each}'" for each in lacking.values())
            raise PipelineError(
                f"Spark's executor on {each.host} cannot run kcoord's functions: in {each.python}, "
                f"{' and '.join(there)}. Install there: pip install {wanted}, or name a Python that has this by "
                f"{SET_PYTHON}"
            )
        if each.unseen:
            raise PipelineError(
                f"Spark's executor on {each.host} does not see {each.unseen[0]}: give a URI that all of "
                "them can write to, such as hdfs://… or s3a://…, or a directory that they share"
            )


def _suffices(version: str | None, wanted: str) -> bool:
    least = re.search(r">=([\d.]+)", wanted)
    return version is not None and least is not None and _numbers(version) >= _numbers(least[1])


def _numbers(version: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", version)[:2]]


def refusal(error: Exception) -> PipelineError:
    """What is said of an error with which the executors answered."""
    text = str(error)
    if other := OTHER_PYTHON.search(text):
        there, here = other[1].rstrip(","), other[2]
        return PipelineError(
            f"Spark's executors run Python {there}, and kcoord runs on Python {here} here: both must have the same "
            f"minor version. Install Python {here} there, and name it by {SET_PYTHON}"
        )
    if none := NO_PYTHON.search(text):
        return PipelineError(
            f"Spark's executors cannot start {none[1]}: name the Python that they have by {SET_PYTHON}"
        )
    return PipelineError(f"Spark's executors could not run a function of Python's: {reason_of(error)}")
