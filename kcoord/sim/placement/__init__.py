"""Placement rules in the simulator: drawn for a run, set while other faults strike, and judged by a second reading.

`documents` draws what a run sets. `demands` reads such a document without the engine's own code. `judge` compares what
the coordinator does with what was demanded.
"""
