"""Tests of connect groups on a hand-driven clock: the rules of docs/rules/connect-groups.md, by id."""
