"""The core of groups without a barrier: epochs, a target for each member, and the reconciliation towards it."""
