"""State: what a shard knows, how records change it, and the transition that is in progress."""
