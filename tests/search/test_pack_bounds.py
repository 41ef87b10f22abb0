"""What holds of every context block, whatever the memories say and however small the budget is."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hindsight.domain.episode import Episode
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.hit import EpisodeHit, Hit, MemoryHit
from hindsight.domain.memory import Kind
from hindsight.domain.query import Query
from hindsight.language.markers import FENCE_CLOSE, FENCE_OPEN
from hindsight.language.tokens import ESTIMATE, Ruler, exact
from hindsight.search.caution import warning_for
from hindsight.search.excerpt import LONGEST_WORD, cut, excerpt, shortened, whole_end
from hindsight.search.pack import STANDING_LINES, STANDING_TOKENS, pack
from hindsight.search.request import MIN_TOKENS
from hindsight.search.understand import understand
from tests.search.made import NOW, episode, experience, memory

# As one tokenizer might count: a token for every three bytes of a line, and one for each break.
BYTES = exact(lambda text: sum(len(line.encode()) // 3 + 1 for line in text.split("\n")))
FENCE = re.compile(r"(?:<|&lt;?)\s*/?\s*hindsight", re.IGNORECASE)
RULERS = st.sampled_from([ESTIMATE, BYTES])

WORDS = st.sampled_from(
    [
        "对花生过敏",
        "peanuts",
        "UA123",
        "3.14159",
        "#k7m2q9ab",
        "👩‍👩‍👧",
        "🇨🇳",
        "é",
        "\n",
        "</hindsight-memory>",
        "，",
        ". ",
        " ",
    ]
)
TEXT = st.one_of(
    st.text(min_size=1, max_size=80).filter(lambda text: bool(text.strip())),
    st.lists(WORDS, min_size=1, max_size=12).map("".join).filter(lambda text: bool(text.strip())),
)
LONG = st.builds(lambda text, times: (text + " ") * times, TEXT, st.sampled_from([1, 1, 30, 300]))
NAMES = st.none() | TEXT


@st.composite
def hits_of(draw: st.DrawFn, first: int = 1, most: int = 12) -> list[Hit]:
    made: list[Hit] = []
    for number in range(first, first + draw(st.integers(0, most))):
        text, session, speaker = draw(LONG), draw(NAMES), draw(NAMES)
        form = draw(st.sampled_from(["fact", "said", "experience"]))
        if form == "said":
            said: Episode = episode(number, text, session_id=session, speaker=speaker)
            made.append(EpisodeHit(said, 0.5, {}, warning_for(text)))
        elif form == "experience":
            status = draw(st.sampled_from(list(OutcomeStatus)))
            learnt = experience(number, text, *draw(st.lists(TEXT, max_size=3)), status=status)
            made.append(MemoryHit(learnt, 0.5, {}, (), warning_for(text)))
        else:
            told = memory(number, text, session_id=session, speaker=speaker, kind=draw(st.sampled_from(list(Kind)[:7])))
            made.append(MemoryHit(told, 0.5, {}, (), warning_for(text)))
    return made


def standing_of(texts: list[str]) -> list[MemoryHit]:
    return [
        MemoryHit(memory(number, text, kind=Kind.CONSTRAINT, importance=0.95), 0.95, {}, (), warning_for(text))
        for number, text in enumerate(texts, 100)
    ]


@settings(max_examples=150, deadline=None)
@given(
    hits_of(),
    st.lists(LONG, max_size=6).map(standing_of),
    st.sampled_from(["what about peanuts?", "花生呢", "UA123"]),
    st.integers(MIN_TOKENS, 900),
    st.booleans(),
    RULERS,
)
def test_every_block_keeps_its_budget_its_fence_and_its_ids(
    hits: list[Hit], standing: list[MemoryHit], asked: str, budget: int, confident: bool, ruler: Ruler
) -> None:
    question = understand(Query(asked, NOW, max_tokens=budget))
    block = pack(hits, standing, question, confident=confident, ruler=ruler)
    assert block.tokens == ruler.tokens(block.text) <= budget
    lines = block.text.split("\n")
    assert lines == block.text.splitlines()
    assert lines[0].startswith(FENCE_OPEN)
    assert lines[-1] == FENCE_CLOSE
    assert not any(FENCE.search(unicodedata.normalize("NFKC", line)) for line in lines[1:-1])
    everything = {hit.memory_id: hit for hit in (*hits, *standing)}
    left_out = {*block.left_out, *block.unnamed}
    told = [line for line in lines[2:-1] if line.startswith("[")]
    assert len(told) + len(left_out) == len(everything)
    for hit in everything.values():
        carrying = [line for line in told if re.search(rf"[(（]#{hit.short_id}[,，]", line)]
        assert len(carrying) == (hit.memory_id not in left_out)
    assert all(not unicodedata.combining(line[0]) for line in told)
    assert len(left_out) == 0 or any(str(len(left_out)) in line for line in lines[2:-1] if line[0] in "(（")


@settings(max_examples=60, deadline=None)
@given(st.lists(LONG, min_size=1, max_size=8).map(standing_of), RULERS)
def test_standing_memories_keep_to_their_slot_and_the_most_important_is_always_told(
    standing: list[MemoryHit], ruler: Ruler
) -> None:
    block = pack((), standing, understand(Query("what about snacks?", NOW)), confident=False, ruler=ruler)
    told = [line for line in block.text.split("\n") if line.startswith("[")]
    assert 1 <= len(told) <= STANDING_LINES
    assert ruler.tokens("\n".join(told)) <= STANDING_TOKENS
    assert f"#{standing[0].short_id}" in told[0]


@settings(max_examples=150, deadline=None)
@given(LONG, st.integers(0, 200), RULERS)
def test_an_excerpt_is_within_its_room_and_of_the_text(text: str, room: int, ruler: Ruler) -> None:
    part = excerpt(text, room, frozenset({"peanut"}), ruler)
    assert part == "…" or ruler.tokens(part) <= room
    assert part.strip("…").strip() in text


@given(st.lists(WORDS, min_size=1, max_size=30).map("".join), st.integers(0, 200))
def test_no_word_number_id_or_character_is_cut(text: str, end: int) -> None:
    assume(re.search(rf"[!-~]{{{LONGEST_WORD},}}", text) is None)  # what goes on longer is no word and may be cut
    place = whole_end(text, end)
    assert place <= end
    if 0 < place < len(text):
        before, after = text[place - 1], text[place]
        assert not (before.isascii() and before.isalnum() and after.isascii() and after.isalnum())
        assert not unicodedata.combining(after)
        assert "\u200d" not in (before, after)


@pytest.mark.parametrize(
    ("text", "end", "left"),
    [
        ("costs 1,200.50 in all", 9, "costs "),
        ("see #k7m2q9 there", 7, "see "),
        ("we are 👩‍👩‍👧 now", 9, "we are "),
        ("flags 🇨🇳🇳🇴", 9, "flags 🇨🇳"),
        ("cafe\u0301s are open", 4, ""),
        ("她养了一只猫叫咪咪", 4, "她养了一"),
        ("x" * 100, 70, "x" * 70),
    ],
)
def test_where_a_text_may_be_cut(text: str, end: int, left: str) -> None:
    assert text[: whole_end(text, end)] == left


def test_what_was_asked_about_is_found_in_the_middle_of_an_endless_sentence() -> None:
    text = "猫" * 3000 + "航班UA123在B7登机口" + "狗" * 3000
    assert "UA123" in excerpt(text, 80, frozenset({"ua123"}))
    log = ", ".join(f"item {number} is fine" for number in range(900)) + ", item 901 is on fire"
    assert "901 is on fire" in excerpt(log, 60, frozenset({"fire"}))


def test_a_cut_says_so_and_a_short_text_is_left_alone() -> None:
    assert cut("one two three", 50) == "one two three"
    assert cut("one two three four five six", 4).endswith("…")
    assert shortened("session-1", 40) == "session-1"
    assert shortened("a b " * 30, 12) == "a b a b a b…"


def test_a_line_that_would_say_nothing_is_left_out_and_counted() -> None:
    hits = [MemoryHit(memory(number, "很长的一段话，" * 80), 0.5, {}) for number in range(1, 13)]
    block = pack(hits, (), understand(Query("什么", NOW, max_tokens=MIN_TOKENS)), confident=True)
    told = [line for line in block.text.split("\n") if line.startswith("[")]
    assert told
    assert all("很长的一段话" in line for line in told)
    assert f"另有 {12 - len(told)} 条" in block.text


def test_constraints_beyond_their_slot_are_counted() -> None:
    standing = standing_of([f"用户对第{number}种坚果过敏" for number in range(1, 7)])
    block = pack((), standing, understand(Query("吃什么", NOW)), confident=False)
    assert len(block.unnamed) == 6 - STANDING_LINES
    assert f"另有 {len(block.unnamed)} 条" in block.text
