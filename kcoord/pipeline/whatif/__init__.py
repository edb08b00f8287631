"""What would a fleet's own history have cost under another policy, another delay? It is played again, simulated.

``fleet`` is what the tables say of a group, ``episodes`` makes scenarios of it, ``replay`` runs one, ``logged`` counts
what a log says (the recorded one's and a replay's alike), ``advice`` compares and recommends.
"""
