"""Consumer groups (KIP-848): what is said of partitions of topics, where `connect/` speaks of connectors and tasks.

Read in this order:

1. `reconciliation.py`: how one member moves towards its target. A pure function. `owned_partitions.py`: what it may
   still be consuming.
2. `membership.py` and `reasons.py`: who joins, returns, says something new and goes, and what of that moves the epoch.
3. `topic_facts.py` and `next_assignment.py`: which topics count, and the targets that are made of them.
4. `answers.py` and `answer_delay.py`: what a member is told, and when.
5. `settle.py` and `timers.py`: what follows from a change, and from time.
6. `offset_checks.py`: who may commit and fetch offsets.

Rules that connect groups follow too are in `modern/`. All of them: docs/rules/consumer-groups.md.
"""
