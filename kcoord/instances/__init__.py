"""How do several instances of kcoord share the groups? Who owns what, and how the others reach the owner."""
