"""Client connections: cutting them into requests, and the order, size and speed of what is answered.

Start at `connection.py`; `heartbeat_hot_path.py` is what runs most often, `early_requests.py` where requests wait.
"""
