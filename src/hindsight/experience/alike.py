"""Whether two experiences are for the same situation, so that what they do are two ways of one task.

Likeness of the triggers only proposes: look-alikes are as near as paraphrases are. What decides are the tests of
matching (another format, system, tool, goal: `language.situation`), the same names, numbers and sites, the same acts,
and that neither trigger says something of its own that the other replaces by something else. Only the last may be
doubted, and put to a language model (`experience.arbiter`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindsight.domain.experience import Experience, Trigger
from hindsight.language.fold import fold
from hindsight.language.operations import OPERATION_OF
from hindsight.language.situation import Situation, differences, read
from hindsight.language.stem import stem
from hindsight.write.closeness import closeness
from hindsight.write.vague import is_vague, without_any

BOUND = 0.9  # on the common scale of closeness (SPEC §5)
DOUBTFUL = 0.75  # from here up to the bound, or where only the wording tells them apart, a model may be asked
LEAST_PIECE = 2  # characters of a Chinese word
MOST_MORE = 3  # words or characters that the more special trigger may have beyond the general one

# Points (share of wording, closeness), joined by straight lines: where there is no model, wording stands in.
_WORDED, _PARAPHRASED = 0.6, 0.85
_ACTS = frozenset(("make", "drop", "change", "move", "not", "more", "less", "most", "least", "if"))
# Words for the same act, folded. Which act it is decides, not how it is called.
_SAME = tuple(
    (re.compile(forms), name)
    for forms, name in (
        (r"转[换化]?[成为]|转[换化]|变[成为]|转(?=[a-z ])", " convert "),
        (r"\b(?:convert|turn|transform)(?:s|ed|ing)?(?: it)?(?: (?:in)?to)?\b", " convert "),
        (r"删[除掉]|移除|清除", " delete "),
        (r"\b(?:deletes?|deleted|deleting|removes?|removed|removing|erases?)\b", " delete "),
        (r"安装|装上", " install "),
        (r"失败|不成功", " fail "),
        (r"\b(?:fails|failed|failing|failure)\b", " fail "),
        (r"超时", " timeout "),
        (r"\b(?:time[sd]? ?-?out|timing out)\b", " timeout "),
        (r"格式|\bformats?\b", " "),
    )
)
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_TOKEN = re.compile("[a-z]+|[\u3400-\u4dbf\u4e00-\u9fff]")


def likeness(one: str, other: str) -> float:
    """Closeness of two triggers by their wording, on the common scale."""
    ours, theirs = read(one).frame, read(other).frame
    share = 2 * len(ours & theirs) / max(1, len(ours) + len(theirs))
    if share <= _WORDED:
        return _PARAPHRASED * share / _WORDED
    return _PARAPHRASED + (1 - _PARAPHRASED) * (share - _WORDED) / (1 - _WORDED)


def by_meaning(model: str, cosine: float) -> float:
    """Closeness of two triggers by the cosine of their vectors, on the scale of the model."""
    return closeness(model, cosine)


def apart(one: Experience, other: Experience) -> str | None:
    """Why two experiences may not be merged, however alike their triggers are; `None` where nothing speaks against."""
    return look_alike(one, other) or _worded_apart(one.trigger.context, other.trigger.context)


def look_alike(one: Experience, other: Experience) -> str | None:
    """What makes one of two experiences a mere look-alike of the other, never to be merged; `None` where nothing."""
    if one.outcome.status is not other.outcome.status:
        return "one worked and the other failed"
    ours, theirs = read(one.trigger.context), read(other.trigger.context)
    if found := differences(ours, theirs):
        return f"another {', '.join(found)}"
    if ours.names != theirs.names:
        return "other names or numbers"
    if {name for name, _ in ours.formats} != {name for name, _ in theirs.formats} or ours.systems != theirs.systems:
        return "one names a format or system that the other does not"
    if _acts(ours) != _acts(theirs):
        return "another act"
    return None


def _worded_apart(one: str, other: str) -> str | None:
    mine, yours = words_of(one), words_of(other)
    if mine - yours and yours - mine:
        return "each says something that the other does not"
    if len(mine ^ yours) > MOST_MORE:
        return "one says much more than the other"
    return None


def words_of(context: str) -> frozenset[str]:
    """What a trigger says of its own: stems of its words, Chinese by character, without what any task has."""
    return frozenset(stem(token) if token.isascii() else token for token in _TOKEN.findall(_own(context)))


def covers(general: str, one: Experience, other: Experience) -> bool:
    """Whether a trigger says nothing but what two others say, and all that both say: no word, name, tool or act more.

    It is neither longer than the longer of them nor so general that it fits everything.
    """
    contexts = (one.trigger.context, other.trigger.context)
    if not general or "\n" in general or len(general) > max(map(len, contexts)) or is_vague(general):
        return False
    both = [Experience(Trigger(general), held.action, held.outcome) for held in (one, other)]
    if look_alike(both[0], one) or look_alike(both[1], other):
        return False
    said = words_of(general)
    mine, yours = map(words_of, contexts)
    if not mine & yours <= said <= mine | yours:
        return False
    # Characters alone would let new Chinese words be made of old ones («上云» of «云上»).
    held = [_own(context) for context in contexts]
    return all(_made_of(run, held) for run in _HAN.findall(_own(general)))


def _made_of(run: str, texts: Sequence[str]) -> bool:
    """Whether Chinese text is put together from pieces of two characters or more that stand in one of these texts."""
    reached = {0}
    for end in range(LEAST_PIECE, len(run) + 1):
        if any(start in reached and any(run[start:end] in text for text in texts) for start in range(end - 1)):
            reached.add(end)
    return len(run) in reached or any(run in text for text in texts)


def _own(context: str) -> str:
    told = without_any(fold(context))
    for form, name in _SAME:
        told = form.sub(name, told)
    return without_any(told)


def _acts(situation: Situation) -> frozenset[str]:
    return _ACTS & situation.operations & frozenset(OPERATION_OF.values())
