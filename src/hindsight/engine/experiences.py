"""What worked and what failed."""

from __future__ import annotations

from hindsight.domain.change import Receipt
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.memory import Memory
from hindsight.domain.pruning import PruneReport
from hindsight.domain.reflection import Reflection
from hindsight.engine.parts import Running, checked
from hindsight.errors import InvalidInput
from hindsight.experience.prune import Wanted
from hindsight.experience.record import ExperienceRequest, agent_name
from hindsight.experience.reflect.reflector import ReflectRequest


class Experiences(Running):
    """What worked and what failed."""

    async def write_experience(self, namespace: str, request: ExperienceRequest) -> Receipt:
        """Keep what worked or failed."""
        with self._call(namespace, "experience") as trace:
            return await self._parts.recorder.record(namespace, request, trace)

    async def merge_experiences(self, namespace: str, *, agent: str | None = None) -> Receipt:
        """Merge experiences that are for the same situation, wherever they came from."""
        actor = "" if agent is None else agent_name(agent)
        return await self._parts.merger.sweep(checked(namespace), actor=actor)

    async def reflect(self, namespace: str, request: ReflectRequest) -> Reflection:
        """Propose experiences from what was done in a session."""
        if request.agent is not None:
            agent_name(request.agent)
        with self._call(namespace, "reflection") as trace:
            reflection = await self._parts.reflector.reflect(namespace, request, trace)
        self._written(namespace)
        return reflection

    async def prune(self, namespace: str, wanted: Wanted) -> PruneReport:
        """Experiences that are not trusted, or old and hardly used: named, and archived where that is wanted."""
        return await self._parts.pruner.prune(checked(namespace), wanted)

    async def feedback(
        self, namespace: str, memory_id: str, outcome: OutcomeStatus | str, *, note: str, agent: str | None = None
    ) -> Memory:
        """Say whether following an experience worked; `agent` says so."""
        if outcome not in tuple(OutcomeStatus):
            raise InvalidInput("outcome", outcome, f"one of {', '.join(OutcomeStatus)}")
        memory = await self._memory(namespace, memory_id)
        actor = "" if agent is None else agent_name(agent)
        return await self._parts.feedback.give(namespace, memory.id, OutcomeStatus(outcome), note=note, actor=actor)
