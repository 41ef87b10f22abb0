"""Whether a later value of the same subject and slot takes the place of an earlier one."""

from __future__ import annotations

from hindsight.language.statement.claim import SINGLE, Claim
from hindsight.language.statement.clauses import KIN, LED, Clause
from hindsight.language.statement.predicates import is_name

_ONE_TIME = frozenset(
    [
        "found",
        "creat",
        "write",
        "develop",
        "perform",
        "produc",
        "compos",
        "direct",
        "design",
        "publish",
        "invent",
        "discov",
        "record",
        "broadcast",
        "own",
        "born",
        "die",
        "die_in",
        "build",
        "locat",
        "sit",
        "situat",
        "marital",
        "employ",
        "work",
        "educat",
        "study",
        "establish",
        "headquart",
    ]
)
# Of these there are always many, however the value is said: "I love the sound of rain".
_OPEN = frozenset(
    [
        "like",
        "fear",
        "eat",
        "drink",
        "read",
        "watch",
        "listen",
        "visit",
        "have",
        "buy",
        "use",
        "wear",
        "know",
        "meet",
        "see",
    ]
)
_MANY = frozenset(
    ["hobby", "skill", "son", "daughter", "friend", "colleague", "neighbour", "client", "illness", "animal"]
)
_ONLY = frozenset({"child"})  # «X's child is Y» speaks of the one there is
_FAME = frozenset({"famous", "known", "renown", "celebr"})


def is_single(claim: Claim, clause: Clause) -> bool:
    """Whether a later value of the same subject and slot takes the place of an earlier one."""
    slot = claim.slot
    many = any(
        word.concept not in _ONLY
        and (word.kind in ("kin-many", "animal") or (word.concept in _MANY and word.kind != "name"))
        for word in clause.subject
    )
    if slot in SINGLE:
        return slot != "own_name" or not many
    if clause.predicate is None and not clause.located and claim.value:
        return False  # a label with fields, or a list
    if slot in ("be", "in") or clause.predicate is None:
        return _defined(claim, clause) and not many
    root, _, led = slot.partition("_")
    texts = [word.text.lower() for word in clause.rest]
    if slot not in _OPEN and any(one == "the" and "of" in texts[at + 2 : at + 4] for at, one in enumerate(texts[:3])):
        return True  # "speaks the language of X", "born in the city of X": the one it has
    by = any(word.kind == "func" and word.concept == "by" and not word.han for word in clause.rest)
    if root in _FAME and led == "for":
        kinds = {kind for concept, kind in claim.kinds if concept in claim.value}
        return bool(kinds) and kinds <= {"name", "place", "company", "num"} and is_name(clause.subject)
    return (root in _ONE_TIME and (led in LED or by)) or slot.startswith("citizen")


def _defined(claim: Claim, clause: Clause) -> bool:
    """Whether the subject is one definite thing or one of somebody's: "the port", «我的工号»; not a bare name."""
    subject = clause.subject
    if claim.owner:
        return "/" in claim.owner and any(kind in ("name", "word") for _, kind in claim.kinds)
    if not any(word.carries or word.kind == "verb" for word in subject):
        return False
    definite = subject[0].text.lower() == "the" or any(
        word.kind == "my" or word.concept in ("poss", "of") or word.text == "的" for word in subject
    )
    things = any(word.kind in ("thing", "job") or word.kind in KIN for word in subject)
    return definite or (things and any(word.han for word in subject)) or _citizen(clause)


def _citizen(clause: Clause) -> bool:
    return any(word.concept == "citizen" for word in clause.rest[:3])
