"""How many hits are given, and the context block an agent reads: grouped, sourced, fenced, within a token budget."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from zoneinfo import ZoneInfo

from hindsight.domain.experience import Experience, OutcomeStatus, plan
from hindsight.domain.hit import EpisodeHit, Hit, MemoryHit
from hindsight.domain.memory import Kind, Statement
from hindsight.domain.ranking import DENSE
from hindsight.domain.session import Working
from hindsight.language.fold import fold
from hindsight.language.markers import FENCE_CLOSE, FENCE_NAME, FENCE_OPEN
from hindsight.language.tokens import ESTIMATE, Ruler
from hindsight.search.excerpt import excerpt, shortened
from hindsight.search.rank import Distinct, Ranked
from hindsight.search.understand import Question
from hindsight.search.wording import CHINESE, ENGLISH, Wording, is_chinese, wording
from hindsight.search.working import WORKING_TOKENS, working_lines

# A hit that fits less than half as well as the best ends the answer where its length is ours to choose.
DROP = 0.5
# Of the nearness of the nearest: what a hit in another language than the question has to have, not to be cut as noise.
ACROSS = 0.4
# Beside a hit that fits for sure, one that fits so much worse is noise, even where fewer hits than usual are left.
# Where nothing does, the nearest are given uncut, but few: across languages a question may be hardly near its answer.
NOISE, SURE, FEW = 0.23, 0.3, 5

STANDING_LINES, STANDING_TOKENS = 3, 120  # SPEC §4.5
# Over eleven small memories the best hit of a question about something else has a relevance of 0 to 0.045, an
# experience up to 0.08; that of one that is answered 0.16 and more, or 0 where no word and no meaning is shared («Where
# do I live?» beside «moved to Lisbon»): so the nearest are still given, but said to be probably unrelated.
UNRELATED = 0.06
LEAST_LINE = 60  # tokens of a line that is cut, where there is room for them
LEAST_BODY = 12  # tokens; what is cut shorter says nothing
HIGH, MEDIUM = 0.8, 0.4
LONGEST_SESSION = 40
LONGEST_SPEAKER = 40

_BLANK = r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]"
_SPACE = re.compile(rf"{_BLANK}(?:(?<! ){_BLANK}*|{_BLANK}+)")  # all but a single space, which may stay
_BODY = "\x00"  # stands for it while the rest of its line is written, where no text has such a character left
_OPENING = ("<", "\uff1c", "&lt")  # the second is full width
_BRACKETS = str.maketrans("<>\uff1c\uff1e", "\u2039\u203a\u2039\u203a")  # angle quotation marks in their place
_PARENTHESES = str.maketrans("()（）[]", "      ")


@dataclass(frozen=True, slots=True)
class Block:
    """The context block, its length in tokens, and the ids of what it had no room for.

    `left_out`: hits; `unnamed`: standing memories beyond their slot that are no hits either.
    """

    text: str
    tokens: int
    left_out: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the block; what it costs, so that the block as a whole need not be counted again."""

    text: str
    cost: float


@dataclass(frozen=True, slots=True)
class Selection:
    """The hits to give, best first, and the ids of better placed ones that say the same as one of them."""

    chosen: tuple[Ranked, ...]
    repeated: tuple[str, ...]


def select(ranked: Sequence[Ranked], question: Question) -> Selection:
    """As many as asked for, else by complexity and by the drop of relevance; none twice. `ranked` comes best first."""
    chosen: list[Ranked] = []
    repeated: list[str] = []
    different = Distinct()
    best = max((one.parts.relevance for one in ranked), default=0.0)
    nearest = max((one.signals.get(DENSE, 0.0) for one in ranked), default=0.0)
    for one in ranked:
        if len(chosen) == question.most:
            break
        weak = one.parts.relevance < _least(best, len(chosen), question)
        if weak and not (len(chosen) < question.fewest and _near_across(one, nearest, question)):
            continue
        if different.is_new(one):
            chosen.append(one)
        else:
            repeated.append(one.entry.id)
    return Selection(tuple(chosen), tuple(repeated))


def _near_across(one: Ranked, nearest: float, question: Question) -> bool:
    """Whether a hit in another language than the question is about as near in meaning as any: words say nothing of it,
    so that beside one that shares a word it looks like noise."""
    near = one.signals.get(DENSE, 0.0)
    return 0.0 < near >= ACROSS * nearest and is_chinese(one.entry.content) != is_chinese(question.text)


def _least(best: float, chosen: int, question: Question) -> float:
    """The relevance the next hit must have."""
    if question.counted:
        return 0.0
    sure = best >= SURE
    if chosen >= (question.fewest if sure else FEW):
        return DROP * best
    return NOISE * best if sure else 0.0


def pack(
    hits: Sequence[Hit],
    standing: Sequence[MemoryHit],
    question: Question,
    *,
    confident: bool,
    ruler: Ruler = ESTIMATE,
    working: Working | None = None,
) -> Block:
    """Write the block. The running task comes first, then standing memories, which are not repeated.

    Long hits are cut to what was asked about.
    """
    asked, words = wording(question.text), _main_language([hit.content for hit in (*standing, *hits)], question)
    # Whether something fits is said to who asked; the rest is in the language of the memories.
    doubt = [] if hits and confident else [_doubt(hits, asked)]
    past = [words.past] if any(hit.kind is Kind.EXPERIENCE for hit in hits) else []
    opening = [f'{FENCE_OPEN} type="data">', words.data_only, *past]
    most_left = words.left_out.format(count=len(hits) + len(standing))
    if working is not None:
        slot = min(WORKING_TOKENS, question.max_tokens // 4)
        opening += working_lines(working, words, _clean, ruler, slot, _turns_among(hits))
    frame = _cost("\n".join([*opening, *doubt, FENCE_CLOSE]), ruler) + _cost(most_left, ruler) + ruler.joint
    upright = _standing_lines(standing, min(STANDING_TOKENS, question.max_tokens - ruler.whole(frame)), ruler)
    rest = [hit for hit in hits if hit.memory_id not in upright]
    # The doubt is about what follows it: a standing memory is no «nearest», unless it is all that was found.
    lasting = [line.text for line in upright.values()]
    head = [*opening, *lasting, *doubt] if rest or not hits else [*opening, *doubt, *lasting]
    taken = frame + sum(line.cost for line in upright.values())
    lines = _lines(rest, question.max_tokens - ruler.whole(taken), question, ruler)
    given = {hit.memory_id for hit in hits}
    left_out = tuple(hit.memory_id for hit in rest if hit.memory_id not in lines)
    unnamed = tuple(one.memory_id for one in standing if one.memory_id not in upright and one.memory_id not in given)
    count = len(left_out) + len(unnamed)
    tail = [words.left_out.format(count=count)] if count else []
    text = "\n".join([*head, *_grouped(rest, lines), *tail, FENCE_CLOSE])
    return Block(text, ruler.tokens(text), left_out, unnamed)


def _turns_among(hits: Sequence[Hit]) -> set[str]:
    """Turns whose words stand in the block as hits."""
    return {
        source.episode_id
        for hit in hits
        if isinstance(hit, EpisodeHit) or hit.memory.verbatim
        for source in hit.sources
    }


def _doubt(hits: Sequence[Hit], words: Wording) -> str:
    if not hits:
        return words.nothing
    return words.distant if max(hit.scores.get("relevance", 1.0) for hit in hits) < UNRELATED else words.unsure


def _cost(line: str, ruler: Ruler) -> float:
    return ruler.cost(line) + ruler.joint


def _standing_lines(standing: Sequence[MemoryHit], slot: int, ruler: Ruler) -> dict[str, _Line]:
    """Lines of standing memories by id, as many as their slot holds; a long one is cut where others wait behind it."""
    lines: dict[str, _Line] = {}
    room = slot
    for place, hit in enumerate(standing):
        if len(lines) == STANDING_LINES:
            break
        alone = not lines and place + 1 == len(standing)
        line = _fitted(hit, room if alone else min(room, LEAST_LINE), room, frozenset(), ruler, short=True)
        if line is not None:
            lines[hit.memory_id] = line
            room -= ruler.whole(line.cost)
    return lines


def _lines(hits: Sequence[Hit], room: int, question: Question, ruler: Ruler) -> dict[str, _Line]:
    """A line for each hit within `room` tokens; a better hit may take up to twice an even share of what is left."""
    lines: dict[str, _Line] = {}
    asked = frozenset(question.terms)
    for place, hit in enumerate(hits):
        share = min(room, max(LEAST_LINE, 2 * room // (len(hits) - place)))
        line = _fitted(hit, share, room, asked, ruler)
        if line is not None:
            lines[hit.memory_id] = line
            room -= ruler.whole(line.cost)
    return lines


def _fitted(
    hit: Hit, share: int, room: int, asked: frozenset[str], ruler: Ruler, *, short: bool = False
) -> _Line | None:
    """The line of a hit, cut to its share where it is longer; `None` where there is no room for it in a form that says
    something."""
    body = _body(hit)
    before, after = _line(hit, _BODY, short=short).split(_BODY)
    whole = f"{before}{body}{after}"
    cost = _cost(whole, ruler)
    if ruler.whole(cost) <= share:
        return _Line(whole, cost)
    around = ruler.whole(_cost(before + after, ruler))
    share = min(room, max(share, around + LEAST_BODY))
    if share < around + LEAST_BODY:
        return _Line(whole, cost) if ruler.whole(cost) <= room else None
    part = f"{before}{excerpt(body, share - around, asked, ruler)}{after}"
    cost = _cost(part, ruler)
    return _Line(part, cost) if ruler.whole(cost) <= room else None


def _grouped(hits: Sequence[Hit], lines: dict[str, _Line]) -> Iterable[str]:
    """Lines of one kind together, the kind of the best hit first."""
    groups: dict[str, list[str]] = {}
    for hit in hits:
        if hit.memory_id in lines:
            groups.setdefault(_label(hit, ENGLISH), []).append(lines[hit.memory_id].text)
    return (line for group in groups.values() for line in group)


def _line(hit: Hit, body: str, *, short: bool = False) -> str:
    words = wording(hit.content)
    date = source_date(hit).isoformat()
    session = shortened(_clean(hit.session_id or "").translate(_PARENTHESES).strip(), LONGEST_SESSION)
    source = words.source.format(date=date, session=words.session.format(session=session) if session else "")
    note = words.note.format(warning=hit.warning) if hit.warning else ""
    return words.line.format(
        label=_label(hit, words),
        text=body,
        id=hit.short_id,
        importance=_importance(hit.importance, words),
        source=_about(hit, words) + (date if short else source) + note,
    )


def _about(hit: Hit, words: Wording) -> str:
    """When an event was or will be, where that is another day than the one it was told on: «yesterday» needs it."""
    if not isinstance(hit, MemoryHit) or hit.kind is not Kind.EVENT or not hit.sources:
        return ""
    day = hit.occurred_at.astimezone(_zone(hit.memory.timezone)).date()
    return "" if day == source_date(hit) else words.about.format(date=day.isoformat())


def _label(hit: Hit, words: Wording) -> str:
    if _is_quote(hit):
        return words.said
    if isinstance(hit, MemoryHit) and isinstance(hit.memory.body, Experience):
        failed = hit.memory.body.outcome.status is OutcomeStatus.FAILURE
        return words.lesson if failed else words.kinds[Kind.EXPERIENCE]
    if _of_user(hit):
        return words.of_user.get(hit.kind, words.kinds[hit.kind])
    return words.kinds[hit.kind]


def _of_user(hit: Hit) -> bool:
    """Whether a statement is the user's own: said so, or nobody else is named."""
    if not isinstance(hit, MemoryHit) or not isinstance(hit.memory.body, Statement):
        return False
    subject = hit.memory.body.subject
    return subject is None or subject == "user"


def _is_quote(hit: Hit) -> bool:
    """Whether a hit is what somebody said, word for word, and no statement that stands alone."""
    if isinstance(hit, EpisodeHit):
        return True
    return hit.memory.verbatim and hit.memory.kind is Kind.EVENT


def _body(hit: Hit) -> str:
    """What a line says between its label and its source, on one line."""
    words = wording(hit.content)
    if isinstance(hit, MemoryHit) and isinstance(hit.memory.body, Experience):
        return _clean(_experience(hit.memory.body, words))
    text = _clean(hit.content)
    speaker = hit.episode.speaker if isinstance(hit, EpisodeHit) else hit.memory.speaker
    if speaker and fold(speaker) not in fold(text):  # a statement may still say «I»
        return f"{shortened(_clean(speaker), LONGEST_SPEAKER)}{words.between}{text}"
    slot = hit.memory.body.slot if isinstance(hit, MemoryHit) and isinstance(hit.memory.body, Statement) else None
    return f"{words.slots[slot]}{words.between}{text}" if slot is not None and slot in words.slots else text


def _experience(experience: Experience, words: Wording) -> str:
    steps = " ".join(f"{number}. {step}" for number, step in enumerate(plan(experience), 1))
    outcome = experience.outcome
    parts = [words.trigger.format(context=experience.trigger.context), words.steps.format(steps=steps)]
    if experience.action.tools_used:
        parts.append(words.tools.format(tools=", ".join(experience.action.tools_used)))
    parts.append(words.trust.format(confidence=outcome.confidence, calls=outcome.call_count))
    return words.also.join(parts)


def _importance(value: float, words: Wording) -> str:
    low, medium, high = words.importance
    return high if value >= HIGH else medium if value >= MEDIUM else low


def source_date(hit: Hit) -> dt.date:
    """The day the newest evidence of a hit was said, in the zone it was said in."""
    if isinstance(hit, EpisodeHit):
        return hit.occurred_at.astimezone(_zone(hit.episode.timezone)).date()
    said = max((source.occurred_at for source in hit.sources), default=hit.occurred_at)
    return said.astimezone(_zone(hit.memory.timezone)).date()


@lru_cache(maxsize=256)
def _zone(name: str) -> dt.tzinfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return dt.UTC  # a zone this machine has no data for: the day may be off by one, the memory still shows


def _main_language(texts: Sequence[str], question: Question) -> Wording:
    """The language of most texts; the question's where there is none, or as many of each."""
    ahead = sum(1 if is_chinese(text) else -1 for text in texts)
    if ahead == 0:
        return wording(question.text)
    return CHINESE if ahead > 0 else ENGLISH


def _clean(text: str) -> str:
    """On one line, unable to look like a mark of the block: what a memory says stays inside its own line."""
    line = _SPACE.sub(" ", text).strip()
    if any(mark in line for mark in _OPENING) and FENCE_NAME.split("-")[0] in fold(line):
        line = line.replace("&lt;", "<").replace("&gt;", ">").translate(_BRACKETS)
    return line
