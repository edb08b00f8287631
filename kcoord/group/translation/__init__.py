"""Classic workers in a connect group: JoinGroup, SyncGroup, Heartbeat and LeaveGroup, each worker led on its own."""
