"""Groups of the generic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup (Apache Kafka calls them classic)."""
