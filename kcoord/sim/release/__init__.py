"""Runs with two releases of kcoord: coordinators that take over from one another on one log, and workers of both.

`alias` loads another release's sources beside these, under a package name of their own. `sides` has what differs
between the two. `world` is such a run, `coordinator` and `fleet` are its parts, and `checks` is its judge.
"""
