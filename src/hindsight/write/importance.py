"""How much a statement matters, 0 to 1, and why: by kind and slot first, then by how it was said (SPEC §3.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hindsight.domain.memory import Kind
from hindsight.write.extract import Candidate, Slot

DEFAULT = 0.5

_BY_KIND = {
    Kind.CONSTRAINT: 0.8,
    Kind.RULE: 0.75,
    Kind.PREFERENCE: 0.6,
    Kind.RELATION: 0.6,
    Kind.SUMMARY: 0.5,
    Kind.FACT: 0.5,
    Kind.EVENT: 0.4,
    Kind.EXPERIENCE: 0.5,
}
_BY_SLOT = {
    Slot.HEALTH: 0.95,
    Slot.DIET: 0.85,
    Slot.NAME: 0.75,
    Slot.BIRTHDAY: 0.65,
    Slot.FAMILY: 0.65,
    Slot.RESIDENCE: 0.65,
    Slot.JOB: 0.65,
    Slot.PET: 0.6,
    Slot.AGE: 0.6,
    Slot.ORIGIN: 0.6,
}
_REMARK = 0.25  # still above the 0.2 below which clean-up archives what is never used
_STEP = 0.1

_HEALTH = re.compile(
    r"过敏|敏感体质|糖尿病|高血压|哮喘|心脏病|怀孕|药物|忌口|急救|"
    r"\b(?:allerg(?:y|ic|ies)|diabet(?:es|ic)|asthma|epilep(?:sy|tic)|anaphyla\w+|pregnant|blood pressure|"
    r"medication)\b",
    re.IGNORECASE,
)
_STRESSED = re.compile(
    r"记住|重要|千万|务必|一定要|别忘|绝对|！！|"
    r"\b(?:remember|important|crucial|critical|never forget|don['’]t forget|must|absolutely)\b|!!",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Importance:
    """The value and the reasons for it, as words for a person."""

    value: float
    reasons: tuple[str, ...]


def weigh(candidate: Candidate, *, given: float | None = None, remark: bool = False) -> Importance:
    """How much a candidate matters. `given` is the caller's own word, which counts alone; `remark` asks or greets."""
    if given is not None:
        return Importance(given, ("as given",))
    if candidate.importance is not None:
        return Importance(candidate.importance, candidate.reasons)
    if remark:
        return Importance(_REMARK, ("states nothing",))
    value, reasons = _BY_KIND[candidate.kind], [f"kind {candidate.kind.value}"]
    slot = getattr(candidate.body, "slot", None)
    if slot in _BY_SLOT:
        value, reasons = _BY_SLOT[Slot(slot)], [f"about {slot}"]
    elif _HEALTH.search(candidate.content):
        value, reasons = value + 2 * _STEP, [*reasons, "mentions health"]
    if value < _BY_SLOT[Slot.DIET] and _STRESSED.search(candidate.content):
        value, reasons = value + _STEP, [*reasons, "said with stress"]
    return Importance(round(min(1.0, value), 2), tuple(reasons))
