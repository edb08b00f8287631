"""The pipeline: tables of what a fleet did, made from the log by PySpark (`pip install '.[spark]'`)."""

INSTALL = "install what it needs, in kcoord's folder: pip install '.[spark]'"
"""What to do where a package is missing."""
