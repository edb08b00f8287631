"""Several instances of kcoord that share the groups: which instance owns what, and how the others reach the owner."""
