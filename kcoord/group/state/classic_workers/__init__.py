"""What the state keeps of classic workers in connect groups, and the pure parts that it is made of."""
