"""The server: connections, dispatch and the shell around the pure coordinator."""
