"""The records of groups: how they are made, and how a replay applies them."""
