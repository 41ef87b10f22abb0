"""REST of digests, answers, clean-up and profiles."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from hindsight.interfaces.http.bodies import Body, FilterBody
from hindsight.interfaces.http.request import Memory, ReadMemory, given_in
from hindsight.interfaces.shapes import Shape
from hindsight.interfaces.shapes_upkeep import answer_shape, clean_shape, digest_shape, profile_shape
from hindsight.search.request import MAX_TOKENS, MIN_TOKENS

routes = APIRouter()


class SummaryBody(Body):
    """What is to be told: a session, a time, or a session within a time."""

    session_id: str | None = Field(default=None, examples=["today"])
    time_range: str | None = Field(
        default=None,
        description="An ISO interval from/to, or a phrase in Chinese or English.",
        examples=["上周", "2024-01-01/2024-02-01"],
    )
    max_tokens: int | None = Field(default=None, ge=MIN_TOKENS, le=MAX_TOKENS)


class AnswerBody(Body):
    """A question to be answered with citations."""

    question: str = Field(examples=["用户对什么过敏？"])
    session_id: str | None = None
    filters: FilterBody | None = None
    asked_at: str | None = None


class CleanBody(Body):
    """Whether clean-up only names what it would do."""

    dry_run: bool = Field(default=True, description="Only name it.")
    agent: str | None = None


@routes.post("/summaries", response_model=None)
async def summarize(body: SummaryBody, memory: ReadMemory) -> Shape:
    """A session or a time in few sentences, each with the memories it rests on."""
    return digest_shape(await memory.summarize(**given_in(body)))


@routes.post("/answer", response_model=None)
async def answer(body: AnswerBody, memory: ReadMemory) -> Shape:
    """An answer with citations; without a language model, the memories that answer best."""
    return answer_shape(await memory.answer(**given_in(body)))


@routes.post("/cleanup", response_model=None)
async def cleanup(body: CleanBody, memory: Memory) -> Shape:
    """Name, or put away, what is over, weak, said twice, long past or unconfirmed."""
    return clean_shape(await memory.cleanup(**given_in(body)))


@routes.get("/profile", response_model=None)
async def profile(memory: ReadMemory, subject: str | None = None) -> Shape:
    """What is known of somebody, of the user where nobody is named."""
    return profile_shape(await memory.profile(subject))
