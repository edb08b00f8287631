"""Consumers that speak the classic protocol, in a consumer group (KIP-848, "Classic consumers in a consumer group").

Each is led alone, without a barrier. A JoinGroup is answered at once: its generation is the member's epoch, there is no
leader, and the SyncGroup that follows has what the member is assigned. A heartbeat says REBALANCE_IN_PROGRESS when the
member is to come again. What it has let go of, its next JoinGroup says.

Read in this order:

1. `protocol/consumer_embedded.py`, `member_metadata.py`: what JoinGroup and SyncGroup carry, and what is written down.
2. `member_checks.py`, `rejoin.py`: whose request it is, and when a member has to come again.
3. `join_group.py`, `sync_group.py`, `heartbeat.py`: the three requests.
4. `answers.py`: what these are answered, at once or later.
5. `classic_dialect.py`: what the floors below ask of such members.
6. `individual_mode.py`, `to_consumer_group.py`, `to_classic_group.py`: a classic group becomes a consumer group, and
   the other way round.
"""
