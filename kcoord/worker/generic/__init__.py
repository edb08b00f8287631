"""How does a worker take part in a group of the generic protocol, beside Connect's own workers?

`membership` is the worker as a pure state machine, with the same calls as that of connect groups: `table` says what
answers do, `moves` how, `owning` how it lets go, `round` what a leader computes, `state` what it remembers. Connect's
own protocol inside of JoinGroup and SyncGroup is `kcoord.protocol.embedded`.
"""
