"""Memory on a server: `Client` and `AsyncClient` have the methods of `Hindsight`, over HTTP.

from hindsight import Client

with Client("http://127.0.0.1:8080", namespace="me") as memory:
    memory.write("用户对花生过敏", session_id="s1")
    print(memory.search("吃什么要小心").context)
"""

from hindsight.client.asynchronous import AsyncClient
from hindsight.client.blocking import Client

__all__ = ["AsyncClient", "Client"]
