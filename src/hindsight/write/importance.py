"""How much a statement matters, 0 to 1, and why: by kind and slot first, then by how it was said (SPEC §3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hindsight.domain.memory import Kind
from hindsight.write.extract import Candidate, Slot
from hindsight.write.sign import lowered, sign

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
    Slot.MEDICATION: 0.95,
    Slot.DIET: 0.85,
    Slot.NAME: 0.75,
    Slot.DEADLINE: 0.7,
    Slot.BIRTHDAY: 0.65,
    Slot.FAMILY: 0.65,
    Slot.RESIDENCE: 0.65,
    Slot.JOB: 0.65,
    Slot.PET: 0.6,
    Slot.AGE: 0.6,
    Slot.ORIGIN: 0.6,
    Slot.RELATION: 0.6,
    Slot.EDUCATION: 0.6,
    Slot.GOAL: 0.6,
    Slot.PROJECT: 0.6,
    Slot.PLAN: 0.55,
}
_REMARK = 0.25  # still above the 0.2 below which clean-up archives what is never used
_SPENT = 0.25  # what was only worth knowing until a day that has passed
_STEP = 0.1
_SWUNG_LEAST = 0.3  # above the 0.2 below which clean-up archives
REPEATED_STEP = 0.05
REPEATED_MOST = 0.8  # what is only said often stays below what endangers health

_HEALTH = sign(
    r"过敏|敏感体质|糖尿病|高血压|哮喘|心脏病|怀孕|药物|忌口|急救|癫痫|胰岛素|"
    r"\b(?:allerg(?:y|ic|ies)|diabet(?:es|ic)|asthma|epilep(?:sy|tic)|anaphyla\w+|pregnant|blood pressure|insulin|"
    r"medication|seizures?)\b",
    "过敏|敏感体质|糖尿病|高血压|哮喘|心脏病|怀孕|药物|忌口|急救|癫痫|胰岛素|"
    "allerg|diabet|asthma|epilep|anaphyla|pregnant|blood pressure|insulin|medication|seizure",
)
_STRESSED = sign(
    r"记住|重要|千万|务必|一定要|别忘|绝对|必须|！！|"
    r"\b(?:remember|important|crucial|critical|never forget|don['’]t forget|must|absolutely)\b|!!",
    "记住|重要|千万|务必|一定要|别忘|绝对|必须|！！|remember|important|crucial|critical|forget|must|absolutely|!!",
)
# Strength of feeling. Also how a danger is told from a nuisance («严重过敏»).
_STRONG = sign(
    r"最(?:爱|喜欢|讨厌|怕|恨|重要)|超级?(?:爱|喜欢|讨厌)|特别|非常|极其|极度|严重|致命|受不了|痛恨|热爱|深爱|终生|"
    r"一辈子|"
    r"\b(?:love[sd]?|ador(?:e|es|ed)|hate[sd]?|detests?|can['’]t stand|passionate|obsessed|terrified|favou?rite|"
    r"severe(?:ly)?|"
    r"deathly|life[- ]threatening|extremely|deeply)\b",
    "最爱|最喜欢|最讨厌|最怕|最恨|最重要|超爱|超喜欢|超讨厌|超级|特别|非常|极其|极度|严重|致命|受不了|痛恨|热爱|深爱|终生|一辈子|"
    "love|ador|hate|detest|t stand|passionate|obsessed|terrified|favorite|favourite|severe|deathly|threatening|"
    "extremely|deeply",
)
_MILD = sign(
    r"有点|有些|还行|偶尔|轻微|不太|一般般|\b(?:slight(?:ly)?|mild(?:ly)?|a bit|somewhat|occasionally|kind of|"
    r"sort of)\b",
    "有点|有些|还行|偶尔|轻微|不太|一般般|slight|mild|a bit|somewhat|occasionally|kind of|sort of",
)


@dataclass(frozen=True, slots=True)
class Importance:
    """The value and the reasons for it, as words for a person."""

    value: float
    reasons: tuple[str, ...]

    @property
    def reason(self) -> str:
        """The reasons in one line, as a receipt and the history give them."""
        return f"importance {self.value:g}: {', '.join(self.reasons)}" if self.reasons else ""


def _swung(value: float, swing: int) -> float:
    """What a language model makes of it: a step at most, neither up to what endangers health nor down from it."""
    if swing > 0:
        return max(value, min(REPEATED_MOST, value + _STEP))
    if swing < 0 and value < _BY_SLOT[Slot.DIET]:
        return min(value, max(_SWUNG_LEAST, value - _STEP))
    return value


def repeated(value: float) -> float:
    """The importance of what a person said once more: a step up, as far as `REPEATED_MOST`, and never lower."""
    return max(value, round(min(REPEATED_MOST, value + REPEATED_STEP), 2))


def weigh(
    candidate: Candidate, *, given: float | None = None, remark: bool = False, at: datetime | None = None
) -> Importance:
    """How much a candidate matters.

    `given` is the caller's own word, which counts alone; `remark` asks or greets; `at` is now: what was only worth
    knowing until a day before it has lost its worth.
    """
    if given is not None:
        return Importance(given, ("as given",))
    if candidate.importance is not None:
        return Importance(candidate.importance, candidate.reasons)
    if remark:
        return Importance(_REMARK, ("states nothing",))
    if at is not None and candidate.valid_to is not None and candidate.valid_to <= at:
        return Importance(_SPENT, (f"over since {candidate.valid_to.date().isoformat()}",))
    slot, low = candidate.body.slot, lowered(candidate.content)
    value, reasons = _BY_KIND[candidate.kind], [f"kind {candidate.kind.value}"]
    if slot in _BY_SLOT:
        value, reasons = _BY_SLOT[Slot(slot)], [f"about {slot}"]
    elif _HEALTH.stands_in(candidate.content, low):
        value, reasons = value + 2 * _STEP, [*reasons, "mentions health"]
    for change, reason in _manner(candidate.content, low, settled=value >= _BY_SLOT[Slot.DIET]):
        value, reasons = value + change, [*reasons, reason]
    if (swung := round(_swung(value, candidate.swing), 2)) != round(value, 2):
        value, reasons = swung, [*reasons, *candidate.reasons]
    if candidate.valid_to is not None:
        reasons.append(f"until {candidate.valid_to.date().isoformat()}")
    return Importance(round(min(1.0, max(0.0, value)), 2), tuple(reasons))


def _manner(content: str, low: str, *, settled: bool) -> list[tuple[float, str]]:
    """What the way a thing was said adds. `settled`: health and diet matter as much however they were said."""
    found: list[tuple[float, str]] = []
    if not settled and _STRESSED.stands_in(content, low):
        found.append((_STEP, "said with stress"))
    if _STRONG.stands_in(content, low):
        found.append((_STEP / 2, "strong feeling"))
    elif not settled and _MILD.stands_in(content, low):
        found.append((-_STEP / 2, "mild feeling"))
    return found
