"""How do tests ask servers of this machine by HTTP? With one client: to make one reads all certificates there are,
which takes as long as hundreds of requests. No connection is kept: servers are killed and come back.
"""

import httpx

HTTP = httpx.Client(verify=False, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
