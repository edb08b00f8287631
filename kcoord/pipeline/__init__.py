"""The pipeline: tables of what a fleet did, made from the log by PySpark (`pip install 'kcoord[spark]'`)."""
