"""`AsyncHindsight`: every group of methods in one class."""

from __future__ import annotations

from hindsight.embedded.digests import Digests
from hindsight.embedded.experiences import Experiences
from hindsight.embedded.forgetting import Forgets
from hindsight.embedded.jobs import Jobs
from hindsight.embedded.keys import Keys
from hindsight.embedded.memories import Memories
from hindsight.embedded.searches import Searches
from hindsight.embedded.sessions import Sessions
from hindsight.embedded.tidying import Tidying


class AsyncHindsight(Memories, Forgets, Jobs, Sessions, Searches, Experiences, Digests, Tidying, Keys):
    """Memory on a data folder, for `async` programs.

    Opens at the first call or at `async with`; `aclose` finishes what is queued. Several may share one folder, in one
    process or in many. `namespace` is the wall everything stays behind unless a call names another.
    """
