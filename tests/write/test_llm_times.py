"""Times of what a language model read are resolved by rule, and it may say within bounds how much a thing matters."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hindsight.domain.episode import Message
from hindsight.domain.memory import Memory
from hindsight.write.importance import REPEATED_MOST
from hindsight.write.request import WriteRequest
from tests.models.chat_server import knowing
from tests.models.openai_server import EmbeddingServer
from tests.write.house import SPACE
from tests.write.kiln import Kiln, Make

SPOKEN = datetime(2023, 5, 24, 20, 0, tzinfo=UTC)  # a Wednesday; 25 May, four in the morning, in Shanghai


async def read(kiln: Kiln, server: EmbeddingServer, text: str, quote: str, **fields: object) -> Memory:
    """The memory of what the model read out of a text that the rules know nothing of."""
    server.answer = knowing({"quote": quote, "statement": quote, "kind": "event", **fields})
    message = Message(text, occurred_at=SPOKEN, timezone="Asia/Shanghai")
    await kiln.house.write(WriteRequest((message,), session_id="s"))
    return next(one for one in await kiln.house.active() if not one.verbatim)


PAST = [
    ("蓝窑昨天炸裂了两只坯。", "蓝窑昨天炸裂了两只坯", "2023-05-24", "2023-05-25"),
    ("龙窑上周封了火。", "龙窑上周封了火", "2023-05-15", "2023-05-22"),
    (
        "The blue kiln cracked two pots yesterday.",
        "The blue kiln cracked two pots yesterday",
        "2023-05-24",
        "2023-05-25",
    ),
    ("The dragon kiln was sealed last week.", "The dragon kiln was sealed last week", "2023-05-15", "2023-05-22"),
]


@pytest.mark.parametrize(("text", "quote", "begin", "end"), PAST)
async def test_a_past_event_is_dated_from_the_moment_and_zone_of_speaking(
    server: EmbeddingServer, make: Make, text: str, quote: str, begin: str, end: str
) -> None:
    memory = await read(make(), server, text, quote)
    when = memory.metadata["when"]
    assert isinstance(when, dict)
    assert (str(when["start"])[:10], str(when["end"])[:10]) == (begin, end)
    assert memory.occurred_at.isoformat()[:10] == begin
    assert quote in memory.content, "the words that were said stay"


PLANNED = [
    ("窑炉巡检将于明天进行。", "窑炉巡检将于明天进行", "2023-05-27"),
    ("The kiln will be inspected tomorrow.", "The kiln will be inspected tomorrow", "2023-05-27"),
]


@pytest.mark.parametrize(("text", "quote", "over"), PLANNED)
async def test_a_plan_holds_until_its_day_is_over(
    server: EmbeddingServer, make: Make, text: str, quote: str, over: str
) -> None:
    memory = await read(make(), server, text, quote)
    assert memory.valid_to is not None
    assert memory.valid_to.isoformat()[:10] == over


async def test_a_statement_without_a_time_happened_when_it_was_said(server: EmbeddingServer, make: Make) -> None:
    memory = await read(make(), server, "蓝窑烧到九号锥。", "蓝窑烧到九号锥", kind="fact")
    assert memory.occurred_at == SPOKEN
    assert "when" not in memory.metadata


# Importance ----------------------------------------------------------------------------------------------------------

KILN = "The blue kiln fires to cone nine"


@pytest.mark.parametrize(("matters", "value"), [("higher", 0.6), ("lower", 0.4), ("usual", 0.5), ("vital", 0.5)])
async def test_the_model_moves_importance_one_step_and_says_why(
    server: EmbeddingServer, make: Make, matters: str, value: float
) -> None:
    memory = await read(
        make(), server, f"{KILN}.", KILN, kind="fact", matters=matters, why="the\nwhole studio needs it"
    )
    assert memory.importance == value


async def test_its_reason_stands_in_the_receipt_and_the_history(server: EmbeddingServer, make: Make) -> None:
    kiln = make()
    memory = await read(kiln, server, f"{KILN}.", KILN, kind="fact", matters="higher", why="the whole studio needs it")
    (revision,) = await kiln.house.store.history(SPACE, memory.id)
    assert revision.reason == "importance 0.6: kind fact, judged by m: the whole studio needs it"


@pytest.mark.parametrize("why", ["", None, 7])
async def test_without_a_reason_nothing_moves(server: EmbeddingServer, make: Make, why: object) -> None:
    memory = await read(make(), server, f"{KILN}.", KILN, kind="fact", matters="higher", why=why)
    assert memory.importance == 0.5


async def test_the_model_speaks_of_what_the_rules_read_too(server: EmbeddingServer, make: Make) -> None:
    kiln = make()
    text = "I live in Oslo."
    memory = await read(kiln, server, text, "I live in Oslo", kind="fact", matters="lower", why="said in passing")
    assert (memory.content, memory.importance) == ("The user lives in Oslo", 0.55)


@pytest.mark.parametrize("matters", ["higher", "lower"])
async def test_a_danger_to_health_stays_what_it_is(server: EmbeddingServer, make: Make, matters: str) -> None:
    kiln = make()
    text = "I'm allergic to peanuts."
    memory = await read(kiln, server, text, text[:-1], kind="fact", matters=matters, why="the model says so")
    assert memory.importance == 0.95


async def test_nothing_else_is_raised_to_a_danger(server: EmbeddingServer, make: Make) -> None:
    kiln = make()
    text = "My name is Ines."
    memory = await read(kiln, server, text, text[:-1], kind="fact", matters="higher", why="it is a name")
    assert memory.importance == REPEATED_MOST
