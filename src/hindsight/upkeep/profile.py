"""The profile of a subject: what holds of it now, the strongest first, each with the number of turns that say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hindsight.domain.cleaning import CleanRules
from hindsight.domain.episode import Episode
from hindsight.domain.forgetting import last_verified, over, stale, strength
from hindsight.domain.memory import Memory, Statement
from hindsight.domain.page import Order, Use
from hindsight.domain.profile import SECTIONS, USER, Observation, Profile
from hindsight.domain.query import Filters
from hindsight.language.fold import fold
from hindsight.language.markers import FENCE_CLOSE, FENCE_OPEN
from hindsight.language.tokens import ESTIMATE, Ruler
from hindsight.ports import Clock, Store
from hindsight.search.wording import CHINESE, ENGLISH, Wording, is_chinese
from hindsight.upkeep.cite import harmless, zone
from hindsight.write.request import MAX_NAME, check_text

PAGE = 500
MOST_READ = 10_000  # memories looked at for one profile, the most important first
MOST_LISTED = 50  # in one section
TOKENS = 2_000  # of the block
_ME = frozenset({"user", "用户", "the user", "me", "我", "本人"})


@dataclass(frozen=True, slots=True)
class Profiler:
    """What making a profile needs."""

    store: Store
    clock: Clock
    ruler: Ruler = ESTIMATE
    rules: CleanRules = field(default_factory=CleanRules)

    async def profile(self, namespace: str, subject: str | None = None) -> Profile:
        """What is known of a subject; of the user where none is named. `InvalidInput`."""
        name = USER
        if subject is not None:
            name = fold(check_text("subject", subject)[:MAX_NAME]).strip()
            name = USER if name in _ME else name
        found = await self._about(namespace, name)
        uses = await self.store.uses(namespace, [one.id for one in found])
        ranked = {kind: self._ranked([one for one in found if one.kind is kind], uses) for _, kind in SECTIONS}
        listed = {kind: some[:MOST_LISTED] for kind, some in ranked.items()}
        proofs = await self._proofs(namespace, [one for some in listed.values() for one in some])
        seen = {
            section: tuple(self._observed(one, uses.get(one.id), proofs) for one in listed[kind])
            for section, kind in SECTIONS
        }
        context = _block([one for section, _ in SECTIONS for one in seen[section]], self.ruler)
        return Profile(
            subject=name,
            **seen,
            left_out=len(found) - sum(map(len, seen.values())),
            context=context,
            tokens=self.ruler.tokens(context),
        )

    async def _about(self, namespace: str, name: str) -> list[Memory]:
        """Active memories about a subject, of the kinds of a profile; what is over is left out."""
        at = self.clock.now()
        found: list[Memory] = []
        read = 0
        after: str | None = None
        wanted = Filters(kinds=tuple(kind for _, kind in SECTIONS), episodes=False)
        while read < MOST_READ:
            page = await self.store.find(namespace, wanted, order=Order.IMPORTANCE, limit=PAGE, after=after)
            read += len(page.items)
            found += [one for one in page.items if _is_about(one, name) and not over(one, at)]
            after = page.next
            if after is None:
                break
        return found

    def _ranked(self, memories: Sequence[Memory], uses: Mapping[str, Use]) -> list[Memory]:
        at = self.clock.now()
        left = {one.id: strength(one, at, uses.get(one.id), self.rules.half_lives) for one in memories}
        return sorted(memories, key=lambda one: (-one.pinned, -left[one.id], one.created_at, one.id))

    async def _proofs(self, namespace: str, memories: Sequence[Memory]) -> Mapping[str, Episode]:
        ids = {source.episode_id for one in memories for source in one.sources}
        return await self.store.episodes(namespace, sorted(ids)) if ids else {}

    def _observed(self, memory: Memory, use: Use | None, episodes: Mapping[str, Episode]) -> Observation:
        at = self.clock.now()
        said = [episodes[one] for one in {source.episode_id for source in memory.sources} if one in episodes]
        return Observation(
            memory,
            proofs=len(said),
            sessions=len({one.session_id for one in said if one.session_id is not None}),
            strength=strength(memory, at, use, self.rules.half_lives),
            last_verified=last_verified(memory),
            stale=stale(memory, at, self.rules.stale_days),
        )


def _is_about(memory: Memory, name: str) -> bool:
    """Whether a memory is about a subject: stated of it, or, where that was not understood, naming it."""
    body = memory.body
    if not isinstance(body, Statement):
        return False
    if body.subject is None:
        if name == USER:
            return memory.speaker is None
        named = (fold(one) for one in (*memory.entities, *([memory.speaker] if memory.speaker else [])))
        return name in named
    return fold(body.subject) == name


def _block(observed: Sequence[Observation], ruler: Ruler) -> str:
    words = CHINESE if 2 * sum(is_chinese(one.memory.content) for one in observed) > len(observed) else ENGLISH
    lines = [_line(one, words) for one in observed] or [words.nothing]
    head = [f'{FENCE_OPEN} type="data">', words.data_only]
    kept: list[str] = []
    for number, line in enumerate(lines):
        tail = [words.left_out.format(count=len(lines) - number - 1)] if number + 1 < len(lines) else []
        if ruler.tokens("\n".join([*head, *kept, line, *tail, FENCE_CLOSE])) > TOKENS:
            break
        kept.append(line)
    left = [words.left_out.format(count=len(lines) - len(kept))] if len(kept) < len(lines) else []
    return "\n".join([*head, *kept, *left, FENCE_CLOSE])


def _line(one: Observation, words: Wording) -> str:
    memory = one.memory
    day = one.last_verified.astimezone(zone(memory.timezone)).date().isoformat()
    label = words.of_user.get(memory.kind, words.kinds[memory.kind])
    text = harmless(memory.content)
    if words is CHINESE:
        doubt = "，久未确认" if one.stale else ""
        return f"[{label}] - {text}（#{memory.short_id}，提到 {one.proofs} 次，最近 {day}{doubt}）"
    times = "once" if one.proofs == 1 else f"{one.proofs} times"
    doubt = ", not confirmed since" if one.stale else ""
    return f"[{label}] - {text} (#{memory.short_id}, said {times}, last {day}{doubt})"
