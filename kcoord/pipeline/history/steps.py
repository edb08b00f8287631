"""The steps of a partition: which records belong together, and from which position on nothing is missing.

**Steps.** What one step of the coordinator wrote is there as a whole or not at all, and has one time. Several steps in
the same millisecond count as one: nobody could have looked between them. In a topic the end of a transaction takes an
offset, so records on both sides of a hole belong to two steps.

**Duplicates.** A position that is not after the last one was read already, and is left out.

**Compaction** keeps the last record of each key before some point of the partition, and everything after it. So the
first record that replaces one that is still there is at that point or after it: from there on the log is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from kcoord.pipeline.history.entry import Entry


@attrs.define(eq=False)
class Whole:
    """From where on nothing is missing, as far as is known by now."""

    since: int | None = None
    """The first such position."""

    def __call__(self, offset: int) -> bool:
        """Whether nothing is missing from this position on."""
        return self.since is not None and offset >= self.since


@attrs.define(eq=False)
class Steps:
    """Cuts the records of one partition into steps."""

    whole: Whole = attrs.Factory(Whole)
    _step: list[Entry] = attrs.Factory(list)
    """The records of the step that may go on."""
    _last: int = -1
    _seen: set[object] = attrs.Factory(set)

    def cut(self, entries: Iterable[Entry]) -> Iterator[list[Entry]]:
        """The steps in order, without the last one, which may go on. `entries` are in order of position."""
        for entry in entries:
            if entry.offset <= self._last:
                continue
            step = self._step
            if step and (entry.at_ms != step[-1].at_ms or entry.offset != self._last + 1):
                self._step = []
                yield step
            self._last = entry.offset
            if self.whole.since is None:
                self._look(entry)
            self._step.append(entry)

    def all(self, entries: Iterable[Entry]) -> Iterator[list[Entry]]:
        """All steps of records after which nothing comes."""
        yield from self.cut(entries)
        if self._step:
            yield self.last()

    def last(self) -> list[Entry]:
        """The records of the last step, if it does not go on. Maybe none."""
        step, self._step = self._step, []
        return step

    def _look(self, entry: Entry) -> None:
        key = entry.record.key
        name = (key.API_KEY, *(getattr(key, field.attribute) for field in key.FIELDS))
        if name in self._seen:
            self.whole.since = entry.offset
            self._seen.clear()
        self._seen.add(name)
