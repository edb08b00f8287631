"""The report: the tables as one HTML page for people, which needs no server and no network. No Spark here."""
