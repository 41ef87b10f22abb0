"""Sentences cut into clauses, and in each of them the subject, the predicate, the rest, times and denial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hindsight.language.statement.words import Word

PREDICATES = frozenset({"verb", "be", "state", "health", "end", "change"})
KIN = frozenset({"kin", "kin-many"})
LED = frozenset({"in", "for", "from", "with", "to", "by", "ba"})
_ENDS = frozenset(",，;；。.!！?？\n:：")
_DENIES_ON = frozenset({"no longer", "不再", "再也不", "再也没"})
_PARTICIPLE = [
    "ed",
    "en",
    "wn",
    "ing",
    "ght",
    "born",
    "built",
    "held",
    "set",
    "made",
    "led",
    "sold",
    "lost",
    "left",
    "got",
    "based",
    "run",
    "spent",
]  # endings, and whole words that end so
_NOT_PARTICIPLES = frozenset(
    [
        "need",
        "feed",
        "seed",
        "bed",
        "red",
        "speed",
        "open",
        "even",
        "often",
        "ten",
        "men",
        "women",
        "children",
        "kitchen",
        "garden",
    ]
)
_PAST_EN = frozenset(
    [
        "was",
        "were",
        "had",
        "did",
        "went",
        "ran",
        "bought",
        "saw",
        "met",
        "took",
        "came",
        "ate",
        "drank",
        "won",
        "got",
        "gave",
        "flew",
        "drove",
        "slept",
        "read",
        "taught",
        "wrote",
        "spoke",
        "built",
        "sold",
        "lost",
        "left",
    ]
)
# Denials of the thing itself; not of being able, having to, or wanting to, nor half ones («不太», "hardly").
_FULL_DENIALS = frozenset(
    [
        "不",
        "没",
        "从不",
        "从来不",
        "再也不",
        "再也没",
        "不再",
        "not",
        "no",
        "never",
        "don't",
        "doesn't",
        "no longer",
        "'t",  # of "don't"
    ]
)
_HALF_WORDS = """
    想,要,想要,会,能,能够,可以,可,需要,应该,经常,常常,总是,一直,太,更,再,暂时,
    can,could,able,should,must,may,might,want to,about to,need,plan,intend,
    much,too much,so much,a lot,often,usually,always
"""
_HALF_DENIED = frozenset(word.strip() for word in _HALF_WORDS.split(","))
_NOWADAYS = frozenset(["now", "nowadays", "by now", "since then", "现在", "如今"])
_PARTICLES_ZH = frozenset("啊呢吧呀嘛哦啦")
_SET_ASIDE = frozenset({"time", "every", "now", "past", "correct", "neg", "modal"})


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. `predicate` may be missing; times, adverbs and denials are not among `subject` and `rest`."""

    subject: tuple[Word, ...]
    predicate: Word | None
    rest: tuple[Word, ...]
    led: tuple[Word, ...] = ()  # of the value, before the predicate: «在百度», «从上海», «和小雨»
    times: frozenset[str] = frozenset()
    subject_times: frozenset[str] = frozenset()
    every: frozenset[str] = frozenset()
    negated: bool = False
    no_longer: bool = False
    now: bool = False
    past: bool = False
    planned: bool = False
    also: bool = False
    for_good: bool = False
    passive: bool = False
    located: bool = False  # «在», "in" stands where a predicate would
    only_denies: bool = False
    verbs: frozenset[str] = frozenset()

    @property
    def words(self) -> tuple[Word, ...]:
        """Subject, predicate and rest in order."""
        middle = (self.predicate,) if self.predicate is not None else ()
        return (*self.subject, *self.led, *middle, *self.rest)


def clauses(found: Sequence[Word]) -> list[Clause]:
    """The clauses of a sentence, in order."""
    return [_clause(part) for part in _parts(found)]


def _parts(found: Sequence[Word]) -> list[list[Word]]:
    """Cut at stops, and at «and» or "but" where another predicate begins."""
    parts: list[list[Word]] = [[]]
    for at, word in enumerate(found):
        if word.kind == "stop" and word.text in _ENDS:
            parts.append([])
            continue
        joins = word.kind == "func" and word.concept in ("and", "but") and _begins(found, at + 1)
        if joins and any(one.kind in PREDICATES for one in parts[-1]):
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if any(one.carries or one.kind in PREDICATES or one.kind == "num" for one in part)]


def _begins(found: Sequence[Word], at: int) -> bool:
    rest = [one for one in found[at : at + 4] if one.kind not in ("now", "modal", "neg") and one.concept != "degree"]
    if not rest:
        return False
    first = rest[0]
    if first.kind in ("end", "change") or (first.kind == "verb" and not first.text.lower().endswith("ing")):
        return not first.han or len(rest) > 1
    return first.kind in ("me", "my") and any(one.kind in PREDICATES for one in rest[1:])


def _clause(part: Sequence[Word]) -> Clause:
    part = [_liked(word) for word in part]
    kept = [word for word in part if word.kind not in _SET_ASIDE and word.concept not in ("degree", "also")]
    at = _predicate(kept)
    at, helped = _past_helpers(kept, at)
    subject, moved, located = _subject(
        [word for word in kept if word not in helped], None if at is None else at - len(helped)
    )
    predicate = kept[at] if at is not None else None
    rest = kept[at + 1 :] if at is not None else moved
    denials = [word for word in part if word.kind == "neg" or word.text.lower() in _DENIES_ON or _disliked(word)]
    place = part.index(predicate) if predicate is not None else len(part)
    helpers = {word.concept for word in helped}
    return Clause(
        subject=tuple(subject),
        predicate=predicate,
        rest=tuple(rest),
        led=tuple(moved) if at is not None else (),
        times=frozenset(word.concept for word in part if word.kind == "time"),
        subject_times=frozenset(word.concept for word in part[:place] if word.kind == "time"),
        every=frozenset(word.concept for word in part if word.kind == "every"),
        negated=sum(1 for _ in denials) % 2 == 1,
        no_longer=any(word.concept == "anymore" for word in part),
        now=any(word.kind == "now" for word in part) or part[-1].text == "了" or "happen" in helpers,
        past=_is_past(part, predicate, helped),
        planned="plan" in helpers or (predicate is not None and predicate.concept == "plan"),
        also=any(word.concept == "also" for word in part),
        for_good=_for_good(part, denials),
        passive=any(word.kind == "be" and not word.han for word in helped),
        located=located,
        only_denies=part[0].kind == "neg" and (predicate is None or (predicate.kind == "be" and not subject)),
        verbs=frozenset(word.concept for word in part if word.kind in PREDICATES),
    )


def _for_good(part: Sequence[Word], denials: Sequence[Word]) -> bool:
    """Whether something is denied from now on and without end: «再也不», "no longer", "never again", «不…了»."""
    if not denials or not all(_written(word) in _FULL_DENIALS for word in denials):
        return False
    spoken = {_written(word) for word in part}
    if spoken & _HALF_DENIED:
        return False
    if any(word.kind == "now" and word.concept == "now" and word.text.lower() not in _NOWADAYS for word in part):
        return False  # «最近», "at the moment": for a while
    ends = [word.text for word in part if word.text not in _PARTICLES_ZH][-1:]
    again = "never" in spoken and "again" in spoken
    return again or ends == ["了"] or any(word.concept == "anymore" for word in part)


def _written(word: Word) -> str:
    """A word as one writes it: "don't" comes in two pieces."""
    return word.text.lower().replace(" '", "'").replace(" ’", "'").replace("’", "'")


def _disliked(word: Word) -> bool:
    return word.concept == "dislike"


def _liked(word: Word) -> Word:
    """«讨厌», "hate": the verb of liking, which a denial turns round."""
    return replace(word, kind="verb") if _disliked(word) else word


def _is_past(part: Sequence[Word], predicate: Word | None, helped: Sequence[Word]) -> bool:
    """Whether it tells of something over and done: «去过», "went", "used to"."""
    if any(word.kind == "past" for word in part):
        return True
    if predicate is None:
        return False
    if predicate.han:
        place = part.index(predicate)
        after = part[place + 1].text if place + 1 < len(part) else ""
        timed = any(word.kind == "time" for word in part)
        return predicate.text.endswith("过") or after == "过" or (after == "了" and timed and place + 2 < len(part))
    first = helped[0].text.lower() if helped else predicate.text.lower()
    if first in ("was", "were", "had"):
        return True
    return not helped and (first in _PAST_EN or (predicate.kind == "verb" and first.split(" ")[0].endswith("ed")))


def _predicate(kept: Sequence[Word]) -> int | None:
    found = [at for at, word in enumerate(kept) if word.kind in PREDICATES and _can_be(kept, at)]
    if not found:
        return _unknown_verb(kept)
    if any(word.kind == "rel" or word.text == "that" for word in kept[1 : found[0]]):
        copulas = [at for at in found if kept[at].kind == "be"]
        return copulas[-1] if copulas else found[-1]
    for at in found[1:]:
        if kept[at].han and kept[at].concept in ("cancel", "postpone", "end"):
            return at  # «下周的爬山活动取消了»
        # «测试环境的端口是…», «我写代码用的是…»: what stands before «的…是» is the subject's own.
        if kept[at].han and kept[at].kind == "be" and any(word.text == "的" for word in kept[found[0] + 1 : at]):
            return at
    return found[0]


def _unknown_verb(kept: Sequence[Word]) -> int | None:
    """A word outside the lexicon that stands and ends as English verbs do: "I commute", "Paul resides"."""
    for at in range(1, len(kept)):
        word, before = kept[at], kept[at - 1]
        if word.kind != "word" or word.han or word.proper or before.han:
            continue
        text = word.text.lower()
        ending = text.endswith(("ed", "s")) and not text.endswith(("ss", "us", "is"))
        if before.kind == "me" or ((before.carries or before.kind == "num") and ending):
            return at
    return None


def _can_be(kept: Sequence[Word], at: int) -> bool:
    """Whether a word of a predicate's class is one here: in "the launch" and «用的» it is not."""
    word = kept[at]
    if word.han:
        after = kept[at + 1 : at + 2]
        return not (word.kind == "verb" and after and after[0].text == "的" and at + 2 < len(kept))
    if word.kind == "be":
        return not word.proper
    if word.proper and at > 0:
        return False
    if at + 1 < len(kept) and kept[at + 1].kind == "be" and not kept[at + 1].han:
        return False  # "tests are run": what is said to be something is a noun
    return not _is_noun(kept, at)


def _is_noun(kept: Sequence[Word], at: int) -> bool:
    """Whether an English verb form stands where a noun does: after an article, or agreeing with none before it."""
    text = kept[at].text.lower().split(" ")[0]
    for place in range(at - 1, -1, -1):
        before = kept[place]
        if before.kind == "my" or before.concept in ("the", "poss"):
            if place == at - 1:
                return True
            if kept[at - 1].kind in KIN:
                return False
            agrees = text.endswith(("s", "ed")) or text in _PAST_EN or kept[at - 1].text.lower().endswith("s")
            return not agrees and text not in ("run", "have")
        if before.kind in PREDICATES or before.kind in ("func", "me") or before.han:
            return False
    return False


def _past_helpers(kept: Sequence[Word], at: int | None) -> tuple[int | None, list[Word]]:
    """From a helper to the predicate it helps: "have moved", "is married", «打算去», "started eating"."""
    helped: list[Word] = []
    while at is not None and at + 1 < len(kept):
        word = kept[at]
        next_at = at + 1
        if kept[next_at].concept == "to" and word.concept in ("plan", "happen", "use", "have", "like", "allow"):
            next_at += 1
        skips = word.concept in ("be", "have", "happen", "start_again")
        while skips and next_at < len(kept) - 1 and kept[next_at].text.lower() in ("a", "an", "got"):
            next_at += 1
        if next_at >= len(kept):
            break
        then = kept[next_at]
        if not _helps(word, then, plain=next_at == at + 1):
            break
        helped.append(word)
        at = next_at
    return at, helped


def _helps(word: Word, then: Word, *, plain: bool) -> bool:
    if word.kind == "be" and not word.han:
        return (
            then.kind in ("state", "health", "end", "change")
            or then.concept in ("fear", "like", "origin")
            or (then.kind in ("verb", "be") and is_participle(then))
        )
    if word.kind == "be" and then.kind == "state":
        return True  # «是素食者»
    if word.concept == "have" and not word.han:
        return then.kind in ("state", "health") or (
            plain and (then.kind in ("be", "change", "end") or (then.kind == "verb" and is_participle(then)))
        )
    if word.concept == "happen":
        return then.kind in ("verb", "change") and (not word.han or word.text == "开始")
    if word.concept == "plan":
        return then.kind in PREDICATES
    return word.concept == "start_again" and then.kind in PREDICATES


def is_participle(word: Word) -> bool:
    """Whether an English word has the form of a participle."""
    text = word.text.lower().split(" ")[0]
    return not word.han and text not in _NOT_PARTICIPLES and text.endswith(tuple(_PARTICIPLE))


def _subject(kept: Sequence[Word], at: int | None) -> tuple[list[Word], list[Word], bool]:
    """Words of the subject; those before the predicate that belong to its value («在百度»); whether «在» leads."""
    before = list(kept[: len(kept) if at is None else at])
    for place, word in enumerate(before):
        if word.kind == "func" and word.concept in LED and (word.han or at is None):
            return before[:place], before[place + (at is None) :], word.concept == "in" and at is None
        if word.han and word.concept == "and" and place and at is not None and before[0].kind in ("me", "my"):
            return before[:place], before[place + 1 :], False
    if at is None:
        people = [word for word in before if word.kind in ("me", "my", *KIN)]
        if people:
            return people, [word for word in before if word not in people], False
        figures = [word for word in before if word.kind in ("num", "unit")]
        return [word for word in before if word not in figures], figures, False
    if any(word.kind == "me" for word in before) and any(word.kind == "name" for word in before):
        return [word for word in before if word.kind != "name"], [word for word in before if word.kind == "name"], False
    return before, [], False
