"""Was it said? Holds what a language model claims to have read against the words of the episode.

A statement may put its subject in front («用户», "The user", the speaker's name); all else must stand in the episode,
in one run, with nothing but function words added or left out. A sentence that denies, doubts or asks may not be turned
into a plain claim. Where that fails, the sentence itself is kept in place of the model's wording.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from hindsight.language.fold import fold
from hindsight.language.polarity import negated
from hindsight.language.stem import stem

_TOKEN = re.compile(
    r"n['’]t\b|['’](?:m|s|re|ve|ll|d)\b|[A-Za-z]+?(?=n['’]t\b)|\d+(?:[.,:/-]\d+)*|[A-Za-z\u00c0-\u024f]+|"
    r"[\u3400-\u9fff]|[^\W_]"
)
_CANON = {
    "am": "be", "is": "be", "are": "be", "'m": "be", "'re": "be", "be": "be",
    "has": "have", "'ve": "have", "does": "do", "n't": "not", "dont": "not", "ca": "can", "wo": "will",
    "'ll": "will", "'d": "would",
}  # fmt: skip
# Words that a statement may add: its subject and articles. No verb, not even «is»: it would claim what was only named.
_ADDED_WORDS = """
    a an the 's that i me my mine we us our he him his she her hers they them their it its user
    的 我 他 她 它 们 用 户
"""
# Words that it may leave out besides.
_LEFT_OUT_WORDS = """
    and also just so well oh yes yeah now actually really currently still 了 您 也 还 就 呢 啊 吧 哦 嗯 呀
"""
_ADDED = frozenset(_ADDED_WORDS.split())
_FUNCTION = _ADDED | frozenset(_LEFT_OUT_WORDS.split())
# What may stand in the clause before the words of a statement about the speaker.
_FIRST = frozenset(["i", "we", "my", "our", "me", "us", "我", "咱", "们", "俺"])
# «The user said that he …» speaks of the speaker.
_REPORT = re.compile(
    r"\b(?:the\s+)?user\s+(?:says?|said|mentions?|mentioned)\s+(?:that\s+)?(?:he|she|they|I)\b|"
    "用户(?:说|提到|表示)(?:他|她|自己|我)?",
    re.IGNORECASE,
)
_OF_SPEAKER = re.compile(r"\b(?:user|I|my|we|our|me|us)\b|用户|我|咱|俺|本人", re.IGNORECASE)
_HEAD = re.compile(r"\s*(?:(?:the\s+)?user\b|I\b|my\b|用户|我)", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:he|she|they|it|you|your|his|her|their|him|them|mom|mum|mother|dad|father|wife|husband|son|daughter|brother|"
    r"sister|friend|boss|colleague|roommate|neighbou?r|partner|aunt|uncle|cousin|teacher|doctor)s?\b|"
    "他|她|它|你|您|妈|爸|爷|奶|妻|老婆|老公|丈夫|儿子|女儿|孩子|哥|弟|姐|妹|朋友|同事|同学|老板|老师|室友|邻居",
    re.IGNORECASE,
)
# Not a plain claim about now: a condition, a guess, a wish, hearsay, the past.
_UNSURE = re.compile(
    r"\b(?:if|unless|maybe|perhaps|possibly|probably|might|may|could|would|should|wish|hope|hopefully|suppose|imagine|"
    r"pretend|used to|formerly|once|want|wants|plan|plans|going to|thinking of|heard|rumou?r|not sure|think|guess|"
    r"kidding|joking|until|when i was|as a kid|supposed)\b|['’]d\b|"
    "如果|要是|假如|假设|可能|也许|或许|大概|好像|似乎|应该|估计|希望|想|打算|计划|听说|据说|以前|曾|过去|本来|原来|小时候|除非|"
    "万一|开玩笑|不确定|会不会|是不是",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？][\s\"'”’)）]*\Z|(?:吗|呢)[。.!！\s]*\Z")
_SENTENCE_END = re.compile(r"[。！？!?；;\n]+[”’」』）)\"']*|\.(?=\s|\Z)[\"')]*")
_CLAUSE_END = re.compile(r"[，,。！？!?；;：:、\n]+|\.(?=\s|\Z)|\b(?:and|but)\b|但是?|而且|并且")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `[start, end)` of a text."""

    start: int
    end: int

    def shared(self, other: Span) -> float:
        """The part of the shorter one that both have in common, 0 to 1."""
        common = min(self.end, other.end) - max(self.start, other.start)
        return max(0, common) / max(1, min(self.end - self.start, other.end - other.start))


@dataclass(frozen=True, slots=True)
class Wording:
    """The words to keep and what they rest on. `own`: the model's statement held; otherwise it is the sentence."""

    content: str
    span: Span
    own: bool


@dataclass(frozen=True, slots=True)
class _Token:
    form: str
    start: int
    end: int


def locate(quote: str, text: str) -> Span | None:
    """Where a quote stands in a text, blanks, case and the form of punctuation aside; `None` if it does not."""
    wanted = "".join(char for char, _ in _plain(quote)).strip(_EDGES)
    if not wanted:
        return None
    plain = _plain(text)
    start = "".join(char for char, _ in plain).find(wanted)
    if start < 0:
        return None
    first, last = plain[start][1], plain[start + len(wanted) - 1][1]
    return _trimmed(text, first, last + 1)


def worded(statement: str, span: Span, text: str, *, speaker: str | None, subject: str | None) -> Wording | str:
    """How a statement that rests on this span of a text is to be kept; or the reason why it is not."""
    sentence = _around(text, span, _SENTENCE_END)
    said = text[sentence.start : sentence.end]
    if subject is None and _HEAD.match(statement):
        subject = "user"
    if _ASKS.search(said):
        return "rests on a question"
    names = {token.form for name in (speaker, subject) if name for token in _tokens(name)}
    found = _run(statement, sentence, text, names)
    if (
        found is not None
        and _is_whole(found, text)
        and _claims_no_more(statement, found, sentence, text)
        and _of_subject(found, sentence, text, speaker=speaker, subject=subject, names=names)
    ):
        return Wording(statement.strip(), found, own=True)
    return Wording(said, sentence, own=False)


def occurs(words: str, text: str) -> bool:
    """Whether all of these words stand in a text in one run."""
    return _find(_tokens(words), _tokens(text)) is not None


def _run(statement: str, sentence: Span, text: str, names: set[str]) -> Span | None:
    """Where in the sentence the statement's words stand in one run, its subject left out if it was put in front."""
    spoken = _tokens(text[sentence.start : sentence.end])
    allowed = _ADDED.union((token.form for token in spoken), names)
    if any(form not in allowed for form in _forms(statement)):
        return None
    told = [token for token in _tokens(statement) if token.form not in _FUNCTION]
    here = [
        _Token(token.form, token.start + sentence.start, token.end + sentence.start)
        for token in spoken
        if token.form not in _FUNCTION
    ]
    while told:
        found = _find(told, here)
        if found is not None:
            return Span(here[found].start, here[found + len(told) - 1].end)
        if told[0].form not in names:
            return None
        told = told[1:]
    return None


def _find(part: list[_Token], whole: list[_Token]) -> int | None:
    forms, wanted = [token.form for token in whole], [token.form for token in part]
    places = range(len(forms) - len(wanted) + 1) if wanted else range(0)
    return next((place for place in places if forms[place : place + len(wanted)] == wanted), None)


def _is_whole(found: Span, text: str) -> bool:
    """Whether the words are a statement and no mere part of one: two at least, and half of their clause."""
    clause = _around(text, found, _CLAUSE_END)
    counts = [sum(form not in _FUNCTION for form in _forms(text[span.start : span.end])) for span in (found, clause)]
    return counts[0] >= 2 and 2 * counts[0] >= counts[1]


def _claims_no_more(statement: str, found: Span, sentence: Span, text: str) -> bool:
    """Whether neither a denial nor a doubt of the sentence got lost on the way."""
    said = text[sentence.start : sentence.end]
    clause = _around(text, found, _CLAUSE_END)
    if negated(text[clause.start : clause.end]) != negated(statement):
        return False
    return _UNSURE.search(said) is None or _UNSURE.search(statement) is not None


def _of_subject(
    found: Span, sentence: Span, text: str, *, speaker: str | None, subject: str | None, names: set[str]
) -> bool:
    """Whether the words are said of the subject: nobody else stands between it and them."""
    of_speaker = _OF_SPEAKER.search(text[sentence.start : found.start]) is not None
    text = _REPORT.sub(lambda match: " " * len(match[0]), text)
    clause = _around(text, found, _CLAUSE_END)
    before = [token.form for token in _tokens(_OTHERS.sub(" ", text[clause.start : found.start]))]
    if any(form not in _FUNCTION and form not in names for form in before):
        return False
    lead = text[sentence.start : found.start]
    if is_speaker(subject, speaker):
        return of_speaker and not _speaks_of_others(lead, speaker)
    if subject is None:
        return not before
    if occurs(subject, text[found.start : found.end]):
        return True
    place = lead.rfind(subject)
    between = lead[place + len(subject) :]
    return place >= 0 and not _speaks_of_others(between, None) and not _FIRST.intersection(_forms(between))


def _speaks_of_others(lead: str, speaker: str | None) -> bool:
    """Whether one of these clauses has another subject than the speaker."""
    for clause in _CLAUSE_END.split(lead):
        if _OTHERS.search(clause):
            return True
        words = [token for token in _tokens(clause) if token.form not in _FUNCTION]
        if not words or _FIRST.intersection(_forms(clause)):
            continue
        first = clause[words[0].start : words[0].end]
        if first[:1].isupper() and (speaker is None or first not in speaker):
            return True
    return False


def _forms(text: str) -> list[str]:
    return [token.form for token in _tokens(text)]


def is_speaker(subject: str | None, speaker: str | None) -> bool:
    """Whether a subject means whoever speaks."""
    if subject is None:
        return False
    folded = fold(subject).strip()
    return folded in _SPEAKERS or (speaker is not None and folded == fold(speaker).strip())


_SPEAKERS = frozenset({"user", "the user", "i", "me", "speaker", "用户", "我", "本人", "使用者", "说话人"})
_EDGES = " .,;:!?\"'()~-"
_SAME_MARK = str.maketrans("，。；：！？（）“”‘’、…", ",.;:!?()\"\"'',.")


def _plain(text: str) -> list[tuple[str, int]]:
    """Folded characters with their place in the text; runs of blanks are one."""
    plain: list[tuple[str, int]] = []
    for place, char in enumerate(text):
        for one in fold(unicodedata.normalize("NFKC", char.translate(_SAME_MARK))):
            if one.isspace():
                if not plain or plain[-1][0] == " ":
                    continue
                one = " "
            plain.append((one, place))
    return plain


def _tokens(text: str) -> list[_Token]:
    tokens = []
    for match in _TOKEN.finditer(text):
        form = fold(match[0]).replace("’", "'")
        form = _CANON.get(form) or (stem(form) if form.isascii() and form.isalpha() else form)
        tokens.append(_Token(form, match.start(), match.end()))
    return tokens


def _around(text: str, span: Span, border: re.Pattern[str]) -> Span:
    """The sentence or clause that holds the span, or all of those that it touches."""
    start, end = 0, len(text)
    for match in border.finditer(text):
        if match.end() <= span.start:
            start = match.end()
        elif match.start() >= span.end - 1:
            end = match.end()
            break
    return _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
