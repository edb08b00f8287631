"""Runs with consumer groups: consumers of KIP-848 that live on a network, in front of the same simulated coordinator.

Read in this order: `membership.py` (what a consumer says and hears), `consumption.py` (what it reads and commits),
`process.py` (its life), `checks.py` (the judges), `world.py` (the run).
"""
