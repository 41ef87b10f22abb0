"""What reflection on a session came to: experiences that wait to be accepted, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hindsight.domain.change import Receipt
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.memory import Memory


class ProposalChoice(StrEnum):
    """What a person says of a proposed experience."""

    ACCEPT = "accept"  # it is kept
    REJECT = "reject"  # it is not, and does not come back


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a proposal rests on: the id of an episode, or the line (message) of a transcript, and an excerpt."""

    ref: str
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """An experience that waits for a person. `sort` says why it is proposed.

    `confidence`: how sure it is that these steps made the outcome; `worth`: what it is worth to find again; both 0 to
    1. `steps_on`: for each step the refs that it rests on.
    """

    memory: Memory
    sort: str
    worth: float
    confidence: float
    evidence: tuple[Evidence, ...]
    steps_on: tuple[tuple[str, ...], ...]
    worded_by: str = ""


@dataclass(frozen=True, slots=True)
class Rated:
    """Feedback that the session itself gave: an experience that it had found, followed, and saw the end of."""

    memory: Memory
    outcome: OutcomeStatus
    reason: str


@dataclass(frozen=True, slots=True)
class Reflection:
    """The outcome of reflecting on one session.

    `known`: found again, but proposed, decided or kept before. `left_out`: beyond the cap. `receipts`: of proposals
    that were accepted at once. `passed_over`: lines that could not be read, with the reason; `unreported` more of them.
    """

    session_id: str | None
    events: int
    proposals: tuple[Proposal, ...] = ()
    known: int = 0
    left_out: int = 0
    rated: tuple[Rated, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    unreported: int = 0
    dropped: int = 0
    degraded: tuple[str, ...] = ()
