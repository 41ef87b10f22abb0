"""What worked and what failed."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pydantic import TypeAdapter

from hindsight.client.answers import Answered, Memory, Receipt
from hindsight.client.opening import Opened
from hindsight.domain.episode import JsonValue
from hindsight.domain.experience import OutcomeStatus
from hindsight.errors import InvalidInput

RECEIPT: Final = TypeAdapter(Receipt)
MEMORY: Final = TypeAdapter(Memory)
REPORT: Final = TypeAdapter(Answered)


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
        """Keep what worked or failed: in which situation, which steps, how it ended."""
        body = {
            "trigger_context": trigger_context,
            "action_steps": list(action_steps),
            "outcome_status": str(outcome_status),
            "tags": list(tags),
            "tools_used": list(tools_used),
            "keywords": list(keywords),
            "session_id": session_id,
            "agent": agent,
        }
        return await self._call(RECEIPT, "POST", "/v1/experiences", namespace, body)

    async def merge_experiences(self, *, namespace: str | None = None, agent: str | None = None) -> Receipt:
        """Merge experiences that are for the same situation; the receipt's `undo` takes all of it back."""
        body = {"agent": agent}
        return await self._call(RECEIPT, "POST", "/v1/experiences/merge", namespace, body)

    async def feedback(
        self,
        memory_id: str,
        outcome: OutcomeStatus | str,
        *,
        namespace: str | None = None,
        note: str = "",
        agent: str | None = None,
    ) -> Memory:
        """Say whether following an experience worked; its confidence moves (+10 / -20 hundredths)."""
        body = {"outcome": str(outcome), "note": note, "agent": agent}
        path = f"/v1/memories/{quote(memory_id, safe='')}/feedback"
        return await self._call(MEMORY, "POST", path, namespace, body)

    async def reflect(
        self,
        *,
        namespace: str | None = None,
        session_id: str | None = None,
        transcript: PathLike[str] | bytes | str | Sequence[Mapping[str, JsonValue]] | None = None,
        agent: str | None = None,
    ) -> Answered:
        """Propose experiences from what was done in a session: what failed, and what then worked."""
        sent = await asyncio.to_thread(_sent, transcript)
        body = {"session_id": session_id, "transcript": sent, "agent": agent}
        return await self._call(REPORT, "POST", "/v1/reflect", namespace, body)

    async def prune(
        self,
        *,
        namespace: str | None = None,
        dry_run: bool = True,
        min_confidence: float | None = None,
        max_age_days: int | None = None,
        min_uses: int | None = None,
        agent: str | None = None,
    ) -> Answered:
        """Experiences that are not trusted, or old and hardly used; a dry run only names them."""
        body = {
            "dry_run": dry_run,
            "min_confidence": min_confidence,
            "max_age_days": max_age_days,
            "min_uses": min_uses,
            "agent": agent,
        }
        return await self._call(REPORT, "POST", "/v1/prune", namespace, body)


def _sent(
    given: PathLike[str] | bytes | str | Sequence[Mapping[str, JsonValue]] | None,
) -> str | list[Mapping[str, JsonValue]] | None:
    """A transcript as REST takes it: text, or messages. `InvalidInput`."""
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, PathLike | bytes):
        return list(given)
    try:
        raw = given if isinstance(given, bytes) else Path(given).read_bytes()
        return (gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw).decode("utf-8", "replace")
    except (OSError, EOFError) as error:
        raise InvalidInput("transcript", str(given)[:200], f"a file that can be read ({error})") from error
