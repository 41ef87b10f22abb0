"""English statements by rule: sentence → clauses → subject (own, or carried over) → verb → a pattern for what follows.

Plain forms only: a missed fact is still found word for word, a wrong one misleads. A subject is carried only over
clauses that were themselves understood, so what is said of a friend does not fall to the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hindsight.domain.memory import Kind
from hindsight.language.fold import fold
from hindsight.write.extract import USER, Slot
from hindsight.write.extract.clause import Pattern, Speaking, Subject, Understood, Who
from hindsight.write.extract.inflect_en import BASE, third_person
from hindsight.write.extract.patterns_en import (
    EVENTS,
    HABITS,
    KIN,
    KIN_FORM,
    LIMITS,
    PETS,
    SHARED,
    STATES,
    THINGS_SAID,
)
from hindsight.write.extract.sentence_en import (
    CLOSING,
    LEAD,
    MAX_CLAUSE,
    SENTENCE,
    TITLE,
    WHEN,
    clauses,
    in_quotes,
    stands_alone,
)
from hindsight.write.extract.things_en import of_thing, of_work
from hindsight.write.extract.voice import USER_EN, english, me, relative

_UNSURE = re.compile(
    r"\b(?:if|maybe|perhaps|might|could|would|used to|wish|suppose|imagine|pretend|unless|hopefully|probably|not sure|"
    r"when i was|as a kid|as a child|heard that|in case|kidding|joking|rumou?r|supposedly|apparently|almost|"
    r"nearly|thought|dreamt|dreamed|should)\b|['’]d\b",
    re.IGNORECASE,
)
_REPORT = r"(?:\s+(?:says?|said|mentions?|mentioned|told (?:me|us)|tells (?:me|us))(?:\s+that)?\s+(?:he|she|they|I)\b)"
_OWN = "|".join(sorted(THINGS_SAID, key=len, reverse=True))
_WHO = re.compile(
    rf"(?P<i>I)\b(?!['’.]?(?-i:[A-Z])){_REPORT}?"
    rf"|(?P<third>(?:the )?user)\b(?!['’]s){_REPORT}?"
    rf"|(?P<owner>my|(?:the )?user['’]s)\s+(?:(?:\w+\s+)?(?P<kin>{KIN_FORM})(?P<called>,"
    rf"? {TITLE},?)?(?={_REPORT}?[ '’])"
    rf"(?!\s+and\b){_REPORT}?"
    rf"|(?P<pet>{PETS})(?P<petname>,? {TITLE},?)?(?=['’ ])"
    rf"|(?P<favourite>favou?rite)\b(?=\s)"
    rf"|(?P<thing>{_OWN})\b(?=\s+(?:is|are|was)\b|['’]s\b))"
    rf"|(?P<due>(?:the|our|my) (?:[\w-]+ ){{0,3}}?(?:deadline|release date|launch date|due date|code name|"
    rf"budget)(?: (?:for|of)"
    rf" [\w -]{{2,40}}?)?)(?=['’ ](?:s |is |was moved to )(?!\w+ing\b))"
    rf"|(?P<shared>(?:our|my|the user['’]s)(?: [\w-]+)? (?P<noun>{SHARED}))\b(?!['’]s)"
    rf"|(?P<we>we)\b"
    rf"|(?P<name>{TITLE})(?=\s)",
    re.IGNORECASE,
)
_NO_NAME_WORDS = """
    he she it we they you this that these those there here what who where when why how which my our your his her their
    its the a an and but or so if as at by for from in of on to with no yes not all any some each both every everyone
    everything everybody nobody nothing someone somebody something anyone anything one two three people life work thanks
    thank hi hey hello well now then today tomorrow yesterday also just only even still please maybe monday tuesday
    wednesday thursday friday saturday sunday january february march april may june july august september october
    november december let dear good great nice sure being having doing going
"""
_NO_NAME = frozenset(_NO_NAME_WORDS.split())
_ADVERB = re.compile(
    r"\s*(?:now|currently|still|just|really|absolutely|also|always|truly|actually|personally|definitely|especially|"
    r"totally|"
    r"both|recently|already|highly|severely|very|deeply|simply|finally|usually|often|generally|mostly|even|only|"
    r"officially|"
    r"basically|normally|typically|slightly|mildly|deathly|seriously|constantly|sometimes|regularly|completely|"
    r"strongly|"
    r"particularly|kind of|pretty|quite|so|all|too|super|extremely|more|at the moment|these days|"
    r"(?:yesterday|today|last (?:week|month|year|night))(?!['’]),?)\b",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"\s*(?P<not>(?:do|does)\s*n['’]?t\b|do not|does not|never|no longer|can['’]?t|cannot|can not|(?:am|is|are) not|"
    r"isn['’]t|"
    r"aren['’]t|not|['’]m not|['’]s not|haven['’]t|hasn['’]t|have not)?"
    r"(?P<between>(?:\s*(?:really|ever|even|actually|usually|currently|particularly|particularly|exactly|yet))*)"
    r"\s*(?P<verb>['’](?:m|ve|s|ll|re)\b|[A-Za-z]+(?!['’]t|[A-Za-z]))?",
    re.IGNORECASE,
)
_FIRST_PERSON = frozenset(("am", "'m", "have", "are", "'re", "'ve"))
_PRESENT_ONLY = frozenset(("am", "is", "are", "'m", "'s", "'re", "have", "has", "'ve"))
# Only orders to an agent: among people «always», "must" and "make sure" comfort and suppose more often than they rule.
_ORDER = (
    "use|answer|reply|respond|write|speak|call|address|ask|tell|show|give|send|include|add|deploy|commit|push|merge|"
    "run|"
    "execute|delete|remove|start|stop|keep|put|format|translate|explain|summari[sz]e|check|confirm|verify|test|mention|"
    "suggest|recommend|book|schedule|order|share|store|save|remind|avoid|ignore|follow|cite|log|back up|restart|change|"
    "install|open|close|read|sign|end|begin|refer|review|round|wait|pay|provide|assume|convert|return|quote|link|create"
)
_RULE = re.compile(
    r"(?:please,?\s+)?(?:remember(?: to)?:?\s+)?"
    rf"(?P<value>(?:always|never|from now on|in (?:the )?future|going forward|do not ever|don['’]t ever|no matter what|"
    rf"(?:whenever|every time|when|before|after|if) (?!I (?:was|had|got|went))[^,]{{3,60}}, (?:always|never|"
    rf"please)),?\s+"
    rf"(?:please\s+|always\s+|never\s+|don['’]t\s+|do not\s+|you (?:should|must)\s+)*(?:{_ORDER})\b.{{2,140}})",
    re.IGNORECASE,
)
_WORTH = re.compile(
    r"\b(?:[Ii]|[Mm]y|[Oo]ur|[Ww]e|user)\b|always|Always|never|Never|rom now on|future|forward|every|Every|[Ww]hen|"
    r"before|after|"
    r"[A-Z][a-z]+ "
)


def _by_verb(patterns: tuple[Pattern, ...]) -> dict[str, tuple[Pattern, ...]]:
    verbs = {verb for pattern in patterns for verb in pattern.verbs}
    return {verb: tuple(one for one in patterns if verb in one.verbs) for verb in verbs}


_SAID = _by_verb((*EVENTS[:1], *STATES, *EVENTS[1:]))
_LIMITED = _by_verb(LIMITS)
_USUALLY = _by_verb(HABITS)
_USUAL = re.compile(r"\b(?:usually|normally|typically|always|generally)\b", re.IGNORECASE)


def read(text: str, start: int, end: int, speaking: Speaking) -> Iterator[Understood]:
    """The statements of characters `[start, end)` of a text, in order."""
    carried: Who | None = None
    for sentence in SENTENCE.finditer(text, start, end):
        said = sentence[0].rstrip()
        if said.endswith("?") or not _WORTH.search(said) or in_quotes(text, start, sentence.start()):
            carried = None
            continue
        if rule := _rule(said, sentence.start(), speaking):
            yield rule
            carried = None
            continue
        if _UNSURE.search(said):
            carried = None
            continue
        for begin, close in clauses(said.rstrip(".!; \n")):
            found, carried = _understand(said, (begin, close), sentence.start(), speaking, carried)
            if found is not None:
                yield found


def _understand(
    sentence: str, extent: tuple[int, int], offset: int, speaking: Speaking, carried: Who | None
) -> tuple[Understood | None, Who | None]:
    """One clause, and the subject that the next one may take over."""
    start, end = extent
    lead = LEAD.match(sentence, start, end)
    begin = at = lead.end() if lead else start
    if (when := WHEN.match(sentence, at, end)) is not None and when.end() < end:
        at = when.end()
    if end - begin > MAX_CLAUSE:
        return None, None
    subject, blocked = _subject(sentence, at, end, speaking)
    if blocked or (subject is None and (carried is None or when is not None)):
        return None, None
    told = Subject(carried, at) if subject is None and carried is not None else subject
    assert told is not None  # one of the two is there
    found = _predicate(sentence[told.at : end], told, speaking)
    if found is None:
        return None, None
    first = sentence[begin:at]
    text = (first[:1].upper() + first[1:] if first else "") + _lowered(found.content, bool(first), speaking)
    placed = replace(found, content=text, start=offset + begin, end=offset + end)
    return placed, told.who if told.thing is None else None


def _lowered(content: str, inside: bool, speaking: Speaking) -> str:
    """«The user» in the middle of a sentence is written small."""
    return "t" + content[1:] if inside and content.startswith(USER_EN) and not speaking.speaker else content


def _subject(sentence: str, at: int, end: int, speaking: Speaking) -> tuple[Subject | None, bool]:
    """The clause's own subject, and whether it speaks of one who is not to be noted."""
    match = _WHO.match(sentence, at, end)
    if match is None:
        return None, False
    if match["third"]:
        return Subject(Who(match[0] if match["third"] == match[0] else match["third"], USER), match.end()), False
    if match["name"]:
        return _named(match, sentence, end, speaking)
    if speaking.me is None and not match["owner"]:
        return None, True
    if match["i"]:
        who = me(speaking, USER_EN)
        return (None, True) if who is None else (Subject(who, match.end()), False)
    if match["we"]:
        return Subject(Who(match["we"], "project"), match.end(), "we"), False
    if match["due"]:
        return Subject(Who(match["due"], fold(match["due"]).partition(" ")[2]), match.end(), "due"), False
    if match["shared"]:
        return Subject(Who(match["shared"], match["noun"].lower()), match.end(), "project"), False
    return _owned(match, speaking)


def _owned(match: re.Match[str], speaking: Speaking) -> tuple[Subject | None, bool]:
    """A person, pet or thing of the speaker's or the user's."""
    users = "user" in match["owner"].lower()
    owner = USER if users else speaking.me
    if owner is None:
        return None, True
    label = USER_EN if users else speaking.label(USER_EN)
    possessed = match[0][len(match["owner"]) :]
    if match["kin"]:
        kin = match["kin"].lower()
        told = _told_name(possessed)
        return Subject(Who(f"{label}'s {told}", relative(owner, KIN[kin])), match.end()), False
    word = f"{label}'s{possessed}"
    if match["pet"]:
        return Subject(Who(word.rstrip(","), owner), match.end(), "pet"), False
    thing = (match["thing"] or "favourite").lower()
    return Subject(Who(word, owner), match.end(), thing), False


def _told_name(possessed: str) -> str:
    """ "sister Anna" of "sister, Anna, says she"."""
    report = re.search(_REPORT, possessed, re.IGNORECASE)
    return (possessed[: report.start()] if report else possessed).strip().rstrip(",").replace(",", "")


def _named(match: re.Match[str], sentence: str, end: int, speaking: Speaking) -> tuple[Subject | None, bool]:
    name = match["name"]
    if (
        fold(name.split(" ")[0].split("'")[0].split("’")[0]) in _NO_NAME
        or re.match(r"\w+ly\b", name)
        or "'" in name
        or "’" in name
    ):
        return None, True
    own = speaking.speaker is not None and fold(name) == fold(speaking.speaker)
    return Subject(Who(name, fold(name), own=own), match.end(), None if own else "person"), False


def _predicate(said: str, subject: Subject, speaking: Speaking) -> Understood | None:
    """What a predicate says of its subject, if it stands alone."""
    if subject.thing in ("we", "project", "due"):
        return of_work(said, subject)
    if subject.thing not in (None, "person"):
        return of_thing(said, subject, speaking)
    adverbs, rest = _skip_adverbs(said)
    head = _HEAD.match(rest)
    if head is None or not head["verb"]:
        return None
    verb = _plain(head["verb"])
    if subject.thing == "person" and (not head["verb"].islower() or verb in BASE or verb in _FIRST_PERSON):
        return None  # a word written large that is no person: "Sounds like fun"
    denied = head["not"] is not None
    if denied and (be := _DENIED_BE.match(head["not"])) and verb not in _TAKES_BE:
        # "am not allergic": the word after «not» is no verb.
        return _of_being(be[0], adverbs, rest[head.end("not") :].strip(), subject, speaking)
    between, tail = _skip_adverbs(rest[head.end() :])
    tail = tail.strip()
    if not denied and verb in _PRESENT_ONLY and re.match(r"not\s", tail):
        denied, tail = True, tail[4:]
    said_of = _Said(verb, denied, _plain(head["not"] or ""), usual=_USUAL.search(adverbs) is not None)
    for shortened in _shortened(tail):
        found = _matched(said_of, shortened, of_other=subject.thing == "person")
        if found is None or not stands_alone(shortened, own=subject.who.own):
            continue
        pattern, value, negated = found
        words = _worded(adverbs, head, between, shortened, subject, speaking, past=pattern.slot is Slot.EVENT)
        return Understood(words, 0, 0, pattern.kind, pattern.slot, subject.who.name, value, negated)
    return None


@dataclass(frozen=True, slots=True)
class _Said:
    """The verb of a clause: how it was denied, and whether it was said of what is usual."""

    verb: str
    denied: bool
    denial: str
    usual: bool


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")


_DENIED_BE = re.compile(r"(?:am|is|are|['’][ms]) not|isn['’]t|aren['’]t", re.IGNORECASE)
_TAKES_BE = frozenset(("eating", "drinking"))


def _of_being(denial: str, adverbs: str, tail: str, subject: Subject, speaking: Speaking) -> Understood | None:
    """ "am not allergic to cats"."""
    for pattern in _SAID["am"]:
        bare = CLOSING.sub("", _skip_adverbs(tail)[1].strip())
        if not pattern.deniable or (match := pattern.form.fullmatch(bare)) is None:
            continue
        if not stands_alone(tail, subject.who.own):
            return None
        words = english(tail, speaking, own=subject.who.own)
        word = "is not" if subject.who.own else denial
        content = " ".join(part for part in (subject.who.word, adverbs.strip(), word, words) if part)
        return Understood(
            content, 0, 0, pattern.kind, pattern.slot, subject.who.name, match["value"], negated=not pattern.denial
        )
    return None


def _shortened(tail: str) -> Iterator[str]:
    """What follows a verb, whole and then without its last parts: "
    "a part that points elsewhere need not spoil the rest."""
    yield tail
    cut = tail
    while (
        at := max(cut.rfind(", "), cut.rfind(" and "), cut.rfind(" when "), cut.rfind(" after "), cut.rfind(" as "))
    ) > 3:
        cut = cut[:at].rstrip(", ")
        yield cut


def _matched(said: _Said, tail: str, *, of_other: bool) -> tuple[Pattern, str, bool] | None:
    """The first pattern that understands what follows the verb, its value and whether it denies."""
    bare = CLOSING.sub("", tail)
    for pattern in _patterns(said):
        if of_other and not pattern.of_others:
            continue
        match = pattern.form.fullmatch(bare)
        if match is not None:
            value = (match["value"] or "").strip(" ,") or said.verb
            lacking = pattern.slot in (Slot.PET, Slot.FAMILY) and re.match(r"(?:no|not any)\s", bare) is not None
            return pattern, value, (said.denied or pattern.denial) != lacking
    if said.usual and not said.denied and (habits := _USUALLY.get(said.verb)) and habits[0].form.fullmatch(tail):
        return habits[0], f"{said.verb} {tail}", False
    return None


def _patterns(said: _Said) -> tuple[Pattern, ...]:
    """The patterns of a verb, said or denied. "Stand" means something only where one can't."""
    known = _SAID.get(said.verb, ())
    if said.verb == "stand":
        return known if said.denial in ("can't", "cannot", "can not", "cant") else ()
    if not said.denied:
        return known
    return (*_LIMITED.get(said.verb, ()), *(one for one in known if one.deniable and not one.denial))


def _worded(
    adverbs: str,
    head: re.Match[str],
    between: str,
    tail: str,
    subject: Subject,
    speaking: Speaking,
    *,
    past: bool,
) -> str:
    """The statement: subject, verb in the third person, the rest as said."""
    group = head[0].strip()
    if subject.who.own:
        past = past and head["verb"].lower() not in ("have", "'ve", "’ve")
        group = group if past else third_person(head["verb"], (head["not"] or "").strip(), head["between"].strip())
    middle = between.strip()
    predicate = " ".join(part for part in (group, middle, tail) if part)
    if subject.who.own or speaking.me is not None:
        predicate = english(predicate, speaking, own=subject.who.own)
    space = "" if predicate[:1] in "'’" and not adverbs.strip() else " "
    lead = f" {adverbs.strip()}" if adverbs.strip() else ""
    return f"{subject.who.word}{lead}{space}{predicate}".strip()


def _skip_adverbs(text: str) -> tuple[str, str]:
    at = 0
    while (match := _ADVERB.match(text, at)) is not None and match.end() < len(text):
        at = match.end()
    return text[:at], text[at:]


def _rule(sentence: str, offset: int, speaking: Speaking) -> Understood | None:
    """A standing instruction to the agent: the whole sentence, as said."""
    if speaking.me is None or speaking.speaker is not None:
        return None
    text = sentence.rstrip(".!; ")
    begin = len(text) - len(text.lstrip())
    match = _RULE.fullmatch(text, begin)
    if match is None or re.search(r"\b(?:this|that|it) (?:one|time|version|draft)\b|\bif it\b", text, re.IGNORECASE):
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
