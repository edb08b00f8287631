"""The pure coordinator, told in stories on a hand-driven clock."""
