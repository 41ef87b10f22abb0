"""Text to search terms, for the BM25 index and for questions to it.

Both sides fold first. A word in Latin letters becomes its stem; a number, an identifier, an address or a path is kept
whole *and* in parts, so that `gen-itgc` is found by `itgc`; scripts written without spaces become character bigrams
(as good as a word segmenter on our sets, and without a dictionary), their single characters stand beside them so that
«猫» finds «我养了一只猫». Letters glued to Chinese part from it at the border of the scripts.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import add
from typing import TypeAlias

from hindsight.language.fold import fold, fold_keeping_case
from hindsight.language.stem import stem
from hindsight.language.stopwords import (
    CHINESE_FUNCTION_CHARACTERS,
    CHINESE_PARTICLES,
    CHINESE_QUESTION,
    ENGLISH,
    ENGLISH_ASKED,
)

# Scripts without spaces between words: Thai to Burmese, Hangul, kana, Han with its extensions.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[\u0300-\u036f\u0900-\u0dff])"
_LETTERS = rf"(?:[A-Za-z0-9]|{_LETTER})+"  # those of ASCII first: they need no look at the scripts
# Characters that may stand inside an identifier, an address or a number, but neither begin nor end it.
_JOINER = r"[-_.'’@/\\:+#&=?%~,*|]"
_TAIL = r"(?:\+\+|\#)?"  # «C++», «C#»
_PIECE = re.compile(
    rf"([{_UNSPACED}]+)"
    rf"|({_LETTERS}(?:{_JOINER}{{1,3}}{_LETTERS})*{_TAIL})"
    r"|([\u2600-\u27bf\U0001f000-\U0001faff])"
)
# The same for text in ASCII, which has no other pieces: most of English, in a third of the time.
_CHUNK = re.compile(rf"[A-Za-z0-9]+(?:{_JOINER}{{1,3}}[A-Za-z0-9]+)*{_TAIL}")
_THOUSANDS = re.compile(r"\d(?<![\d.,]\d)\d{0,2}(?:,\d{3})+(?![\d,])")
_CONTRACTION = re.compile(rf"(?P<word>{_LETTER}+?)(?:(?P<negated>n['’]t)|['’](?:s|re|ve|ll|d|m))", re.IGNORECASE)
_PART_BORDER = re.compile(r"[/\\:@?&=#+%~,*|]+")
_ATOM_BORDER = re.compile(r"[-_.'’]+")
_ALPHANUMERIC = re.compile(r"\d+|[^\W\d_]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\WA-Za-z\d_]+")
_RELEASE = re.compile(r"[vV]\d+\.")
# Hiragana stands for endings and particles in a text that has kanji.
_NEVER_ALONE = CHINESE_FUNCTION_CHARACTERS | {chr(point) for point in range(0x3041, 0x30A0)}
_QUESTION_ZH = re.compile("|".join(sorted(map(re.escape, CHINESE_QUESTION), key=len, reverse=True)))

# Rises when the terms of a text change, so that indexes made before are made anew.
VERSION = 1

# An identifier longer than this (a data URL) is told by its beginning; no one types more.
_LONGEST_WHOLE = 200
_WORDS_KEPT, _LONGEST_KEPT = 16_384, 24  # conversation repeats few words; some 4 MB when full

_Reader: TypeAlias = Callable[[str], Iterable[str]]


def index_terms(text: str) -> list[str]:
    """Return the terms by which `text` is to be found, in order, repeated as often as they occur."""
    return _terms(text, _latin_indexed, _run_indexed)


def query_terms(text: str) -> list[str]:
    """Return the terms to look for when asked `text`: without question and function words, unless these are all."""
    return _terms(text, lambda chunk: _latin(chunk, ENGLISH_ASKED), _run_asked)


def _terms(text: str, of_latin: _Reader, of_run: _Reader) -> list[str]:
    folded = fold_keeping_case(text)
    if "," in folded:
        folded = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), folded)
    terms = _read(folded, of_latin, of_run)
    # A text of nothing but function words («who are you», «是谁») is told by these.
    return terms or _read(folded, lambda chunk: _latin(chunk, frozenset()), _bigrams)


def _read(folded: str, of_latin: _Reader, of_run: _Reader) -> list[str]:
    if folded.isascii():
        return [term for chunk in _CHUNK.findall(folded) for term in of_latin(chunk)]
    return [
        term
        for run, chunk, symbol in _PIECE.findall(folded)
        for term in (of_latin(chunk) if chunk else of_run(run) if run else (symbol,))
    ]


def _latin_indexed(chunk: str) -> Iterable[str]:
    return _kept(chunk) if len(chunk) <= _LONGEST_KEPT else _latin(chunk, ENGLISH)


@lru_cache(maxsize=_WORDS_KEPT)
def _kept(chunk: str) -> tuple[str, ...]:
    return tuple(_latin(chunk, ENGLISH))


def _run_indexed(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return _bigrams(run) + [character for character in run if character not in _NEVER_ALONE]


def _run_asked(run: str) -> list[str]:
    parts = (part.strip(CHINESE_PARTICLES) for part in _QUESTION_ZH.split(run))
    return [term for part in parts if part and part not in _NEVER_ALONE for term in _bigrams(part)]


def _bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else list(map(add, run, run[1:]))


def _latin(chunk: str, stop: frozenset[str]) -> Iterator[str]:
    """Yield a plain word's stem, or an identifier's whole, its larger parts and its smallest, each once."""
    chunk = _without_accents(chunk)
    if contraction := _CONTRACTION.fullmatch(chunk):
        if not (stop and contraction["negated"]):
            yield from _word(contraction["word"], stop)
    elif chunk.isalpha() and len(_CAMEL.findall(chunk)) == 1:
        yield from _word(chunk, stop)
    else:
        yield from dict.fromkeys(_compound(chunk, stop))


def _compound(chunk: str, stop: frozenset[str]) -> Iterator[str]:
    parts = [part for part in _PART_BORDER.split(chunk) if part]
    if not chunk.isalnum():
        yield fold(chunk)[:_LONGEST_WHOLE]
    if _RELEASE.match(chunk):
        yield fold(chunk)[1:_LONGEST_WHOLE]
    for part in parts:
        atoms = [atom for atom in _ATOM_BORDER.split(part) if atom]
        if len(atoms) > 1:
            yield fold(part)[:_LONGEST_WHOLE]
        for atom in atoms:
            yield from _atom(atom, stop)


def _atom(atom: str, stop: frozenset[str]) -> Iterator[str]:
    """Yield a word or number, or of `UA123` and `camelCase` the whole and the pieces."""
    yield from _word(atom, stop)
    for border in (_ALPHANUMERIC, _CAMEL):
        pieces = border.findall(atom)
        if len(pieces) > 1:
            for piece in pieces:
                if len(piece) > 1 or piece.isdecimal():
                    yield from _word(piece, stop)


def _word(word: str, stop: frozenset[str]) -> Iterator[str]:
    word = fold(word)
    if word.isdecimal():
        yield word.lstrip("0") or "0"  # 05 and 5 are one number; a whole such as 2023-05 keeps its zero
    elif word not in stop:
        yield stem(word) if word.isascii() else word


def _without_accents(chunk: str) -> str:
    """«café» is typed «cafe» as often as not; only Latin letters lose their accents, for й is not и."""
    if chunk.isascii():
        return chunk
    return "".join(
        unicodedata.normalize("NFD", letter)[0] if unicodedata.name(letter, "").startswith("LATIN") else letter
        for letter in chunk
    )
