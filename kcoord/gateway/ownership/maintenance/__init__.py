"""The maintenance of all sentinels of this process.

Read in this order:

1. `sentinel_care.py`: which groups are taken, their heartbeats, their farewell, and who speaks for them.
2. `group_appearances.py`: how each of them must look.
3. `orphaned_groups.py`: what other instances, and predecessors of this process, left behind. `left_by_0_1_0.py`: what
   release 0.1.0 left behind.
"""
