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
class Steps:
    """Cuts the records of one partition into steps."""

    whole_from: int | None = None
    """The first position from which nothing is missing, as far as is known by now."""
    _last: int = -1
    _seen: set[object] = attrs.Factory(set)

    def cut(self, entries: Iterable[Entry]) -> Iterator[list[Entry]]:
        """The steps in order. `entries` are in order of position."""
        step: list[Entry] = []
        for entry in entries:
            if entry.offset <= self._last:
                continue
            if step and (entry.at_ms != step[-1].at_ms or entry.offset != self._last + 1):
                yield step
                step = []
            self._last = entry.offset
            self._look(entry)
            step.append(entry)
        if step:
            yield step

    def _look(self, entry: Entry) -> None:
        if self.whole_from is not None:
            return
        key = entry.record.key
        name = (key.API_KEY, *(getattr(key, field.attribute) for field in key.FIELDS))
        if name in self._seen:
            self.whole_from = entry.offset
            self._seen.clear()
        self._seen.add(name)
