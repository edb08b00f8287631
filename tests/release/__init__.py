"""Tests of what must go on from release to release: logs, shared groups, settings, record types."""
