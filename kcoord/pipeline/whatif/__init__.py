"""What a group's own history would have cost under another policy or delay, or with another assignor or interval.

Connect workers are replayed by the simulator: ``fleet`` is what the tables say of a group, ``episodes`` makes scenarios
from it, ``replay`` runs one, ``logged`` counts what a log says (the recorded log and a replay's log alike), ``advice``
compares and recommends. A consumer group's assignments are made again, without a simulation: ``consumers``.
"""
