"""Slot, value and turn of a claim, by the class of its predicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hindsight.language.statement.claim import LIGHT, SINGLE, Claim, Turn
from hindsight.language.statement.clauses import LED, PREDICATES, Clause
from hindsight.language.statement.words import Word

_MEASURES = {"year": "age", "kg": "weigh", "jin": "weigh", "pound": "weigh"}
_STUDENTS = frozenset({"student", "graduatestudent", "phdstudent"})
_ENDING_SLOTS = {"leave": "work", "sell": "have", "die": "die", "end": "end", "cancel": "cancel"}
_DRINKS = frozenset(["coffee", "tea", "greentea", "alcohol", "beer", "wine", "cola", "juice", "water", "milk"])
_DISTRICTS = "区县市镇村路街道里湾桥门园城寨屯"


def predicated(claim: Claim, clause: Clause, tail: list[Word]) -> Claim:
    """The claim with the relation that its predicate tells."""
    told = _predicated(claim, clause, tail)
    figures = all(kind == "code" or concept == "number" for concept, kind in told.kinds)
    # «我住三楼» says nothing of the town.
    return replace(told, slot="floor") if told.slot == "reside" and "floor" in told.units and figures else told


def _predicated(claim: Claim, clause: Clause, tail: list[Word]) -> Claim:
    predicate = clause.predicate
    if predicate is None:
        return _copula(claim, clause, tail)
    match predicate.kind:
        case "state":
            return _state(claim, predicate.concept)
        case "health":
            return replace(claim, slot="allergy", value=(*claim.value, *claim.dropped))
        case "end":
            return _end(claim, predicate.concept, tail)
        case "change":
            return _change(claim, clause, predicate.concept, tail)
        case "be":
            return _copula(claim, clause, tail)
        case _:
            return _verb(claim, predicate.concept, tail, clause)


def _state(claim: Claim, concept: str) -> Claim:
    slot, _, name = concept.partition(":")
    ended = name in ("retired", "jobless", "apart", "divorced")
    return replace(claim, slot=slot, value=(name, *claim.value), turn=Turn.ENDED if ended else claim.turn)


def _end(claim: Claim, concept: str, tail: Sequence[Word]) -> Claim:
    gone = (*claim.value, *claim.dropped)
    if concept == "leave" and claim.subject and not claim.owner and not claim.names:
        return replace(claim, slot="depart")  # "the train leaves at nine"
    if concept == "stop":
        inner = next((word for word in tail if word.kind == "verb" and word.concept not in LIGHT), None)
        slot = inner.concept if inner is not None else "stop"
        value = tuple(word for word in gone if word != slot)
        return replace(claim, slot=slot, value=value, negated=not claim.negated, turn=Turn.ENDED, dropped=())
    slot = _ENDING_SLOTS[concept]
    turn = Turn.CANCELLED if concept == "cancel" else Turn.ENDED
    return replace(claim, slot=slot, value=gone, negated=slot in ("work", "have"), turn=turn, dropped=())


def _change(claim: Claim, clause: Clause, concept: str, tail: Sequence[Word]) -> Claim:
    if claim.every and concept in ("switch", "move"):
        return claim  # «每年换一次轮胎»: a habit, and no news
    placed = any(word.kind in ("place", "name") or (word.kind == "word" and word.han) for word in tail)
    clocked = any(time[:2] == "wd" or (time[0] in "td" and time[1:2].isdigit()) for time in claim.times)
    person = bool(claim.owner) or not claim.subject
    if concept == "postpone" or (clocked and not placed and not claim.numbers):
        return replace(claim, slot="happen", turn=Turn.RESCHEDULED)
    if concept == "move":
        person = person or is_name(clause.subject) or set(claim.subject) <= {"they"}
        return replace(claim, slot="reside" if person else "in", turn=Turn.CHANGED)
    if concept == "join":
        return replace(claim, slot="work", turn=Turn.CHANGED)
    if concept == "rename":
        return replace(claim, slot="own_name", turn=Turn.CHANGED)
    inner = next((word for word in tail if word.kind == "verb"), None)
    slot = inner.concept if inner is not None and concept == "switch" else concept
    return replace(claim, slot=slot, value=tuple(one for one in claim.value if one != slot), turn=Turn.CHANGED)


def _copula(claim: Claim, clause: Clause, tail: Sequence[Word]) -> Claim:
    kinds = {kind for _, kind in claim.kinds}
    if (of_work := {"occupation", "work"} & set(claim.subject)) and "user" in claim.subject:
        subject = tuple(one for one in claim.subject if one not in of_work)
        return replace(claim, slot="work", subject=subject, owner=_whose(claim, subject, clause))
    if set(claim.subject) == {"user", "house"} and claim.value and (clause.located or _led_in(tail)):
        return replace(claim, slot="reside", subject=("user",), owner=_whose(claim, ("user",), clause))
    person = bool(claim.owner) or is_name(clause.subject)
    if "own_name" in claim.subject:
        subject = tuple(one for one in claim.subject if one != "own_name")
        return replace(claim, slot="own_name", subject=subject, owner=_whose(claim, subject, clause))
    if claim.numbers and (slot := next((_MEASURES[one] for one in claim.units if one in _MEASURES), None)):
        return replace(claim, slot=slot)
    if claim.owner and len(claim.numbers) == 1 and not claim.value and not claim.units and not claim.times:
        return replace(claim, slot="age")
    if claim.owner and claim.dropped and not claim.value:
        return replace(claim, slot="origin", value=claim.dropped, dropped=())  # "I am from Ghana"
    if person and _STUDENTS & set(claim.value):
        return replace(claim, slot="study")
    if person and "job" in kinds:
        return replace(claim, slot="work")
    if clause.located:
        return replace(claim, slot="reside" if claim.owner and _only_place(tail) else "in")
    return _participled(claim, clause.predicate, tail)


def _whose(claim: Claim, subject: tuple[str, ...], clause: Clause) -> str:
    """Whose name, work or home it is, where «my» or «the user's» is all that is left of the subject."""
    if subject != ("user",):
        return claim.owner
    return "user" if any(word.concept == "user" for word in clause.subject) else "i"


def _led_in(tail: Sequence[Word]) -> bool:
    first = next((word for word in tail if word.kind not in ("neg", "now")), None)
    return first is not None and first.concept == "in"


def _only_place(tail: Sequence[Word]) -> bool:
    """Whether nothing but a place is named, so that being there is living there: not «在上海出差»."""
    named = [word for word in tail if word.carries or word.kind in PREDICATES]
    return (
        bool(named)
        and named[0].kind == "place"
        and all(word.kind == "place" or (word.kind == "word" and word.text[-1] in _DISTRICTS) for word in named)
    )


def _participled(claim: Claim, predicate: Word | None, tail: Sequence[Word]) -> Claim:
    """«be» with a participle or adjective and its preposition: "was founded by" is a relation of its own."""
    first = next(iter(tail), None)
    if predicate is None or predicate.han or first is None or first.kind != "word":
        return claim
    led = tail[1] if len(tail) > 1 else None
    if led is None or led.kind != "func" or led.concept not in (*LED, "of"):
        return claim
    value = tuple(one for one in claim.value if one != first.concept)
    return replace(claim, slot=f"{first.concept}_{led.concept}", value=value, verbs=claim.verbs | {first.concept})


def _verb(claim: Claim, concept: str, tail: Sequence[Word], clause: Clause) -> Claim:
    if concept == "dislike":
        verbs = (claim.verbs - {"dislike"}) | {"like"}
        return replace(claim, slot="like", verbs=verbs)
    if clause.passive and not claim.value and not claim.numbers and concept not in SINGLE | LIGHT:
        return replace(claim, slot="be", value=(concept,), kinds=((concept, "verb"),))
    if concept == "have" and claim.past:
        claim = replace(claim, past=False)  # what was got is had
    if concept == "have" and any(word.kind == "health" for word in tail):
        return replace(claim, slot="allergy", value=tuple(one for one in claim.value if one != "allergy"))
    if concept == "have" and claim.kinds and claim.kinds[-1][1] == "food":
        return replace(claim, slot="drink" if claim.value[-1] in _DRINKS else "eat")
    if concept == "have" and (state := next((word for word in tail if word.kind == "state"), None)):
        value = tuple(one for one in claim.value if one != state.concept)
        return _state(replace(claim, value=value), state.concept)
    if concept == "suffer":
        return replace(claim, slot="have")
    if concept == "graduate":
        return replace(claim, slot="study", value=("graduate", *claim.value))
    if concept == "born" and any(time[0] == "m" for time in claim.times):
        return replace(claim, slot="birthday")
    return claim


def swapped(claim: Claim, clause: Clause) -> Claim:
    """ "Y is the author of X" as "the author of X is Y"."""
    rest = [word.text.lower() for word in clause.rest[:5]]
    if claim.slot != "be" or not is_name(clause.subject) or rest[:1] != ["the"] or "of" not in rest:
        return claim
    return replace(claim, subject=concepts_of(clause.rest), value=claim.subject)


def is_name(subject: Sequence[Word]) -> bool:
    named = [word for word in subject if word.kind != "func"]
    return bool(named) and all(word.kind in ("name", "word") and (word.proper or word.han) for word in named)


def concepts_of(found: Sequence[Word]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            "user" if word.kind in ("me", "my") else word.concept
            for word in found
            if word.kind in ("me", "my", "num", "verb", "other") or word.carries
        )
    )
