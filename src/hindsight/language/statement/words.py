"""A sentence as words with what they stand for, the same for both languages: «狗» and "dogs" are one concept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hindsight.language.fold import fold, fold_keeping_case
from hindsight.language.numbers import numbers
from hindsight.language.statement.lexicon import Entry, Lexicon, lexicon
from hindsight.language.stem import stem

_NUMERAL_ZH = "零〇一二两三四五六七八九十百千万亿"
_ORDINALS = {
    word: str(number)
    for number, word in enumerate(
        ["zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
    )
}
_COUNTED = {"once": "1", "twice": "2", "thrice": "3"}
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" if len(month) > 4 else month for month in _MONTHS)
_HOUR_EN = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_HOUR_ZH = rf"[\d{_NUMERAL_ZH}]{{1,3}}"

# Dates and clock times are read before anything else, so that their figures are never taken for quantities.
_TIMES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(form, re.IGNORECASE))
    for name, form in (
        ("iso", r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"),
        ("md_en", rf"(?P<month>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<y>\d{{4}}))?"),
        ("dm_en", rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\b(?:,?\s+(?P<y>\d{{4}}))?"),
        ("m_en", rf"\b(?P<month>{_MONTH})\b"),
        ("y_zh", rf"(?P<y>\d{{4}}|[{_NUMERAL_ZH}]{{4}})年度?"),
        ("md_zh", rf"(?P<m>\d{{1,2}}|[{_NUMERAL_ZH}]{{1,2}})月份?(?:(?P<d>\d{{1,2}}|[{_NUMERAL_ZH}]{{1,3}})[日号])?"),
        ("clock_zh", rf"(?P<h>{_HOUR_ZH})(?:点钟?|时)(?:(?P<half>半)|(?P<n>[\d{_NUMERAL_ZH}]{{1,3}})分?)?(?![\d.])"),
        ("clock", r"(?P<h>\d{1,2})[:：](?P<n>\d{2})(?!\d)"),
        ("clock_en", r"(?P<h>\d{1,2})\s*(?=[ap]\.?m\b)"),
        ("oclock", rf"(?P<h>\d{{1,2}}|{_HOUR_EN})\s+o['’]clock"),
        (
            "at",
            rf"(?<=\bat )(?P<h>\d{{1,2}}|{_HOUR_EN})(?=$|[\s.,;]+(?:$|on\b|in\b|every\b|and\b))",
        ),
        ("y_en", r"(?<![\w.$#-])(?P<y>(?:19|20)\d{2})(?![\w.-]*\w)"),
        ("decade", r"(?<!\w)(?P<y>(?:19|20)\d0)s\b"),
        ("every_weekday_zh", r"每(?:个)?(?:周|星期|礼拜)(?P<w>[一二三四五六日天])(?![一二三四五六日天次])"),
        ("weekdays_zh", r"(?:周|星期|礼拜)(?P<w>[一二三四五六日天](?:[、和到至]?[一二三四五六日天])+)"),
        (
            "bare_weekdays_zh",
            r"(?<=[我他她们])(?P<w>[一二三四五六日]{2,5})(?=[\u4e00-\u9fff]{2})(?![十百千万个只条岁月年点楼号])",
        ),
    )
)
_PIECE = re.compile(
    r"(?P<measure>(?<![\w.])\d+(?:\.\d+)?(?:k|[kmgt]b|g|km|kg|cm|mm|ms)\b)|"
    r"(?P<code>#?(?=[A-Za-z-]*\d)(?=[\w.-]*[A-Za-z])[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*)"
    r"|(?P<num>[$¥€£]?\d+(?:,\d{3})*(?:\.\d+)?(?:(?:st|nd|rd|th)\b)?(?:[万亿千百](?![年岁家]))?%?|#\d+)"
    r"|(?P<latin>[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f+#]*(?:[-.&][A-Za-z\u00c0-\u024f]+)*)"
    r"|(?P<apostrophe>['’](?:m|s|re|ve|ll|d|t)?\b)"
    r"|(?P<han>[\u3007\u3400-\u4dbf\u4e00-\u9fff]+)"
    r"|(?P<other>[^\W\d_]+)"
    r"|(?P<stop>[,，;；。!！?？:：\n、]|(?<![A-Z])(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bSt)\.(?=\s+[^a-z\s]|\s*$))"
)
_SPELLED = re.compile(r"[a-z0-9]+")
_MEASURE = re.compile(rf"[{_NUMERAL_ZH}\d]+")
_COUNTERS = tuple("号楼层室班组章栋")  # a figure before one of these names a thing and counts none
_CURRENCY = {"$": "dollar", "¥": "yuan", "€": "euro"}
_IS_NEXT = frozenset({"a", "an", "the", "not", "been", "very", "now", "just", "already", "also", "still", "no"})


# Classes whose words are no names; months, places and the like are written large anyway.
_NO_NAME = frozenset(
    [
        "my",
        "kin",
        "kin-many",
        "be",
        "verb",
        "state",
        "end",
        "change",
        "correct",
        "now",
        "past",
        "modal",
        "func",
        "every",
        "unit",
        "other",
    ]
)
_NOUNS = frozenset({"animal", "food", "thing", "sport"})
_SMALL = frozenset(
    [
        "me",
        "my",
        "other",
        "be",
        "verb",
        "state",
        "health",
        "end",
        "change",
        "func",
        "neg",
        "modal",
        "now",
        "past",
        "correct",
        "time",
        "every",
        "unit",
        "stop",
        "rel",
        "num",
    ]
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `kind` is its class in the lexicon, or name, word, num, code, stop. `proper`: written as a name is."""

    text: str
    concept: str
    kind: str
    proper: bool = False
    han: bool = False

    @property
    def carries(self) -> bool:
        """Whether it is a word with content of its own: a noun, a name, a code or what the lexicon does not know."""
        return self.kind not in _SMALL


def words(text: str) -> list[Word]:
    """The words of a text in order."""
    cased = fold_keeping_case(text)
    return _joined(list(_pieces(cased)))


def _pieces(text: str) -> Iterator[Word]:
    """Times and pieces by position; Chinese runs cut by the lexicon."""
    times = _times(text)
    start = 0
    for begin, end, found in times:
        yield from _plain(text[start:begin])
        yield from found
        start = end
    yield from _plain(text[start:])


def _times(text: str) -> list[tuple[int, int, list[Word]]]:
    found: list[tuple[int, int, list[Word]]] = []
    for name, form in _TIMES:
        for match in form.finditer(text):
            if any(begin < match.end() and match.start() < end for begin, end, _ in found):
                continue
            if not _is_time(name, text, match):
                continue
            found.append((match.start(), match.end(), [Word(match[0], one, "time") for one in _moments(match)]))
    return sorted(found, key=lambda one: one[0])


def _is_time(name: str, text: str, match: re.Match[str]) -> bool:
    """A month that is also a word («may», «march») is a month only where it is written large and stands like one."""
    if name == "m_en":
        before = text[: match.start()].rsplit(None, 1)[-1:] or [""]
        led = before[0].lower() in {
            "in",
            "by",
            "since",
            "until",
            "till",
            "last",
            "this",
            "next",
            "of",
            "every",
            "late",
            "for",
        }
        return match[0][0].isupper() and (len(match[0]) > 3 or led) and (match[0] not in ("May", "March") or led)
    if name in ("md_en", "dm_en"):
        return match["month"][0].isupper()
    if name == "bare_weekdays_zh":
        days = ["一二三四五六日".index(day) for day in match["w"]]
        return days == sorted(set(days))
    return True


def _moments(match: re.Match[str]) -> Iterator[str]:
    parts = match.groupdict()
    if year := parts.get("y"):
        yield f"y{_number(year)}"
    if month := parts.get("month"):
        yield f"m{next(n for n, name in enumerate(_MONTHS, 1) if name[:3] == month[:3].lower())}"
    if month := parts.get("m"):
        yield f"m{_number(month)}"
    if day := parts.get("d"):
        yield f"d{_number(day)}"
    if hour := parts.get("h"):
        minute = "30" if parts.get("half") else _number(parts.get("n") or "0")
        yield f"t{int(_number(hour)) % 12}:{int(minute):02d}"
    for day in parts.get("w") or "":
        if day in "一二三四五六日天":
            yield f"wd{'一二三四五六日'.find(day) + 1 or 7}"


def _number(text: str) -> str:
    if text == "一":
        return "1"
    found = numbers(text.lower())
    return found[0] if found else "0"


def _plain(text: str) -> Iterator[Word]:
    known = lexicon()
    previous = ""
    for match in _PIECE.finditer(text):
        kind, piece = match.lastgroup or "", match[0]
        if kind == "han":
            yield from _han(piece, known)
        elif kind == "measure":
            yield from _measured(piece)
        elif kind == "num":
            yield from _figure(piece)
        elif kind == "code":
            yield Word(piece, fold(piece).lstrip("#"), "code")
        elif kind == "stop":
            yield Word(piece, piece, "stop")
        elif kind == "apostrophe":
            yield _apostrophe(piece, previous, text[match.end() :])
        else:
            yield from _latin(piece, text[match.end() :])
        previous = piece


def _measured(piece: str) -> Iterator[Word]:
    """A figure with its unit written to it: «16GB», "20k"."""
    match = re.match(r"[\d.]+", piece)
    figure, unit = (match[0], fold(piece[match.end() :])) if match is not None else (piece, "")
    if unit == "k":
        yield Word(piece, _number(piece.lower()), "num")
        return
    yield Word(figure, _number(figure), "num")
    yield Word(unit, "gb" if unit == "g" else unit, "unit")


def _figure(piece: str) -> Iterator[Word]:
    value = _number(re.sub(r"(?:st|nd|rd|th)$|[#$¥€£%]", "", piece))
    yield Word(piece, value, "code" if piece[0] in "#" else "num")
    if unit := _CURRENCY.get(piece[0]):
        yield Word(piece[0], unit, "unit")


def _latin(piece: str, after: str) -> Iterator[Word]:
    low = fold(piece)
    if after.startswith(("'t", "’t")) and low.endswith("n"):
        # «don't» arrives as "don" before "'t": the denial is the apostrophe's.
        yield Word(piece, {"can": "can", "won": "plan"}.get(low, "do"), "modal" if low != "won" else "func")
        return
    if low in _ORDINALS:
        yield Word(piece, _ORDINALS[low], "num")
    elif low in _COUNTED:
        yield Word(piece, _COUNTED[low], "num")
        yield Word(piece, "times", "unit")
    elif low != "one" and (found := numbers(low)):
        yield Word(piece, found[0], "num")
    else:
        for part in re.split(r"-(?=year|old)", low) if "-" in low else [low]:
            yield Word(piece, stem(part), "word", proper=piece[0].isupper() and low != "i")


def _apostrophe(piece: str, before: str, after: str) -> Word:
    tail = piece[1:].lower()
    if tail == "t":
        return Word(piece, "not", "neg")
    if tail == "ve":
        return Word(piece, "have", "verb")
    if tail in ("m", "re"):
        return Word(piece, "be", "be")
    if tail == "s":
        following = after.split(None, 1)[0].lower().strip(".,!") if after.split() else ""
        pronoun = before.lower() in {"it", "that", "there", "he", "she", "what", "who", "here"}
        if pronoun or following in _IS_NEXT or following.endswith("ing"):
            return Word(piece, "be", "be")
        return Word(piece, "poss", "func")
    return Word(piece, "degree", "func")


def _han(run: str, known: Lexicon) -> list[Word]:
    """A run of Chinese, cut by the longest known words; what is between them stays in one piece.

    A single unknown character beside a noun of a single character is one word with it: «熊猫» is no «猫».
    """
    made: list[Word] = []
    for word in _cut(run, known):
        last = made[-1] if made else None
        if last is not None and _one_word(last, word):
            made[-1] = Word(last.text + word.text, last.text + word.text, "word", han=True)
        else:
            made.append(word)
    return made


def _one_word(first: Word, second: Word) -> bool:
    kinds = {first.kind, second.kind}
    single = len(first.text) == len(second.text) == 1 and first.han and second.han
    return single and kinds <= _NOUNS | {"word"} and "word" in kinds


def _cut(run: str, known: Lexicon) -> Iterator[Word]:
    at = begin = 0
    while at < len(run):
        found = _longest(run, at, known)
        if found is None:
            at += 1
            continue
        length, made = found
        if begin < at:
            yield _unknown(run[begin:at])
        if made is not None:
            yield made
        at += length
        if made is not None and made.kind == "place" and run[at : at + 1] in ("市", "省"):
            at += 1
        begin = at
    if begin < len(run):
        yield _unknown(run[begin:])


def _unknown(text: str) -> Word:
    """What the lexicon does not know, as one word; districts without the word for district."""
    concept = text[:-1] if len(text) > 2 and text[-1] in "区市县省镇" else text
    return Word(text, concept, "word", han=True)


def _longest(run: str, at: int, known: Lexicon) -> tuple[int, Word | None] | None:
    """The longest known word or numeral at a place, with how much it takes."""
    numeral = _MEASURE.match(run, at)
    for length in range(min(known.longest_chinese, len(run) - at), 0, -1):
        part = run[at : at + length]
        entry = known.chinese.get(part)
        if entry is not None and (numeral is None or length > len(numeral[0])):
            return length, Word(part, entry.concept, entry.kind, han=True)
    if numeral is None:
        return None
    ordinal = run[at - 1 : at] == "第" or run[numeral.end() : numeral.end() + 1] in _COUNTERS
    if numeral[0] == "一" and not ordinal:
        return 1, None
    return len(numeral[0]), Word(numeral[0], _number(numeral[0]), "code" if ordinal else "num", han=True)


def _joined(pieces: list[Word]) -> list[Word]:
    """English pieces joined to the phrases that the lexicon knows, each with its concept and class."""
    spelled = [_spelled(one) for one in pieces]
    made: list[Word] = []
    at = 0
    while at < len(pieces):
        word = pieces[at]
        length, entry = (1, None) if word.kind not in ("word", "modal") or word.han else _phrase(spelled, at)
        if entry is not None:
            made += _known(pieces, at, length, entry)
        elif word.proper and word.kind == "word":
            made.append(replace(word, kind="name", concept=fold(word.text)))
        else:
            made.append(word)
        at += length
    return made


def _known(pieces: list[Word], at: int, length: int, entry: Entry) -> list[Word]:
    """A phrase of the lexicon, or, written large inside a sentence, a part of a name: «Our Mutual Friend»."""
    word, end = pieces[at], at + length
    inside = at > 0 and not _opens(pieces, at)
    led_on = entry.kind == "now" and end < len(pieces) and pieces[end].proper  # «New Firm»
    if word.proper and entry.kind in _NO_NAME and (inside or led_on):
        return [replace(one, kind="name", concept=fold(one.text)) for one in pieces[at:end]]
    text = " ".join(one.text for one in pieces[at:end])
    return [Word(text, entry.concept, entry.kind, proper=word.proper)]


def _opens(pieces: list[Word], at: int) -> bool:
    """Whether a sentence opens here, so that the word is written large for its place."""
    return pieces[at - 1].kind == "stop" or pieces[at - 1].text in "\"'“‘("


def _phrase(spelled: list[tuple[str, ...] | None], at: int) -> tuple[int, Entry | None]:
    """How many pieces the longest known phrase here takes, and what it is."""
    known = lexicon()
    keys: list[tuple[str, ...]] = []
    for parts in spelled[at : at + known.longest_english]:
        if parts is None:
            break
        keys.append((*(keys[-1] if keys else ()), *parts))
    for length in range(len(keys), 0, -1):
        plain = keys[length - 1]
        entry = known.exact.get(plain) or known.english.get(tuple(map(stem, plain)))
        if entry is not None:
            return length, entry
    return 1, None


def _spelled(word: Word) -> tuple[str, ...] | None:
    """The words a piece is looked up by; `None` for what is never inside a phrase."""
    if word.han or word.kind not in ("word", "modal", "neg", "func"):
        return None
    if word.kind == "neg" and word.text[:1] in "'’":
        return ("t",)
    return tuple(_SPELLED.findall(fold(word.text)))
