"""Where do records live? The interface of a log, and the embedded log (a file beside the process)."""
