"""Classic groups: JoinGroup, SyncGroup, Heartbeat and LeaveGroup (names in the code still call them generic)."""
