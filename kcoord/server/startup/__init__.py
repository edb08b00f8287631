"""What a process is made of at its start: settings become parts, and what cannot work is said in a line.

Start at `components.py`.
"""
