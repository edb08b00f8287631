"""Cached decoding of what Connect's workers tell each other: in a run the same bytes are read again and again."""

from __future__ import annotations

from functools import lru_cache

from kcoord.protocol import embedded

KEPT = 1_000

decode_state = lru_cache(KEPT)(embedded.decode_state)
decode_assignment = lru_cache(KEPT)(embedded.decode_assignment)
