"""What a caller is told: one receipt for each request of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hindsight.domain.change import Receipt, WriteOutcome
from hindsight.write.assemble import outcome_of
from hindsight.write.extract import Candidate
from hindsight.write.prepare import Intake
from hindsight.write.reconcile import Decision


def receipts(
    intake: Intake,
    candidates: Sequence[Candidate],
    decisions: Sequence[Decision],
    degraded: tuple[str, ...],
    *,
    undo: str | None = None,
) -> list[Receipt]:
    """One receipt for each request of the call."""
    outcomes: list[list[WriteOutcome]] = [[] for _ in range(intake.requests)]
    episodes: list[list[str]] = [[] for _ in range(intake.requests)]
    facts = [0] * intake.requests
    for number, outcome in intake.ignored:
        outcomes[number].append(outcome)
    for episode in intake.episodes:
        episodes[intake.told[episode.id].request].append(episode.id)
    for candidate, decision in zip(candidates, decisions, strict=True):
        number = intake.told[candidate.episode_id].request
        outcomes[number].append(outcome_of(decision))
        facts[number] += not candidate.verbatim
    return [
        Receipt(
            outcomes=tuple(outcomes[number]),
            episode_ids=tuple(episodes[number]),
            facts=facts[number],
            verbatim=bool(episodes[number]) and facts[number] == 0,
            degraded=degraded,
            undo=undo,
        )
        for number in range(intake.requests)
    ]


def pending_receipts(intake: Intake, degraded: tuple[str, ...]) -> list[Receipt]:
    return [
        replace(receipt, verbatim=False, pending=True)
        for receipt in receipts(intake, (), (), degraded, undo=intake.key)
    ]


def joined(parts: Sequence[Receipt]) -> Receipt:
    """One answer for the whole call, kept by the store for its repetition."""
    if len(parts) == 1:
        return parts[0]
    return Receipt(
        outcomes=tuple(outcome for receipt in parts for outcome in receipt.outcomes),
        episode_ids=tuple(one for receipt in parts for one in receipt.episode_ids),
        facts=sum(receipt.facts for receipt in parts),
        verbatim=any(receipt.episode_ids for receipt in parts) and not any(receipt.facts for receipt in parts),
        degraded=parts[0].degraded,
        undo=parts[0].undo,
    )
