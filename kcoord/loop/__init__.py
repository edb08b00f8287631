"""One event loop shared by many clients: turns for long work, calls in threads, and accepting connections."""
