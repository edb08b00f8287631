"""Tests of connect groups on a hand-driven clock: the rules of connect-groups.md, by number."""
