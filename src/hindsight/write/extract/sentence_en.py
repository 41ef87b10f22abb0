"""The shape of English sentences: where clauses break, what stands before a subject, what points outside a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hindsight.write.extract.patterns_en import TIME

MAX_CLAUSE = 160  # characters

SENTENCE = re.compile(
    r"(?:[^.!?;\n]|\.(?=\S)|(?<=\bDr)\.|(?<=\bMr)\.|(?<=\bSt)\.|(?<=\bMrs)\.|(?<=\b[ap]\.m)\.)+[.!?;\n]*"
)
TITLE = r"(?:(?-i:[A-Z])[\w’'-]+(?: (?-i:[A-Z])[\w’'-]+)?)"
_VOCATIVE = r"(?:(?-i:[A-Z])[a-z]+(?=\s*[,!]))"
LEAD = re.compile(
    rf"(?:\s|and\b|but\b|also\b|so\b|well\b|oh\b|hi\b|hey\b|hello\b|yeah\b|yes\b|yep\b|no\b|wow\b|sure\b|actually\b|"
    rf"by the way\b|btw\b|please\b|remember(?: that)?\b|note that\b|fyi\b|because\b|since\b(?= i\b)|plus\b|thanks\b|"
    rf"thank you\b|thx\b|haha\b|honestly\b|personally\b|anyway\b|ok(?:ay)?\b|as you know\b|you know\b|"
    rf"just so you know\b|for (?:the record|context|reference)\b|correction:?|{_VOCATIVE}|[,:!.–—*-])*",
    re.IGNORECASE,
)
WHEN = re.compile(rf"(?:{TIME}|in (?:19|20)\d\d|during [\w ]{{3,30}}),?\s+(?=(?:I\b|my\b|the user|\Z))", re.IGNORECASE)
_BREAK = re.compile(
    r"\s*(?:,|\band\b|\bbut\b)(?:\s*(?:and|but)\b)?\s+(?=(?:also\s+|now\s+|currently\s+|recently\s+)?(?:I\b|I['’]|"
    r"(?:the )?user\b|my\b|we\b|she\b|he\b|it\b|they\b|you\b|that\b|this\b|(?:live|lives|work|works|have|has|own|"
    r"owns|am|"
    r"is|like|likes|love|loves|hate|hates|prefer|prefers|enjoy|enjoys|dislike|dislikes|can['’]t|cannot|don['’]t|"
    r"doesn['’]t|"
    r"moved|suffer|suffers|speak|speaks|play|plays|drive|drives|take|takes|teach|teaches|study|studies|went|visited|"
    r"bought|"
    r"started|adopted|joined)\s))"
    r"|\s*,\s*so\s+|\s+so\s+(?=(?:I|we|it|he|she|they|that|the|you|my)\b)|\s*[,]?\s+(?:which|but|although|though|"
    r"because|while|whereas|until)\s+|\s+[-–—]+\s+|\s*[—–;]\s*|\s*:\s+|\s*\("
    # Two sentences that only a comma parts.
    r"|,\s+(?=(?:(?:the|things|life|work|everything|people) (?:\w+ )?(?:is|are|was|were|has|have)|"
    r"(?-i:[A-Z])\w+ (?:is|was|has|always|never|loves|likes))\b)"
    r"|,\s+(?=(?:and\s+)?(?:even|especially|plus|right|you know|like|[a-z]+ing)\b)",
    re.IGNORECASE,
)
# Words that point to something outside the clause, so that it does not stand alone.
_POINTING = re.compile(
    r"\b(?:it|its|it['’]s|this(?! (?:morning|afternoon|evening|week|weekend|month|year|spring|summer|autumn|fall|"
    r"winter|coming|"
    r"past|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|"
    r"september|october|november|december)\b)|that(?!['’]s| (?:is|was|are|were|has|have|i|can|helps?)\b)|that['’]s|"
    r"these(?! days)|"
    r"those|there|here|ones|you|your|yours|yourself|we|us|our|ours|such|the same|the other(?! day)|the (?:above|"
    r"following|"
    r"latter|former|first|second|third|last|next|previous|rest|whole thing|link|draft|version|plan|idea|"
    r"list|option|breakdown|approach|suggestion|suggestions|details|document)|another one|that one|one (?:of (?:them|"
    r"these|those)|too|"
    r"yet|at)|doing so|do so|etc|so far|stuff|things like)\b|…|\.\.\.",
    re.IGNORECASE,
)
_PERSONS = re.compile(r"\b(?:he|she|they|him|her|his|hers|them|their|theirs)\b", re.IGNORECASE)
CLOSING = re.compile(
    r"(?:\s*,?\s+(?:any ?more|at the moment|right now|these days|nowadays|at all|as well|either|so much|a lot|"
    r"very much|"
    r"too|now|lately|though|actually|btw|by the way|haha|lol|obviously|anyway|you know|for real|of course|for sure|"
    r"or something|"
    r"and stuff|really))+$",
    re.IGNORECASE,
)


def in_quotes(text: str, start: int, at: int) -> bool:
    """Whether a place lies inside a quotation, whose «I» is somebody else's."""
    before = text[start:at]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def clauses(sentence: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _BREAK.finditer(sentence):
        if WHEN.fullmatch(sentence[start : gap.start()].strip() + ", ") or LEAD.fullmatch(sentence, start, gap.start()):
            continue  # "Last week, I …": when, not what
        if gap.start() > start:
            yield start, gap.start()
        start = gap.end()
    yield start, len(sentence)


# A clause that ends so was cut off.
_OPEN_END = re.compile(
    r"\b(?:and|or|but|the|an?|to|with|of|is|are|was|were|for|from|in|at|on|my|some|very|really|so)$|"
    r"[,:]$",
    re.IGNORECASE,
)


def stands_alone(tail: str, own: bool) -> bool:
    return _POINTING.search(tail) is None and _OPEN_END.search(tail) is None and not (own and _PERSONS.search(tail))
