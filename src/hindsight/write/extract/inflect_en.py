"""English verbs from the first person into the third: "am" → "is", "don't like" → "doesn't like", "love" → "loves"."""

from __future__ import annotations

import re

_IRREGULAR = {
    "am": "is", "'m": " is", "have": "has", "'ve": " has", "do": "does", "go": "goes", "are": "is", "'re": " is",
    "don't": "doesn't", "do not": "does not", "dont": "doesn't", "haven't": "hasn't", "am not": "is not",
    "'m not": " is not", "have not": "has not", "'s": " is", "'s not": " is not",
}  # fmt: skip
_BASE_VERBS = """
    live reside suffer take use work run study major attend own adopt speak know learn play drive ride want hope plan
    intend aim like love enjoy adore prefer hate dislike detest swim walk meditate read cook drink eat exercise train
    practice practise journal write visit volunteer do wake get teach bike cycle call watch jog stretch bake host
    commute travel hike clean post stream smoke vape collect spend need grow come go start skip sleep order wear fly
    gamble
"""
BASE = frozenset(_BASE_VERBS.split())


def third_person(verb: str, denial: str = "", middle: str = "") -> str:
    """ "am" → "is", "don't like" → "doesn't like", "love" → "loves"; past tense and modal verbs stay."""
    plain = verb.lower().replace("’", "'")
    if denial:
        denial = _IRREGULAR.get(re.sub(r"\s+", " ", denial.lower().replace("’", "'")), denial).strip()
        if denial in ("never", "no longer"):
            verb = _inflected(plain, verb)
        return " ".join(part for part in (denial, middle, verb) if part)
    return " ".join(part for part in (middle, _inflected(plain, verb)) if part)


def _inflected(plain: str, verb: str) -> str:
    if plain in _IRREGULAR:
        return _IRREGULAR[plain].strip()
    if plain not in BASE:
        return verb.replace("’", "'") if plain != "'ll" else "will"
    if plain.endswith(("s", "sh", "ch", "x", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", plain) else verb + "s"
