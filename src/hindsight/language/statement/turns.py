"""Claims that turn against what was said before: corrections, ends, changes, new times."""

from __future__ import annotations

from hindsight.language.statement.claim import LIGHT, SORTS, Claim, Turn
from hindsight.language.statement.moments import narrower, times_differ
from hindsight.language.statement.subjects import Subjects, has_figures, plain
from hindsight.language.statement.values import PURSUED, equal_values, overlap, same_facet, slots_meet
from hindsight.language.statement.verdict import Relation, Verdict, different, supersedes, unrelated

_ENDS: dict[str, frozenset[str]] = {
    "die": frozenset(["have", "reside", "work", "study", "own_name", "play", "like"]),
    "end": frozenset(["have", "use", "study", "work", "plan", "happen", "be"]),
    "work": frozenset({"work", "be", "lead"}),
    "have": frozenset(["have", "car", "use", "buy", "own_name", "be"]),
    "marital": frozenset({"marital", "like"}),
}
# What who keeps a diet does not eat: saying that they eat it ends the diet.
_FORBIDDEN = {
    "vegetarian": frozenset(["meat", "fish", "pork", "beef", "lamb", "chicken", "seafood", "shrimp", "crab", "steak"]),
    "vegan": frozenset(
        [
            "meat",
            "fish",
            "pork",
            "beef",
            "lamb",
            "chicken",
            "seafood",
            "shrimp",
            "crab",
            "steak",
            "egg",
            "milk",
            "dairy",
            "cheese",
        ]
    ),
}
# Doing these is how one likes a thing, unlike owning it, working with it or going there.
_PURSUITS = frozenset({"stop"} | PURSUED - {"like", "visit"} | {"ski", "dive", "hike", "sing", "cook"})
_DEGREES = frozenset({"student", "graduatestudent", "phdstudent", "undergraduate", "university"})


def ends_of(claim: Claim) -> frozenset[str]:
    """The slots whose statements a claim may end."""
    if claim.turn is None:
        return frozenset({"diet"}) if claim.slot == "eat" else frozenset()
    return _ENDS.get(claim.slot, frozenset({claim.slot}))


def corrected(a: Claim, b: Claim, subjects: Subjects) -> Verdict | None:
    if subjects is Subjects.OTHER and not (set(b.dropped) & set(a.value)):
        return None
    if set(b.dropped) & set(a.value) or slots_meet(a, b):
        if equal_values(a, b) and a.negated == b.negated:
            return None
        if a.negated == b.negated and not (a.single or b.single or b.dropped or a.slot == b.slot):
            return None
        return supersedes("a correction")
    return None


def moved_or_cancelled(a: Claim, b: Claim, subjects: Subjects) -> Verdict:
    thing = [word for word in b.subject if word not in _named(b)] if not b.owner else []
    spoken = {*thing[-3:]} or {*b.value, *b.dropped, *b.verbs}
    shared = (spoken & (a.content | a.verbs)) - LIGHT - _named(a) - _named(b) - {"user"}
    if not shared or (has_figures(plain(a.subject)) and has_figures(plain(b.subject)) and subjects is Subjects.OTHER):
        return unrelated("about something else")
    if b.negated:
        return different("it stays as it was")
    strangers = {name for name in b.names if name.isascii()} - a.content
    takes_place = a.times or a.planned or a.slot in _EVENTS or (a.slot in ("be", "in") and not a.owner)
    if a.slot in _NO_EVENTS or strangers or not takes_place:
        return unrelated("nothing that takes place")
    if a.turn is b.turn and a.times == b.times:
        return Verdict(Relation.SAME, "the same statement")
    if b.turn is Turn.RESCHEDULED and not (a.times and b.times):
        return different("no time to move")
    if times_differ(a.subject_times - b.times, b.subject_times) and b.turn is Turn.CANCELLED:
        return different("at another time")
    if a.past and a.times:
        return different("it is over already")
    return supersedes("moved to another time" if b.turn is Turn.RESCHEDULED else "cancelled", len(shared))


def replaced(a: Claim, b: Claim) -> Verdict | None:
    """Another subject, and yet its turn: «已迁移到 MySQL» after "the stack uses PostgreSQL", "npm no longer works"."""
    if b.turn is Turn.CHANGED and b.owner and not a.owner and types(a) & types(b):
        return supersedes("changed", len(a.content & b.content))
    out_of_use = b.turn is Turn.ENDED and b.slot == "work" and b.negated and not {"leave"} & b.verbs
    if out_of_use and not b.owner and overlap(set(b.subject), set(a.value)):
        return supersedes("it is no longer in use")
    return None


def outgrown(a: Claim, b: Claim) -> Verdict | None:
    """A state that cannot go on beside what is said: a student who has graduated, a vegetarian who eats meat."""
    if a.slot == b.slot == "study" and "graduate" in b.value and "graduate" not in a.value and not a.past:
        named = set(b.value) - {"graduate", "university"}
        if not named or overlap(named, set(a.value)) or not set(a.value) - _DEGREES:
            return supersedes("finished")
    if a.slot == "diet" and b.slot == "eat" and not (a.negated or b.negated or a.past):
        forbidden = _FORBIDDEN.get(a.value[0] if a.value else "", frozenset())
        return supersedes("the diet has ended") if forbidden & set(b.value) else different("another food")
    return None


def given_up(a: Claim, b: Claim, subjects: Subjects) -> Verdict | None:
    """What one no longer does is no longer liked: «喜欢咖啡», «再也不喝咖啡了». Only as wide as its words."""
    if a.slot != "like" or subjects is not Subjects.EQUAL or a.negated or a.past or not a.value:
        return None
    unknown = b.slot == "be" and not b.verbs  # «不刷短视频了»: a verb outside the lexicon, in one piece with its object
    stopped = b.turn is Turn.ENDED and "stop" in b.verbs
    if not b.negated or not (b.for_good or stopped) or not (b.slot in b.verbs & _PURSUITS or unknown):
        return None
    if (a.verbs & _PURSUITS) - {b.slot} and not unknown:
        return None  # liking to play is not ended by watching no more
    named = set(b.value)
    if unknown:
        named |= {word[1:] for word in b.value if len(word) > 2 and not word.isascii()}
    if not overlap({a.value[-1]}, named) or not (unknown or named <= set(a.value) or len(named) == 1):
        return None  # of another thing, or only of a sort of it: «冰咖啡»
    return different("denied for some times only") if narrower(a, b) else supersedes("given up")


def ended(a: Claim, b: Claim) -> Verdict | None:
    """An end: of what is named, or of the whole slot where nothing is."""
    if b.turn is not Turn.ENDED:
        return None
    if (a.turn is Turn.ENDED and a.slot == b.slot) or (a.past and a.times) or (a.negated and b.negated):
        return None
    ends = _ENDS.get(b.slot, frozenset({b.slot}))
    if (
        a.slot not in ends
        and not {a.slot} & b.verbs
        and b.slot not in a.verbs
        and not (b.slot == "stop" and set(b.value) & (set(a.value) | a.verbs | {a.slot}))
    ):
        return None
    if (a.every or a.slot in PURSUED) and narrower(a, b):
        return different("denied for some times only")
    named = {word for word in (*b.value, *(b.subject if b.slot == "die" else ())) if word not in ("user", "retired")}
    if b.slot == "die" and not plain(b.subject) & (a.content | {a.owner.rpartition("/")[2]}):
        return unrelated("about something else")
    if a.slot in ("be", "lead") and b.slot == "work" and not overlap(named, set(a.value)):
        return None
    if a.slot == "like" and a.value and named and not overlap({a.value[-1]}, named):
        return None  # «coffee cake» is no coffee
    if b.slot == "marital" or b.slot == "die" or not named or b.value[:1] == ("retired",):
        return supersedes("it has ended")
    if overlap(named, set(a.value) | a.verbs | {a.slot} | set(a.subject)) or (not a.value and b.slot != "end"):
        return supersedes("it has ended", None if a.slot == b.slot else len(named & set(a.value)))
    return None


def changed(a: Claim, b: Claim, subjects: Subjects) -> Verdict | None:
    """A change: away from what is named, or in the same slot, or of the same thing."""
    if b.turn is not Turn.CHANGED:
        return None
    if a.turn is Turn.ENDED and a.slot == b.slot == "work":
        return supersedes("changed")
    if a.turn is Turn.ENDED or a.past:
        return None
    if b.dropped and overlap(set(b.dropped), set(a.value)):
        return supersedes("changed")
    if (a.slot == "reside" and b.slot == "reside") or a.slot == "own_name" == b.slot:
        return None if equal_values(a, b) else supersedes("changed")
    if a.slot == "work" and b.slot in ("work", "switch"):
        if not same_facet(a, b):
            return None
        return None if equal_values(a, b) and b.value else supersedes("changed")
    if b.dropped and a.slot == "use":
        return different("another one was changed")
    if equal_values(a, b):
        return None
    return _changed_thing(a, b, subjects)


def _changed_thing(a: Claim, b: Claim, subjects: Subjects) -> Verdict | None:
    mine, theirs = types(a), types(b)
    if mine & theirs:
        return supersedes("changed", len(a.content & b.content))
    if mine and theirs:
        return different("another sort of thing")
    named = _named(a) | _named(b) | a.kin | b.kin
    shared = ((a.content | a.verbs) & (b.content | b.verbs)) - LIGHT - named
    about = (plain(a.subject) & (plain(b.subject) | set(b.value)) or (plain(b.subject) & set(a.value))) - named
    if subjects is Subjects.EQUAL and a.slot in LIGHT and a.single and a.subject:
        return supersedes("changed")
    if subjects is not Subjects.OTHER and (about or shared - {"use", "switch"}):
        return supersedes("changed", len(shared))
    if a.slot == b.slot and b.slot == "use" and not a.value[1:]:
        return supersedes("changed", 0)
    return None


# What is liked or feared is no event that could be called off.
_NO_EVENTS = frozenset({"like", "fear", "eat", "drink", "allergy", "own_name", "reside", "work"})
_EVENTS = frozenset({"happen", "visit", "plan", "meet", "study"})


def _named(claim: Claim) -> frozenset[str]:
    """Names it speaks of: that two statements name one person does not make them speak of one matter."""
    return claim.names | {concept for concept, kind in claim.kinds if kind == "name"}


def types(claim: Claim) -> frozenset[str]:
    return frozenset(kind for _, kind in claim.kinds) & SORTS
