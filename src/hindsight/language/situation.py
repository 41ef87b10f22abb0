"""A description of a task, read for its kind: what is asked to be done, not with which names, numbers and ids.

Two descriptions of one kind share their frame («change the delivery address for … to …») and differ in what fills it;
two look-alikes share the fillings. So literals give way to a mark of their sort; what is left is told in words and
pairs of words, and beside them in the names of operations (`language.operations`), their order and their number.
Formats, systems, tools and opposite goals are kept apart: a difference in one of them makes another task of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from hindsight.language.fold import fold, fold_keeping_case
from hindsight.language.operations import CHINESE_WORDS, OPERATION_OF, sides
from hindsight.language.products import CHINESE_NAMES, FORMATS, SYSTEMS
from hindsight.language.stem import stem
from hindsight.language.stopwords import CHINESE_FUNCTION_CHARACTERS, CHINESE_QUESTION, ENGLISH_ASKED

LONGEST = 4_000  # characters; what follows is detail
MOST_COUNTED = 4  # an operation that occurs more often says no more by it
_KEPT = 4_096

_FILLED, _NAME, _REST, _EDGE = "<filled>", "<name>", "<rest>", "<edge>"
_PIECE = re.compile(
    r"""(?P<address>https?://\S+|\b\w[\w.-]{0,80}\.(?:com|org|net|cn|io|edu)\b[^\s,，。]*)"""
    r"""|(?P<quote>"[^"\n]{1,200}"|“[^”\n]{1,200}”|「[^」\n]{1,200}」|『[^』\n]{1,200}』|《[^》\n]{1,100}》"""
    r"""|(?<!\w)'[^'\n]{1,120}'(?!\w)|‘[^’\n]{1,120}’|\{[^{}\n]{0,400}\}|\[[^\[\]\n]{0,400}\]|`[^`\n]{1,200}`)"""
    r"""|(?P<path>(?<![\w/])(?:[~.]{0,2}/)[\w.-]+(?:/[\w.-]+)*/?|\b[A-Za-z][\w-]{0,80}(?:/[\w.-]+)+)"""
    r"""|(?P<file>\b[\w-]{1,80}\.[A-Za-z]\w{1,4}\b)"""
    r"""|(?P<named>\b(?:C\+\+|C\#|7z|mp[34]|m4a|b站|k8s|163邮箱|qq邮箱)(?!\w))"""
    r"""|(?P<id>[#@]?\b(?=[A-Za-z_-]{0,40}\d)(?=[\d_-]{0,40}[A-Za-z_])[A-Za-z0-9_][A-Za-z0-9_-]*)"""
    r"""|(?P<number>[$€¥￥]?\d+(?:[.,:/-]\d+)*%?)"""
    r"""|(?P<chinese>[一-鿿]+)"""
    r"""|(?P<word>[^\W\d_一-鿿]+(?:['’][a-z]+)?)""",
    re.IGNORECASE,
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OPENS = frozenset(".!?;:。！？；：\n")
# What a name after it is used as: the means of a task.
_MEANS = re.compile(
    r"(?:\b(?:using|via)|用|使用|通过|借助|利用)\s*(?:the\s+)?[`'\"“]?(?P<name>[A-Za-z][\w.+#-]*)",
    re.IGNORECASE,
)
_NO_MEANS = _set("a an the my your our their his her its this that these those which it them")
# «A to B», «B from A», «把 A 转成 B»: which format comes in and which comes out.
_TURNED = (
    r"(?:\b(?:to|into|as|2)\b|转换?[为成到]?|变[为成]|导出[为成]?|另存为|输出[为成]?|生成|改[为成]|成|为|到|->|→|=>)"
)
_INTO = re.compile(rf"{_TURNED}\s*(?:an?\s+)?$", re.IGNORECASE)
_TO_BE = re.compile(rf"^\s*(?:files?|documents?|文件|文档|格式|图片|表格)?\s*{_TURNED}", re.IGNORECASE)
_OUT_OF = re.compile(r"(?:\b(?:from|out of)(?:\s+an?)?|从|把|将)\s*$", re.IGNORECASE)
_IN, _OUT = "in", "out"
# Names that are common English words as well: in English they count only with a capital.
_COMMON = _set(
    "word excel edge swift notion linear teams slack discord ruby react bun chef puppet yarn sketch booking outlook "
    "rust poetry brew apt safari caddy jest mocha stripe tar flask pulsar nomad swarm"
)


_LIGHT = frozenset(map(stem, ENGLISH_ASKED)) | CHINESE_QUESTION


@dataclass(frozen=True, slots=True)
class Situation:
    """A description of a task in parts. `frame`: its words and pairs of words; `operations`: what is done in it.

    `names`: what fills the frame, folded. `formats` with how each is used: in, out, or empty where that is not told.
    `systems` by their kind. `means`: tools named as such. `sides`: of pairs of opposite goals.
    """

    frame: frozenset[str]
    operations: frozenset[str]
    names: frozenset[str]
    formats: frozenset[tuple[str, str]]
    systems: frozenset[tuple[str, int]]
    means: frozenset[str]
    sides: frozenset[tuple[int, bool]]

    @property
    def telling(self) -> frozenset[str]:
        """Words of the frame that say something of their own."""
        return frozenset(one for one in self.frame if " " not in one and one[0] != "<" and not is_light(one))


@lru_cache(maxsize=_KEPT)
def read(text: str) -> Situation:
    """A description of a task, taken apart."""
    text = fold_keeping_case(text[:LONGEST])
    plain = text.isascii()
    pieces = list(_PIECE.finditer(text))
    frame: list[str] = []
    operations: list[str] = []
    names: list[str] = []
    words: list[str] = []
    for piece in pieces:
        sort = piece.lastgroup or ""
        if sort == "chinese":
            frame += _chinese(piece[0])
            operations += _operations_of(piece[0])
            continue
        word = fold(piece[0])
        known = _is_known(piece[0], plain)
        if sort == "word":
            words.append(word)
        filled = sort not in ("word", "named") or (not known and _is_name(text, piece))
        if filled:
            names.append(word.strip("\"'`“”「」『』《》‘’"))
        mark = (_NAME if sort == "word" else f"<{sort}>") if filled else _called(word) if known else _stemmed(word)
        if not filled or not frame or frame[-1] != mark:
            frame.append(mark)
        operations.append(_FILLED if filled else OPERATION_OF.get(word, _REST))
    return Situation(
        frozenset(_runs(frame)),
        frozenset(_told(operations)),
        frozenset(filter(None, names)),
        frozenset(_formats(text, pieces)),
        frozenset(SYSTEMS[name] for name in _known_in(pieces, plain) if name in SYSTEMS),
        frozenset(_means(text)),
        sides(words, text),
    )


def is_light(token: str) -> bool:
    """Whether a word of a frame, or a pair of Chinese characters, says nothing of its own («how do I», «怎么给»)."""
    return token in _LIGHT or CHINESE_FUNCTION_CHARACTERS.issuperset(token)


def differences(one: Situation, other: Situation) -> tuple[str, ...]:
    """What makes two descriptions different tasks, however alike they read: any of format, system, tool, goal."""
    found = []
    if _other_formats(one.formats, other.formats):
        found.append("format")
    if _other_systems(one.systems, other.systems):
        found.append("system")
    if one.means and other.means and one.means.isdisjoint(other.means):
        found.append("tool")
    if _opposed(one.sides, other.sides):
        found.append("goal")
    return tuple(found)


def _other_formats(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> bool:
    """Whether one names a format that the other has not, and the other one that it has not; or turns them round."""
    ours, theirs = {name for name, _ in one}, {name for name, _ in other}
    if not ours or not theirs:
        return False
    if ours - theirs and theirs - ours:
        return True
    used = dict(one)
    return any(way and used.get(name) and used[name] != way for name, way in other)


def _other_systems(one: frozenset[tuple[str, int]], other: frozenset[tuple[str, int]]) -> bool:
    """Whether they name different systems of one kind."""
    for family in {family for _, family in one} & {family for _, family in other}:
        ours = {name for name, kind in one if kind == family}
        theirs = {name for name, kind in other if kind == family}
        if ours - theirs and theirs - ours:
            return True
    return False


def _opposed(one: frozenset[tuple[int, bool]], other: frozenset[tuple[int, bool]]) -> bool:
    """Whether they stand on opposite sides of a pair, each on one side alone."""
    for pair in {pair for pair, _ in one} & {pair for pair, _ in other}:
        ours = {side for number, side in one if number == pair}
        theirs = {side for number, side in other if number == pair}
        if len(ours) == len(theirs) == 1 and ours != theirs:
            return True
    return False


def _is_name(text: str, piece: re.Match[str]) -> bool:
    """Whether a word is written as a name: with a capital, and not only because a sentence begins with it."""
    word = piece[0]
    if len(word) < 2 or not word[0].isupper() or word.lower() in OPERATION_OF:
        return False
    before = text[: piece.start()].rstrip(" \t\"'“‘(（")
    return bool(before) and before[-1] not in _OPENS


def _is_known(written: str, plain: bool) -> bool:
    """Whether a word is the name of a format or system. `plain`: in a text without Chinese."""
    word = fold(written)
    return (word in FORMATS or word in SYSTEMS) and not (plain and word in _COMMON and written.islower())


def _called(word: str) -> str:
    """What a format or system is called by any of its names."""
    return FORMATS[word] if word in FORMATS else SYSTEMS[word][0] if word in SYSTEMS else _stemmed(word)


def _stemmed(word: str) -> str:
    return stem(word) if word.isascii() else word


def _chinese(run: str) -> list[str]:
    """Pairs of characters: as good as words, and without a dictionary."""
    return [run] if len(run) == 1 else [run[start : start + 2] for start in range(len(run) - 1)]


def _operations_of(run: str) -> Iterator[str]:
    last = 0
    for found in CHINESE_WORDS.finditer(run):
        if found.start() > last:
            yield _REST
        yield OPERATION_OF[found[0]]
        last = found.end()
    if last < len(run):
        yield _REST


def _runs(tokens: Sequence[str]) -> Iterator[str]:
    """Tokens, and each with the one behind it; the ends of the text count as tokens."""
    yield from tokens
    bounded = [_EDGE, *tokens, _EDGE]
    yield from (f"{one} {then}" for one, then in pairwise(bounded))


def _told(operations: Iterable[str]) -> Iterator[str]:
    """Operations in their order, and how often each occurs."""
    told: list[str] = []
    for one in operations:
        if not (told and told[-1] == one and one in (_REST, _FILLED)):
            told.append(one)
    yield from (run for run in _runs(told) if run != _REST)
    for one, times in Counter(told).items():
        if one != _REST:
            most = min(times, MOST_COUNTED)
            yield f"{one}={most}"
            yield from (f"{one}>{fewer}" for fewer in range(1, most))


def _known_in(pieces: Iterable[re.Match[str]], plain: bool) -> Iterator[str]:
    """Formats and systems by the names they have in the text."""
    for piece in pieces:
        yield from (name for name, _ in _known(piece, plain))


def _known(piece: re.Match[str], plain: bool) -> Iterator[tuple[str, tuple[int, int]]]:
    """The names of formats and systems in a piece of a text, each with its bounds in that text."""
    if piece.lastgroup == "chinese":
        for found in CHINESE_NAMES.finditer(piece[0]):
            yield found[0], (piece.start() + found.start(), piece.start() + found.end())
    elif piece.lastgroup in ("word", "id", "named") and _is_known(piece[0], plain):
        yield fold(piece[0]), piece.span()
    elif piece.lastgroup == "file":
        yield fold(piece[0]).rpartition(".")[2], piece.span()


def _formats(text: str, pieces: Iterable[re.Match[str]]) -> Iterator[tuple[str, str]]:
    plain = text.isascii()
    ways: dict[str, str] = {}
    for piece in pieces:
        for name, (start, end) in _known(piece, plain):
            if name in FORMATS:
                called = FORMATS[name]
                ways[called] = ways.get(called) or _way(text[max(0, start - 12) : start], text[end : end + 16])
    if len(ways) == 2:  # where one goes in, the other comes out
        one, other = ways
        for this, that in ((one, other), (other, one)):
            if not ways[this] and ways[that]:
                ways[this] = _OUT if ways[that] == _IN else _IN
    yield from ways.items()


def _way(before: str, behind: str) -> str:
    if _INTO.search(before):
        return _OUT
    return _IN if _OUT_OF.search(before) or _TO_BE.match(behind) else ""


def _means(text: str) -> Iterator[str]:
    for found in _MEANS.finditer(text):
        name = found["name"]
        if name.lower() not in _NO_MEANS and not any(map(str.isdigit, name)):
            yield _called(fold(name.rstrip(".-")))
