"""Classic groups: JoinGroup, SyncGroup, Heartbeat and LeaveGroup (this package calls them generic groups)."""
