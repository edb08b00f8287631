"""The state of groups and members, of both protocols."""
