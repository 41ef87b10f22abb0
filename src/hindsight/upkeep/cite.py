"""Sentences with their citations, as lines of a fenced block: data, not instructions, and known again as own output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from hindsight.domain.digest import Method, Sentence
from hindsight.domain.memory import Kind
from hindsight.language.fold import fold
from hindsight.language.markers import DIGEST_NOTES, FENCE_CLOSE, FENCE_NAME, FENCE_OPEN
from hindsight.language.tokens import Ruler
from hindsight.search.wording import CHINESE, ENGLISH, Wording, is_chinese

MOST_IDS = 6  # named behind one sentence; the structured answer has all

_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_BRACKETS = str.maketrans("<>\uff1c\uff1e", "\u2039\u203a\u2039\u203a")
_PARENTHESES = str.maketrans("()（）", "[][]")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a digest is written: in which language, under which heading, measured by which ruler."""

    chinese: bool
    kind: str
    ruler: Ruler

    @property
    def words(self) -> Wording:
        """The words of the block in this language."""
        return CHINESE if self.chinese else ENGLISH

    def line(self, sentence: Sentence) -> str:
        """A sentence with its ids and its day."""
        names = [f"#{one}" for one in sentence.short_ids[:MOST_IDS]]
        day = sentence.at.astimezone(zone(sentence.timezone)).date().isoformat()
        # Ended like a line of a context block, by which `without_own_output` knows it again.
        text = harmless(sentence.text)
        if self.chinese:
            return f"[{self.kind}] - {text}（{'、'.join(names)}，{day}）"
        return f"[{self.kind}] - {text} ({', '.join(names)}, {day})"

    def block(self, sentences: Sequence[Sentence], *, method: Method, doubt: str = "") -> str:
        """The whole block, which says so where there is nothing. `doubt` stands before the lines."""
        lines = [self.line(one) for one in sentences] or [self.words.nothing]
        if doubt and sentences:
            lines.insert(0, doubt)
        if method is Method.EXTRACTIVE and sentences:
            lines.append(DIGEST_NOTES["zh" if self.chinese else "en"])
        return "\n".join([f'{FENCE_OPEN} type="data">', self.words.data_only, *lines, FENCE_CLOSE])

    def fits(self, sentences: Sequence[Sentence], tokens: int) -> bool:
        """Whether the block of these sentences, with its note, stays within `tokens`."""
        return self.ruler.tokens(self.block(sentences, method=Method.EXTRACTIVE)) <= tokens


def layout_for(texts: Sequence[str], ruler: Ruler, *, answer: bool = False, asked: str = "") -> Layout:
    """The layout in the language of a question, else in that of most texts."""
    ahead = sum(1 if is_chinese(one) else -1 for one in texts)
    chinese = is_chinese(asked) if asked else ahead > 0
    if answer:
        return Layout(chinese, "回答" if chinese else "Answer", ruler)
    return Layout(chinese, (CHINESE if chinese else ENGLISH).kinds[Kind.SUMMARY], ruler)


def harmless(text: str) -> str:
    """On one line, unable to look like a mark of the block or like the end of a citation."""
    line = _BLANK.sub(" ", text).strip()
    if FENCE_NAME.split("-")[0] in fold(line):
        line = line.replace("&lt;", "<").replace("&gt;", ">").translate(_BRACKETS)
    return line.translate(_PARENTHESES) if "(#" in line or "（#" in line else line


def zone(name: str) -> tzinfo:
    """A zone by its name; UTC where this machine has no data for it."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC
