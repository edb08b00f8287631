"""Runs with several instances of kcoord: clients connect to any, the owner's shard responds, the others relay."""
