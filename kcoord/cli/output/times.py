"""Times and durations as text for people."""

import time

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def span(ms: int) -> str:
    """`7 ms`, `1.4 s`, `12 s`, `3 min`, `2 h`: as exact as a reader needs."""
    if ms < 1_000:
        return f"{max(ms, 0)} ms"
    if ms < 9_950:
        return f"{ms / 1_000:.1f} s"
    size, unit = next(each for each in _UNITS if ms >= each[0])
    return f"{round(ms / size)} {unit}"


def after(ms: int) -> str:
    """`after 12 s`, or `at once`."""
    return f"after {span(ms)}" if ms > 0 else "at once"


def ago(at_ms: int, now_ms: int | None = None) -> str:
    """`12 s ago`."""
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    return f"{span(max(now_ms - at_ms, 0))} ago"


def clock(at_ms: int) -> str:
    """The local time of day, with the date unless that is today."""
    at = time.localtime(at_ms / 1000)
    today = at[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S", at)
