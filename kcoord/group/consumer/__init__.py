"""Consumer groups (KIP-848): what is said of partitions of topics, where `connect/` speaks of connectors and tasks.

Read in this order:

1. `reconciliation.py`: how one member moves towards its target. A pure function.
2. `membership.py` and `reasons.py`: who joins, returns, says something new and goes, and what of that moves the epoch.
3. `topics.py` and `computing.py`: which topics count, and the targets that are made of them.
4. `answers.py` and `holding.py`: what a member is told, and when.
5. `settle.py` and `timers.py`: what follows from a change, and from time.

Rules that connect groups follow too are in `modern/`. The numbers here are those of Kafka 4.3, which decides where
docs/decisions does not.
"""
