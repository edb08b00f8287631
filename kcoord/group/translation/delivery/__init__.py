"""Delivery to classic workers: when each is called, when its requests are answered, and what it is told."""
