"""Classic members in a connect group: JoinGroup, SyncGroup, Heartbeat and LeaveGroup, each worker led on its own.

The rules are in docs/rules/classic-members.md. Read in this order:

1. `embedded_join.py` and `answers.py`: what a worker says when it joins, and how its requests are answered.
2. `rounds/`: who leads, what the leader is shown, and what its answer means.
3. `delivery/`: when a worker is called, when its JoinGroup and SyncGroup are answered, and what it is told.
4. `group_choice.py`, `member_checks.py`, then `join_group.py`, `sync_group.py`, `heartbeat.py` and `leave_group.py`:
   which group a request goes to, whose request counts, and what each request does.
5. `classic_settle.py`, `sweep.py` and `sessions.py`: what follows from a change, what is due, and how sessions begin
   after a load or a conversion.
6. `classic_description.py`: how such a group is described to those who take it for a classic group.

A file imports only what comes before it in this list, or from its own folder.
"""
