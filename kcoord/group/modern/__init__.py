"""The heart of groups whose coordinator drives each member to a target of its own: epochs, targets, reconciliation."""
