"""Bodies of REST requests, as the OpenAPI document shows them. The engine checks what needs more than a type."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from hindsight.domain.episode import Role
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.memory import Kind, Layer
from hindsight.experience.prune import MAX_DAYS, MAX_USES
from hindsight.search.request import MAX_TOKENS, MAX_TOP_K, MIN_TOKENS

Share = Annotated[float, Field(ge=0, le=1)]
MAX_BATCH = 1000  # writes in one request: bounds the time a single transaction takes


class Body(BaseModel):
    """A request body: a field that is not known is refused, not ignored."""

    model_config = ConfigDict(extra="forbid")


class MessageBody(Body):
    """One message of a conversation."""

    content: str
    role: Role = Role.USER
    speaker: str | None = None
    occurred_at: str | None = Field(default=None, examples=["2024-01-15T09:30:00+08:00"])
    timezone: str | None = Field(default=None, examples=["Asia/Shanghai"])
    agent: str | None = None
    tool: str | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class WriteBody(Body):
    """What was said or done: text, or the messages of a conversation."""

    content: str | list[MessageBody] = Field(examples=["用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏"])
    session_id: str | None = None
    occurred_at: str | None = None
    timezone: str | None = None
    speaker: str | None = None
    role: Role | None = None
    kind: Kind | None = Field(default=None, description="Keeps the whole content as one memory of this kind.")
    importance: Share | None = None
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    idempotency_key: str | None = None


class BatchBody(Body):
    """Many writes at once."""

    writes: list[WriteBody] = Field(min_length=1, max_length=MAX_BATCH)


class ExperienceBody(Body):
    """What worked or failed, in which situation."""

    trigger_context: str = Field(examples=["用户要求把 PDF 转换成 Markdown"])
    action_steps: list[str] = Field(min_length=1, examples=[["用 pdftotext 抽取文本", "按标题分段", "写成 Markdown"]])
    outcome_status: OutcomeStatus = OutcomeStatus.SUCCESS
    tags: list[str] = Field(default_factory=list)
    tools_used: list[str] = Field(default_factory=list)
    keywords: list[str] = Field(default_factory=list)
    session_id: str | None = None
    agent: str | None = None


class FilterBody(Body):
    """What a hit must satisfy."""

    types: list[Kind] | None = None
    layers: list[Layer] | None = None
    tags: list[str] | None = None
    entities: list[str] | None = None
    speakers: list[str] | None = None
    sessions: list[str] | None = None
    exclude_sessions: list[str] | None = None
    min_confidence: Share | None = None
    time_range: str | None = None
    as_of: str | None = None


class SearchBody(Body):
    """A question."""

    query: str = Field(examples=["吃什么要小心"])
    top_k: int | None = Field(default=None, ge=1, le=MAX_TOP_K)
    session_id: str | None = None
    time_range: str | None = Field(default=None, examples=["2024-01-01/2024-02-01"])
    filters: FilterBody | None = None
    asked_at: str | None = None
    max_tokens: int | None = Field(default=None, ge=MIN_TOKENS, le=MAX_TOKENS)
    as_of: str | None = None


class UpdateBody(Body):
    """A memory's new state; what is left out stays."""

    new_content: str | None = None
    confidence: Share | None = None
    importance: Share | None = None


class FeedbackBody(Body):
    """Whether following an experience worked."""

    outcome: OutcomeStatus
    note: str = ""
    agent: str | None = None


class MergeBody(Body):
    """Who merges."""

    agent: str | None = None


class PruneBody(Body):
    """Which experiences are let go; the usual limits where one is left out."""

    dry_run: bool = Field(default=True, description="Only name them.")
    min_confidence: Share | None = Field(default=None, description="Trusted less than this; else 0.3.")
    max_age_days: int | None = Field(
        default=None,
        ge=0,
        le=MAX_DAYS,
        description="Older than this and hardly used; else 90, or 180 if there are few.",
    )
    min_uses: int | None = Field(default=None, ge=0, le=MAX_USES, description="Used less often than this; else 3.")
    agent: str | None = None


class DecayBody(Body):
    """By how much a memory fades: 0 not at all, 1 it is hidden."""

    decay_factor: Share
    reason: str = ""


class PinBody(Body):
    """Whether a memory is pinned."""

    pinned: bool = True


class ReviewBody(Body):
    """What the user says of a contradiction, or of a proposed experience."""

    choice: Literal["new", "old", "both", "accept", "reject"] = Field(
        examples=["new"],
        description="`new`: the newer memory holds in place of the others; `old`: it does not; `both` stand. Of a "
        "proposed experience: `accept` or `reject`.",
    )


class ReflectBody(Body):
    """A session that was written here, or a transcript, or both: then the transcript is of that session."""

    session_id: str | None = None
    transcript: str | list[dict[str, JsonValue]] | None = Field(
        default=None, description="Messages with tool calls and results, or the content of a Claude Code file."
    )
    agent: str | None = None


class WeightsBody(Body):
    """How much each part of the score counts; what is left out counts nothing."""

    relevance: Share = 0.0
    freshness: Share = 0.0
    importance: Share = 0.0
    use: Share = 0.0


class ReplayBody(Body):
    """How a traced search is run again."""

    as_of_then: bool = Field(default=False, description="On the store as it was; else as it is now.")
    weights: str | WeightsBody | None = Field(
        default=None, description="A preset, or `now` for those in force, or numbers; else those of then."
    )


class UndoBody(Body):
    """The `undo` token of a receipt."""

    token: str
