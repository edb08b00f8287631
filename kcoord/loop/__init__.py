"""One event loop shared by many clients: turns for long work, and accepting connections."""
