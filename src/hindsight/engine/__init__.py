"""The core API: each method opens a trace and calls one pipeline."""

from __future__ import annotations

from hindsight.engine.access import Access
from hindsight.engine.digests import Digests
from hindsight.engine.experiences import Experiences
from hindsight.engine.forgetting import Forgets
from hindsight.engine.jobs import Jobs
from hindsight.engine.memories import Memories
from hindsight.engine.parts import MAX_PAGE, Parts
from hindsight.engine.searches import Searches
from hindsight.engine.sessions import Sessions
from hindsight.engine.tidying import Tidying

__all__ = ["MAX_PAGE", "Engine", "Parts"]


class Engine(Memories, Forgets, Jobs, Sessions, Searches, Experiences, Digests, Tidying, Access):
    """Memory for any number of namespaces. Safe from several tasks of one loop; `aclose` finishes what is queued."""
