"""What do the tables say to people? One HTML page that needs neither a server nor a network. No Spark here."""
