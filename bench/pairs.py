"""Is one side worse than the other? The ratios of interleaved pairs, with a confidence interval.

What a pair shares (the machine's load, its temperature) falls out of its ratio. The mean of the logarithms of the
ratios has an interval by Student's t; one side is called worse only when the whole interval lies beyond the allowance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

import attrs

ALLOWED = 0.03
T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
"""Two-sided 95 % points of Student's t with 1, 2, … degrees of freedom."""
T_95_MANY = ((20, 2.086), (30, 2.042), (60, 2.000), (120, 1.980))
"""The same for more, each good for as many and above."""
T_95_NORMAL = 2.131
"""For 16 to 19 degrees, the one below them, which makes the interval wider rather than narrower."""


@attrs.frozen
class Interval:
    """The ratio of the second side to the first one, and within what it lies with 95 % confidence."""

    low: float
    ratio: float
    high: float

    @property
    def is_worse(self) -> bool:
        """Whether the second side takes more than the first one, beyond what is allowed and beyond doubt."""
        return self.low > 1 + ALLOWED

    def __str__(self) -> str:
        return f"{self.ratio - 1:+.1%} ({self.low - 1:+.1%} to {self.high - 1:+.1%})"


def interval_of(pairs: Sequence[tuple[float, float]]) -> Interval:
    """The interval of the ratios second / first of two or more pairs, whose values are above 0."""
    logs = [math.log(second / first) for first, second in pairs]
    mean, half = fmean(logs), t_95(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return Interval(math.exp(mean - half), math.exp(mean), math.exp(mean + half))


def t_95(degrees: int) -> float:
    """The two-sided 95 % point of Student's t."""
    if degrees <= len(T_95):
        return T_95[degrees - 1]
    return next((point for least, point in reversed(T_95_MANY) if degrees >= least), T_95_NORMAL)
