"""How much of a store is of no use: said twice, said without end, doubted, or never to be kept at all.

Texts are never shown: ids are, so that the report may be sent to somebody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b

from hindsight.domain.entry import searchable_text
from hindsight.domain.experience import Experience, rendered
from hindsight.domain.forgetting import stale
from hindsight.domain.kept import KeptEpisode, KeptMemory, Record
from hindsight.domain.memory import Memory, Status
from hindsight.language.fold import fold
from hindsight.ops.check import Check, State, few
from hindsight.write.redact import redact

LOOP = 5  # the same text so often in one session is a loop, not an answer given twice
MUCH = 0.05  # share of junk that is worth a warning
SHOWN = 5
EXPLAINED = 3


@dataclass(slots=True)
class Junk:
    """What was found. Lists hold `namespace: id`."""

    memories: int = 0
    episodes: int = 0
    doubles: list[str] = field(default_factory=list)
    near: list[str] = field(default_factory=list)
    loops: int = 0
    looping: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The share of what answers that says nothing new."""
        total = self.memories + self.episodes
        return (len(self.doubles) + len(self.near) + self.loops) / total if total else 0.0


async def find_junk(records: AsyncIterator[Sequence[tuple[str, Record]]], now: datetime, stale_days: int) -> Junk:
    """Look through everything once. What is kept of a text meanwhile is a digest of 8 bytes."""
    junk = Junk()
    said: set[bytes] = set()
    turns: Counter[bytes] = Counter()
    async for part in records:
        for namespace, record in part:
            if isinstance(record, KeptMemory):
                _look_at_memory(junk, said, namespace, record.memory, now, stale_days)
            elif isinstance(record, KeptEpisode):
                _look_at_turn(junk, turns, namespace, record)
    return junk


def _look_at_memory(
    junk: Junk, said: set[bytes], namespace: str, memory: Memory, now: datetime, stale_days: int
) -> None:
    text = rendered(memory.body) if isinstance(memory.body, Experience) else memory.content
    if redact(text) != text:
        junk.secrets.append(f"{namespace}: {memory.id}")
    if memory.status is not Status.ACTIVE:
        return
    junk.memories += 1
    made = _digest(namespace, memory.kind.value, _bare(searchable_text(memory)))
    if made in said:
        junk.doubles.append(f"{namespace}: {memory.id}")
    said.add(made)
    if stale_days and stale(memory, now, stale_days):
        junk.stale.append(f"{namespace}: {memory.id}")


def _look_at_turn(junk: Junk, turns: Counter[bytes], namespace: str, kept: KeptEpisode) -> None:
    episode = kept.episode
    junk.episodes += 1
    if redact(episode.content) != episode.content:
        junk.secrets.append(f"{namespace}: {episode.id}")
    if not episode.content:
        return
    made = _digest(namespace, episode.session_id or "", _bare(episode.content))
    turns[made] += 1
    if turns[made] == LOOP:
        junk.loops += LOOP
        junk.looping.append(f"{namespace}: {episode.session_id or 'no session'}")
    elif turns[made] > LOOP:
        junk.loops += 1


def _bare(text: str) -> str:
    """A text without what does not change what it says: case, width, spaces, marks."""
    return "".join(letter for letter in fold(text) if letter.isalnum())


def _digest(*parts: str) -> bytes:
    return blake2b("\0".join(parts).encode(), digest_size=8).digest()


def check_junk(junk: Junk) -> tuple[Check, Check, Check]:
    """Junk by sort, what is doubted, and secrets that would be taken out today."""
    counts = [
        (len(junk.doubles), "said twice", junk.doubles),
        (len(junk.near), "nearly the same", junk.near),
        (junk.loops, f"turns said {LOOP} times or more in a session", junk.looping),
    ]
    found = [f"{count} {what} ({few(ids, EXPLAINED)})" for count, what, ids in counts if count]
    rate = f"{junk.rate:.1%} of {junk.memories + junk.episodes} memories and turns"
    state = State.WARN if junk.rate > MUCH else State.OK
    remedy = "`hindsight clean` names what it would merge or archive; look at who writes the same again and again."
    doubt = "`hindsight review` asks about them; `hindsight update ID` or `hindsight pin ID` confirms one."
    gone = "Take each out with `hindsight forget ID --purge`, and change the secret: it was stored."
    return (
        Check("junk", state, "; ".join((rate, *found)), remedy if found else ""),
        Check(
            "stale",
            State.OK,
            f"{len(junk.stale)} not confirmed for long: {few(junk.stale, SHOWN)}" if junk.stale else "none",
            doubt if junk.stale else "",
        ),
        Check(
            "secrets",
            State.WARN if junk.secrets else State.OK,
            f"{len(junk.secrets)} hold what is redacted today: {few(junk.secrets, SHOWN)}" if junk.secrets else "none",
            gone if junk.secrets else "",
        ),
    )
