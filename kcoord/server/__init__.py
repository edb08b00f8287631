"""The server: client connections, dispatch of requests, and the shell around the pure coordinator."""
