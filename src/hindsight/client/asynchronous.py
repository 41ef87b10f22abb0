"""`AsyncClient`: every group of methods in one class."""

from __future__ import annotations

from hindsight.client.experiences import Experiences
from hindsight.client.memories import Memories
from hindsight.client.searches import Searches
from hindsight.client.tasks import Tasks
from hindsight.client.upkeep import Upkeep


class AsyncClient(Memories, Searches, Experiences, Tasks, Upkeep):
    """Memory on a server, for `async` programs, with the methods of `AsyncHindsight`.

    `api_key` is sent as a bearer token. `namespace` names the wall everything stays behind unless a call names
    another; without one the key's, or the server's, counts. Errors are those of `hindsight.errors`, as if all of it ran
    in this process.
    """
