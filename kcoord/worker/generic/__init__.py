"""How does a worker take part in a group of the generic protocol, beside Connect's own workers?

`embedded` is Connect's protocol inside of JoinGroup and SyncGroup, `round` what a leader computes, `membership` the
worker as a pure state machine, with the same calls as that of connect groups.
"""
