"""What worked and what failed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from os import PathLike

from hindsight.domain.change import Receipt
from hindsight.domain.episode import JsonValue
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.memory import Memory
from hindsight.domain.pruning import PruneReport
from hindsight.domain.reflection import Reflection
from hindsight.embedded.opening import Opened
from hindsight.experience.prune import parse_prune
from hindsight.experience.record import agent_name, parse_experience
from hindsight.experience.reflect.reflector import parse_reflect


class Experiences(Opened):
    """What worked and what failed."""

    async def write_experience(
        self,
        trigger_context: str,
        action_steps: Sequence[str],
        *,
        namespace: str | None = None,
        outcome_status: OutcomeStatus | str = OutcomeStatus.SUCCESS,
        tags: Sequence[str] = (),
        tools_used: Sequence[str] = (),
        keywords: Sequence[str] = (),
        session_id: str | None = None,
        agent: str | None = None,
    ) -> Receipt:
        """Keep what worked or failed: in which situation, which steps, how it ended.

        One for the same situation as another is merged with it. A situation that fits everything is sharpened by what
        the steps name, or refused with what is missing (`InvalidInput`). `agent`: who says so, else the setting.
        """
        request = parse_experience(
            trigger_context,
            action_steps,
            outcome_status=outcome_status,
            tags=tags,
            tools_used=tools_used,
            keywords=keywords,
            session_id=session_id,
            agent=self._settings.agent if agent is None else agent,
        )
        engine = await self.engine()
        return await engine.write_experience(self._within(namespace), request)

    async def merge_experiences(self, *, namespace: str | None = None, agent: str | None = None) -> Receipt:
        """Merge experiences that are for the same situation; the receipt's `undo` takes all of it back."""
        engine = await self.engine()
        agent = self._settings.agent if agent is None else agent
        return await engine.merge_experiences(self._within(namespace), agent=agent)

    async def feedback(
        self,
        memory_id: str,
        outcome: OutcomeStatus | str,
        *,
        namespace: str | None = None,
        note: str = "",
        agent: str | None = None,
    ) -> Memory:
        """Say whether following an experience worked; its confidence moves (+10 / -20 hundredths).

        `agent` is who says so, else the setting of that name. Of a merged experience the id of each original counts for
        the way that came of it.
        """
        engine = await self.engine()
        agent = self._settings.agent if agent is None else agent
        return await engine.feedback(self._within(namespace), memory_id, outcome, note=note, agent=agent)

    async def reflect(
        self,
        *,
        namespace: str | None = None,
        session_id: str | None = None,
        transcript: PathLike[str] | bytes | str | Sequence[Mapping[str, JsonValue]] | None = None,
        agent: str | None = None,
    ) -> Reflection:
        """Propose experiences from what was done in a session: what failed, and what then worked.

        `session_id`: one that was written here. `transcript`: a path, or the content of a file, in Claude Code's JSON
        lines, or messages with tool calls and results. What is proposed waits in `reviews` unless the setting
        `reflect_auto_accept` is on; the same again proposes nothing new. `InvalidInput`, `NotFound`.
        """
        agent = self._settings.agent if agent is None else agent
        request = await asyncio.to_thread(parse_reflect, session_id=session_id, transcript=transcript, agent=agent)
        return await (await self.engine()).reflect(self._within(namespace), request)

    async def prune(
        self,
        *,
        namespace: str | None = None,
        dry_run: bool = True,
        min_confidence: float | None = None,
        max_age_days: int | None = None,
        min_uses: int | None = None,
        agent: str | None = None,
    ) -> PruneReport:
        """Experiences trusted below 0.3, or older than 90 days (180 in a small library) with fewer than 3 uses.

        A dry run only names them. Else they are archived, the report's `undo` takes that back, and 30 days later they
        may be purged. Pinned ones stay, and failures kept as lessons however old they are.
        """
        agent = self._settings.agent if agent is None else agent
        wanted = parse_prune(
            dry_run=dry_run,
            min_confidence=min_confidence,
            max_age_days=max_age_days,
            min_uses=min_uses,
            actor="" if agent is None else agent_name(agent),
        )
        return await (await self.engine()).prune(self._within(namespace), wanted)
