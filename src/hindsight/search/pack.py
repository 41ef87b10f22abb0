"""How many hits are given, and the context block an agent reads: grouped, sourced, fenced, within a token budget."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from zoneinfo import ZoneInfo

from hindsight.domain.experience import Experience, OutcomeStatus
from hindsight.domain.hit import EpisodeHit, Hit, MemoryHit
from hindsight.domain.memory import Kind, Statement
from hindsight.language.fold import fold
from hindsight.language.markers import FENCE_CLOSE, FENCE_NAME, FENCE_OPEN
from hindsight.language.segment import index_terms
from hindsight.language.tokens import token_cost, whole_tokens
from hindsight.search.rank import Distinct, Ranked
from hindsight.search.understand import Question
from hindsight.search.wording import CHINESE, ENGLISH, Wording, is_chinese, wording

OTHER_VOCABULARIES = 1.15  # the estimate was fitted on two vocabularies; others run up to 15 % longer

# A hit that fits less than half as well as the best ends the answer where its length is ours to choose.
DROP = 0.5
# Beside a hit that fits for sure, one that fits so much worse is noise, even where fewer hits than usual are left.
# Where nothing does, the nearest are given uncut, but few: across languages a question may be hardly near its answer.
NOISE, SURE, FEW = 0.22, 0.3, 5

STANDING_LINES, STANDING_TOKENS = 3, 120  # SPEC §4.5
LEAST_LINE = 60  # tokens; a line cut shorter says nothing
TAIL_TOKENS = 60  # a line's id, importance, source and label
HIGH, MEDIUM = 0.8, 0.4
LONGEST_EXCERPTED = 20_000  # characters; writing splits what is longer, so this only bounds the time
LONGEST_SESSION = 40
LONGEST_SPEAKER = 40

_BLANK = r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]"
_SPACE = re.compile(rf"{_BLANK}(?:(?<! ){_BLANK}*|{_BLANK}+)")  # all but a single space, which may stay
_OPENING = ("<", "\uff1c", "&lt")  # the second is full width
_BRACKETS = str.maketrans("<>\uff1c\uff1e", "\u2039\u203a\u2039\u203a")  # angle quotation marks in their place
_PARENTHESES = str.maketrans("()（）[]", "      ")
_SENTENCE = re.compile(r"[^.!?。！？；;\n]+[.!?。！？；;\n]*\s*")


@dataclass(frozen=True, slots=True)
class Block:
    """The context block, its length in tokens, and the ids of hits that it had no room for."""

    text: str
    tokens: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the block; what it costs, so that the block as a whole need not be counted again."""

    text: str
    cost: float

    @classmethod
    def of(cls, text: str) -> _Line:
        return cls(text, token_cost(text))

    @property
    def tokens(self) -> int:
        return _tokens(self.cost)


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
    for one in ranked:
        if len(chosen) == question.most:
            break
        if one.parts.relevance < _least(best, len(chosen), question):
            continue
        if different.is_new(one):
            chosen.append(one)
        else:
            repeated.append(one.entry.id)
    return Selection(tuple(chosen), tuple(repeated))


def _least(best: float, chosen: int, question: Question) -> float:
    """The relevance the next hit must have."""
    if question.counted:
        return 0.0
    sure = best >= SURE
    if chosen >= (question.fewest if sure else FEW):
        return DROP * best
    return NOISE * best if sure else 0.0


def pack(hits: Sequence[Hit], standing: Sequence[MemoryHit], question: Question, *, confident: bool) -> Block:
    """Write the block. Standing memories come first and are not repeated; long hits are cut to what was asked about."""
    upright = _standing_lines(standing)
    words = _main_language([hit.content for hit in (*standing, *hits)], question)
    rest = [hit for hit in hits if hit.memory_id not in upright]
    doubt = [] if hits and confident else [words.unsure if hits else words.nothing]
    # The doubt is about what follows it: a standing memory is no «nearest», unless it is all that was found.
    body = [*upright.values(), *doubt] if rest or not hits else [*doubt, *upright.values()]
    head = [f'{FENCE_OPEN} type="data">', words.data_only, *body]
    frame = token_cost("\n".join([*head, FENCE_CLOSE]))
    room = question.max_tokens - _tokens(frame + token_cost(words.left_out.format(count=len(hits))))
    lines, left_out = _lines(rest, room, question)
    tail = [words.left_out.format(count=len(left_out))] if left_out else []
    cost = frame + sum(line.cost for line in lines.values()) + sum(map(token_cost, tail))
    text = "\n".join([*head, *_grouped(rest, lines), *tail, FENCE_CLOSE])
    return Block(text, _tokens(cost), left_out)


def tokens_of(text: str) -> int:
    """Tokens of a text in any model's vocabulary, rather too many than too few."""
    return _tokens(token_cost(text))


def _tokens(cost: float) -> int:
    return math.ceil(whole_tokens(cost) * OTHER_VOCABULARIES)


def _standing_lines(standing: Sequence[MemoryHit]) -> dict[str, str]:
    """Lines of standing memories by id, as many as their slot holds; a long one is cut where others wait behind it."""
    lines: dict[str, str] = {}
    room = STANDING_TOKENS
    for place, hit in enumerate(standing):
        alone = not lines and place + 1 == len(standing)
        share = room if alone else min(room, LEAST_LINE)
        body = _body(hit)
        line = _line(hit, body, short=True)
        if tokens_of(line) > share >= LEAST_LINE:
            line = _line(hit, excerpt(body, share - tokens_of(_line(hit, "", short=True)), frozenset()), short=True)
        if len(lines) < STANDING_LINES and tokens_of(line) <= room:
            lines[hit.memory_id] = line
            room -= tokens_of(line)
    return lines


def _lines(hits: Sequence[Hit], room: int, question: Question) -> tuple[dict[str, _Line], tuple[str, ...]]:
    """A line for each hit within `room` tokens; a better hit may take up to twice an even share of what is left."""
    lines: dict[str, _Line] = {}
    asked = frozenset(question.terms)
    for place, hit in enumerate(hits):
        share = min(room, max(LEAST_LINE, 2 * room // (len(hits) - place)))
        body = _body(hit)
        line = _Line.of(_line(hit, body))
        if line.tokens > share:
            line = _Line.of(_line(hit, excerpt(body, share - TAIL_TOKENS, asked)))
        if line.tokens <= room:
            lines[hit.memory_id] = line
            room -= line.tokens
    return lines, tuple(hit.memory_id for hit in hits if hit.memory_id not in lines)


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
    session = _clean(hit.session_id or "").translate(_PARENTHESES).strip()[:LONGEST_SESSION]
    source = words.source.format(date=date, session=words.session.format(session=session) if session else "")
    note = words.note.format(warning=hit.warning) if hit.warning else ""
    return words.line.format(
        label=_label(hit, words),
        text=body,
        id=hit.short_id,
        importance=_importance(hit.importance, words),
        source=(date if short else source) + note,
    )


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
        return f"{_clean(speaker)[:LONGEST_SPEAKER]}{words.between}{text}"
    slot = hit.memory.body.slot if isinstance(hit, MemoryHit) and isinstance(hit.memory.body, Statement) else None
    return f"{words.slots[slot]}{words.between}{text}" if slot is not None and slot in words.slots else text


def _experience(experience: Experience, words: Wording) -> str:
    steps = " ".join(f"{number}. {step}" for number, step in enumerate(experience.action.steps, 1))
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


def excerpt(text: str, tokens: int, asked: frozenset[str]) -> str:
    """The part of a long text around the sentence that shares most with the question, within `tokens`."""
    sentences = _SENTENCE.findall(text[:LONGEST_EXCERPTED]) or [text]
    shared = [len(asked.intersection(index_terms(sentence))) for sentence in sentences]
    first = last = shared.index(max(shared))
    room = tokens - tokens_of(sentences[first])
    while True:
        # Onwards first: what follows explains more often than what went before.
        after = tokens_of(sentences[last + 1]) if last + 1 < len(sentences) else None
        if after is not None and after <= room:
            last, room = last + 1, room - after
            continue
        before = tokens_of(sentences[first - 1]) if first > 0 else None
        if before is None or before > room:
            break
        first, room = first - 1, room - before
    kept = _cut("".join(sentences[first : last + 1]).strip(), tokens)
    return f"{'…' if first > 0 else ''}{kept}{'…' if last < len(sentences) - 1 and not kept.endswith('…') else ''}"


def _cut(text: str, tokens: int) -> str:
    """The beginning of a text within `tokens`."""
    if tokens_of(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_of(text[:middle]) < tokens else (low, middle - 1)
    return f"{text[:low].rstrip()}…"
