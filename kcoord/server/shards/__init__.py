"""The shards of this process: each pure shard with its log, its lease and its load.

`coordinator.py` has them all, `shard_host.py` is one, `shard_phase.py` the table of its states.
"""
