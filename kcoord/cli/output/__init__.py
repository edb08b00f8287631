"""What people see: tables, texts, log lines, progress."""
