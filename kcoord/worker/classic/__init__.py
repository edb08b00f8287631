"""A worker in a classic group, beside Connect's own workers.

`membership` is the worker as a pure state machine, with the same calls as that of connect groups. `table` says which
move an answer makes, `moves` has the moves, `owning` is how it stops what it runs, `round` is what a leader computes,
and `state` is what it remembers. Connect's own protocol inside JoinGroup and SyncGroup is `kcoord.protocol.embedded`.
"""
