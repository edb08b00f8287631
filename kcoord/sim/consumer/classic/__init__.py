"""Consumers that speak the classic protocol, in runs with consumer groups, as Java's consumer 4.3 does.

Read in this order: `setup.py`, `leading.py` (what a leader gives to whom), `process.py` (the consumer's life). The
client below it, with its member id, generation and heartbeats, is Connect's workers' too (`classic_worker/client.py`).
"""
