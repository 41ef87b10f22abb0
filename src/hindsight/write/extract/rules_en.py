"""English statements by rule: sentence → clauses → subject (own, or carried over) → one pattern for the predicate.

The same caution as in `rules_zh`: plain forms only, and a subject is carried only over clauses that were understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hindsight.domain.memory import Kind
from hindsight.write.extract import USER, Slot
from hindsight.write.extract.clause import Speaking, Understood, Who

MAX_CLAUSE = 160  # characters

_SENTENCE = re.compile(r"(?:[^.!?;\n]|\.(?=\S)|(?<=\bDr)\.|(?<=\bMr)\.|(?<=\bSt)\.|(?<=\bMrs)\.)+[.!?;\n]*")
_UNSURE = re.compile(
    r"\b(?:if|maybe|perhaps|might|could|would|used to|wish|suppose|imagine|pretend|unless|no longer|any ?more|"
    r"hopefully|"
    r"probably|not sure|when i was|as a kid|as a child|heard that|in case|until|kidding|joking|rumou?r)\b|['’]d\b",
    re.IGNORECASE,
)
_KIN = (
    r"wife|husband|son|daughter|mother|father|mom|mum|dad|brother|sister|grandmother|grandfather|grandma|grandpa|"
    r"girlfriend|boyfriend|partner|fianc[eé]e?|kid|baby|boss|roommate|cousin|uncle|aunt"
)
_OWN = "name|birthday|job|dog|cat|pet|favou?rite|hometown"
_REPORT = r"(?:\s+(?:says?|said|mentions?|mentioned|told (?:me|us)|tells (?:me|us))(?:\s+that)?\s+(?:he|she|they|I)\b)"
_WHO = re.compile(
    rf"(?P<word>(?:my|(?:the )?user['’]s)\s+(?:\w+\s+)?(?P<kin>{_KIN})\b|(?:my|(?:the )?user['’]s)"
    rf"(?=\s+(?:{_OWN})\b)|I\b|(?:the )?user\b)"
    rf"{_REPORT}?",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:\s|and\b|but\b|also\b|so\b|well\b|oh\b|hi\b|hey\b|hello\b|yeah\b|yes\b|no\b|actually\b|by the way\b|"
    r"btw\b|please\b|"
    r"remember(?: that)?\b|note that\b|fyi\b|because\b|since\b|[,:–—-])*",
    re.IGNORECASE,
)
_VERBS = (
    r"live|lives|work|works|have|has|own|owns|am|is|like|likes|love|loves|hate|hates|prefer|prefers|enjoy|enjoys|"
    r"dislike|"
    r"dislikes|can't|can’t|cannot|don't|don’t|doesn't|doesn’t|moved|suffer|suffers"
)
_BREAK = re.compile(
    rf"\s*(?:,|\band\b|\bbut\b)(?:\s*(?:and|but)\b)?\s+(?=(?:also\s+)?(?:I\b|(?:the )?user\b|my\b|(?:{_VERBS})\s))",
    re.IGNORECASE,
)

_BE = r"(?:['’]m|['’]s|am|is|are)"
_HAVE = r"(?:have|has|own|owns|['’]ve got|['’]ve|have got|has got|got)"
_ADVERBS = (
    r"(?:\s*(?:now|currently|still|just|really|absolutely|also|always|truly|actually|personally|definitely|very much|"
    r"especially|totally|both|both of us|recently|already|highly|severely|very|deeply|simply)\b)*\s*"
)
_NOT = r"(?P<no>not\s+|never\s+)?"
_COUNT = r"(?:(?:a|an|one|two|three|four|five|six|\d+|another|my own)\s+)?"
_ANIMAL = (
    r"dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|hamsters?|parrots?|turtles?|goldfish|guinea pigs?|horses?|"
    r"lizards?|snakes?|"
    r"pets?|corg(?:i|is)|labradors?|poodles?|beagles?|ferrets?|budgies?"
)
_ILLNESS = (
    r"diabetes|asthma|epilepsy|high blood pressure|hypertension|low blood pressure|celiac disease|"
    r"coeliac disease|arthritis|"
    r"migraines?|anemia|anaemia|heart disease|a heart condition|gout|eczema|depression|anxiety|adhd|ibs|"
    r"(?:an?\s+)?(?:[\w-]+\s+){1,2}(?:allergy|allergies|intolerance)"
)
_TRADE = (
    r"engineer|developer|programmer|doctor|nurse|teacher|professor|lawyer|accountant|designer|manager|student|"
    r"journalist|"
    r"editor|writer|author|translator|chef|driver|police officer|consultant|researcher|scientist|architect|analyst|"
    r"photographer|painter|actor|actress|singer|athlete|coach|freelancer|founder|pharmacist|pilot|dentist|vet|"
    r"veterinarian|"
    r"plumber|electrician|carpenter|farmer|banker|barista|librarian|therapist|psychologist|surgeon|artist|musician|"
    r"electrical engineer|firefighter|mechanic|realtor|salesperson|administrator|paramedic|counselor|social worker"
)
_NOT_A_THING = (
    r"(?!(?:it|its|it['’]s|that|this|these|those|their|all th[eo]se|them|him|her|you|your|how|what|when|where|"
    r"why|the way|the idea|the fact|"
    r"the sound|hearing|seeing|to think|to hear|to see|to know|to say|to help you|to believe|so|too|one|"
    r"doing that|to do that)\b)"
    r"(?!the\b[^,]*\b(?:you|your|ones?|above|below|earlier|first|second|last|previous|idea|plan|option|version)"
    r"\b)(?![^\w\"'“‘])"
)


@dataclass(frozen=True, slots=True)
class _Pattern:
    slot: Slot
    kind: Kind
    form: re.Pattern[str]


def _pattern(slot: Slot, kind: Kind, form: str) -> _Pattern:
    return _Pattern(slot, kind, re.compile(_ADVERBS + form, re.IGNORECASE))


_FACT, _CONSTRAINT, _PREFERENCE = Kind.FACT, Kind.CONSTRAINT, Kind.PREFERENCE
_PATTERNS = (
    _pattern(Slot.HEALTH, _CONSTRAINT, rf"{_BE}{_ADVERBS}{_NOT}{_ADVERBS}allergic to (?P<value>.{{2,60}})"),
    _pattern(Slot.HEALTH, _CONSTRAINT, rf"(?:{_HAVE}|suffers? from){_ADVERBS}(?P<value>(?:{_ILLNESS})\b.{{0,40}})"),
    _pattern(
        Slot.HEALTH,
        _CONSTRAINT,
        rf"{_BE}{_ADVERBS}{_NOT}(?:an?\s+)?(?P<value>(?:type [12] )?diabetic|asthmatic|pregnant|"
        rf"lactose[- ]intolerant|gluten[- ]intolerant|colou?r[- ]?blind|epileptic)",
    ),
    _pattern(
        Slot.DIET,
        _CONSTRAINT,
        rf"{_BE}{_ADVERBS}{_NOT}(?:an?\s+)?(?P<value>(?:strict |lifelong )?(?:vegetarian|vegan|"
        rf"pescatarian|kosher|halal))",
    ),
    _pattern(
        Slot.DIET,
        _CONSTRAINT,
        rf"(?P<no>can['’]?t|cannot|can not|don['’]?t|do not|doesn['’]?t|does not|never)\s+(?:eat|eats|"
        rf"drink|drinks|tolerate)\s+{_NOT_A_THING}(?P<value>.{{2,60}})",
    ),
    _pattern(
        Slot.RESIDENCE,
        _FACT,
        rf"(?:(?:live|lives|reside|resides)|{_BE}{_ADVERBS}(?:living|based)"
        rf"){_ADVERBS}in (?P<value>(?!the moment|fear|hope|peace|the past|an? world).{{2,60}})",
    ),
    _pattern(
        Slot.RESIDENCE,
        _FACT,
        r"(?:['’]ve\s+|have\s+|has\s+)?(?:just\s+|recently\s+)?moved to (?P<value>[A-Z].{1,60})",
    ),
    _pattern(
        Slot.ORIGIN,
        _FACT,
        rf"(?:{_BE}{_ADVERBS}(?:originally\s+)?from|was born in|come from|comes from|grew up in)"
        rf" (?P<value>[A-Z].{{1,60}})",
    ),
    _pattern(
        Slot.JOB,
        _FACT,
        (
            rf"(?:work|works){_ADVERBS}(?:at|for|as) (?P<value>(?!home|night|weekends|it|that|this|me|us|free|"
            r"hours).{2,60})"
        ),
    ),
    _pattern(Slot.JOB, _FACT, rf"{_BE}{_ADVERBS}(?:working (?:at|for|as)) (?P<value>(?!home|it|that|this).{{2,60}})"),
    _pattern(
        Slot.JOB,
        _FACT,
        rf"{_BE}{_ADVERBS}(?:an?\s+)(?P<value>(?:[\w-]+\s+){{0,3}}?(?:{_TRADE})\b(?:\s+(?:at|for|in|by)"
        rf"\s+.{{2,40}})?)",
    ),
    _pattern(
        Slot.PET,
        _FACT,
        rf"(?:{_HAVE}|adopted|"
        rf"['’]ve adopted){_ADVERBS}{_COUNT}(?P<value>(?:[\w-]+\s+){{0,2}}?(?:{_ANIMAL})"
        rf"\b(?:\s*,?\s*(?:named|called|and|at home|who|that)\b.{{0,60}})?)",
    ),
    _pattern(
        Slot.PET,
        _FACT,
        r"(?P<value>(?:dog|cat|pet)(?:['’]s name is|\s+is (?:named|called)|\s+named) .{2,30})",
    ),
    _pattern(
        Slot.NAME,
        _FACT,
        (
            rf"(?:(?:full |first |last )?name is|go by|goes by|{_BE}\s+(?:called|named))"
            r" (?P<value>[A-Z].{1,40})"
        ),
    ),
    _pattern(Slot.AGE, _FACT, rf"{_BE}{_ADVERBS}(?P<value>\d{{1,3}} years? old)"),
    _pattern(Slot.BIRTHDAY, _FACT, r"(?:birthday is|was born on)(?: on)? (?P<value>.{3,30})"),
    _pattern(
        Slot.FAMILY,
        _FACT,
        rf"{_HAVE}{_ADVERBS}{_COUNT}(?P<value>(?:[\w-]+\s+){{0,2}}?(?:{_KIN}|kids|sons|daughters|brothers|"
        rf"sisters|child|children|twins|siblings?|cousins)\b(?:\s*,?\s*(?:named|called|and|who)"
        rf"\b.{{0,60}})?)",
    ),
    _pattern(
        Slot.FAMILY,
        _FACT,
        rf"{_BE}{_ADVERBS}{_NOT}(?P<value>(?:happily )?(?:married|divorced|single|engaged|widowed)"
        rf"(?: to .{{2,40}})?)",
    ),
    _pattern(
        Slot.LIKE,
        _PREFERENCE,
        rf"(?:like|likes|love|loves|enjoy|enjoys|adore|adores|prefer|"
        rf"prefers){_ADVERBS} {_NOT_A_THING}(?P<value>.{{2,80}})",
    ),
    _pattern(
        Slot.LIKE,
        _PREFERENCE,
        rf"(?P<no>hate|hates|dislike|dislikes|can['’]?t stand|cannot stand|don['’]?t like|do not like|"
        rf"doesn['’]?t like|don['’]?t enjoy|don['’]?t love){_ADVERBS} {_NOT_A_THING}(?P<value>.{{2,80}})",
    ),
    _pattern(
        Slot.FAVOURITE,
        _PREFERENCE,
        r"favou?rite (?P<value>[\w ]{2,30} (?:is|are) (?!what|that|this|it\b).{2,60})",
    ),
)
# Only orders to an agent: among people «always», "must" and "make sure" comfort and suppose more often than they rule.
_ORDER = (
    "use|answer|reply|respond|write|speak|call|address|ask|tell|show|give|send|include|add|deploy|commit|push|"
    "merge|run|"
    "execute|delete|remove|start|stop|keep|put|format|translate|explain|summari[sz]e|check|confirm|verify|test|mention|"
    "suggest|recommend|book|schedule|order|share|store|save|remind|avoid|ignore|follow|cite|log|back up|restart|change|"
    "install|open|close|read|sign|end|begin|refer|review|round|wait|pay"
)
_RULE = re.compile(
    r"(?:please\s+)?(?:remember(?: to)?:?\s+)?"
    rf"(?P<value>(?:always|never|from now on|do not ever|don['’]t ever),?\s+(?:please\s+)?(?:{_ORDER})\b.{{2,140}})",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"\b(?:allerg|diabet|asthma|epilep|blood|disease|arthrit|migrain|an[a]?emia|heart|gout|eczema|depress|anxi|"
    r"adhd|ibs|pregnan|"
    r"intoleran|lactose|gluten|colou?r|vegetarian|vegan|pescatarian|kosher|halal|eat|drink|tolerate|liv|resid|"
    r"based|mov|from|born|come|"
    r"grew|work|have|has|own|got|['’]ve|adopt|name|call|years? old|birthday|married|divorced|single|engaged|"
    r"widowed|like|love|enjoy|"
    r"adore|prefer|hate|dislike|stand|favou?rite|always|never|from now on|i['’]?m an?|i am an?|is an?|"
    r"don['’]t ever|do not ever)|['’]ve got",
    re.IGNORECASE,
)


def read(text: str, speaking: Speaking) -> Iterator[Understood]:
    """The statements of a text, in order."""
    carried: Who | None = None
    for sentence in _SENTENCE.finditer(text):
        said = sentence[0].rstrip()
        if said.endswith("?") or not _ANY.search(said) or _UNSURE.search(said):
            carried = None
            continue
        if rule := _rule(said, sentence.start(), speaking):
            yield rule
            carried = None
            continue
        for start, end in _clauses(said.rstrip(".!; ")):
            found, carried = _understand(said, (start, end), sentence.start(), speaking, carried)
            if found is not None:
                yield found


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _BREAK.finditer(sentence):
        if gap.start() > start:
            yield start, gap.start()
        start = gap.end()
    yield start, len(sentence)


def _understand(
    sentence: str, extent: tuple[int, int], offset: int, speaking: Speaking, carried: Who | None
) -> tuple[Understood | None, Who | None]:
    """One clause, and the subject that the next one may take over."""
    start, end = extent
    lead = _LEAD.match(sentence, start, end)
    begin = lead.end() if lead else start
    if end - begin > MAX_CLAUSE:
        return None, None
    who, predicate_at, blocked = _subject(sentence, begin, end, speaking)
    subject = who or carried
    if subject is None or blocked:
        return None, None
    for pattern in _PATTERNS:
        match = pattern.form.fullmatch(sentence, predicate_at, end)
        if match is None:
            continue
        said = sentence[predicate_at:end]
        found = Understood(
            content=subject.word + (said if said[:1] in "'’ " else f" {said}"),
            start=offset + begin,
            end=offset + end,
            kind=pattern.kind,
            slot=pattern.slot,
            subject=subject.name,
            value=match["value"].strip(),
            negated=bool(match.groupdict().get("no")),
        )
        return found, subject if not subject.word.lower().startswith("my") or " " in subject.word else None
    return None, None


def _subject(sentence: str, begin: int, end: int, speaking: Speaking) -> tuple[Who | None, int, bool]:
    """The clause's own subject, where its predicate begins, and whether it speaks of one who is not to be noted."""
    match = _WHO.match(sentence, begin, end)
    if match is not None:
        word = match["word"]
        owner = USER if "user" in word.lower() else speaking.me
        if owner is None:
            return None, end, True
        return Who(word, f"{owner}'s {match['kin'].lower()}" if match["kin"] else owner), match.end(), False
    speaker = speaking.speaker
    if speaker and sentence.startswith(speaker, begin) and not sentence[begin + len(speaker) : end][:1].isalnum():
        return Who(speaker, speaker), begin + len(speaker), False
    return None, begin, False


def _rule(sentence: str, offset: int, speaking: Speaking) -> Understood | None:
    """A standing instruction to the agent: the whole sentence, as said."""
    if speaking.me is None or speaking.speaker is not None:
        return None
    text = sentence.rstrip(".!; ")
    begin = len(text) - len(text.lstrip())
    match = _RULE.fullmatch(text, begin)
    if match is None:
        return None
    return Understood(
        content=text[begin:],
        start=offset + begin,
        end=offset + len(text),
        kind=Kind.RULE,
        slot=Slot.RULE,
        subject="agent",
        value=match["value"],
    )
