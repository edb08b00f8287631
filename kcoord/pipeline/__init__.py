"""What did a fleet do? Tables out of the log of records, by PySpark (`pip install 'kcoord[spark]'`)."""
