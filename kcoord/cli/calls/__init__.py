"""What commands ask of kcoord or a broker, and what they make of the answers."""
