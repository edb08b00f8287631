"""How fast is kcoord, beside what it is measured against? `python -m bench` runs both sides in one go."""
