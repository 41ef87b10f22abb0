"""Proposals wait, are found nowhere before they are accepted, come once, and are taken back by undo."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hindsight import AsyncHindsight
from hindsight.config import load
from hindsight.domain.change import Contradiction, OutcomeAction
from hindsight.domain.experience import Experience, OutcomeStatus
from hindsight.domain.memory import Memory, Status
from hindsight.domain.reflection import Proposal
from hindsight.errors import InvalidInput, NotFound
from hindsight.write.review import AlreadyDecided
from tests.experience import sessions as made

QUESTION = "npm run dev 失败 EADDRINUSE address already in use"
ONLY = {"types": ["experience"], "min_confidence": 0}


def opened(folder: Path, **settings: object) -> AsyncHindsight:
    return AsyncHindsight(settings=load(data_dir=folder, embedding_model="none", **settings))


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncHindsight:
    return opened(tmp_path)


async def proposed(memory: AsyncHindsight, pieces: tuple[made.Piece, ...] = made.PORT_TAKEN) -> Proposal:
    await memory.write([*made.written(pieces)], session_id="s-1")
    (proposal,) = (await memory.reflect(session_id="s-1")).proposals
    return proposal


async def waiting(memory: AsyncHindsight) -> list[Contradiction | Proposal]:
    return list((await memory.reviews()).items)


def body_of(memory: Memory) -> Experience:
    assert isinstance(memory.body, Experience)
    return memory.body


async def test_an_own_session_is_reflected_on_and_its_episodes_are_cited(memory: AsyncHindsight) -> None:
    async with memory:
        receipt = await memory.write([*made.written(made.PORT_TAKEN)], session_id="s-1")
        reflection = await memory.reflect(session_id="s-1", agent="reviewer")
    (proposal,) = reflection.proposals
    cited = [one.ref for one in proposal.evidence]
    assert cited
    assert set(cited) <= set(receipt.episode_ids)
    assert all(refs and set(refs) <= set(cited) for refs in proposal.steps_on)
    assert all(one.text for one in proposal.evidence)
    assert (proposal.memory.session_id, proposal.memory.agent) == ("s-1", "reviewer")
    assert proposal.memory.metadata["source"] == "reflection"


async def test_a_proposal_is_found_nowhere_but_in_the_review(memory: AsyncHindsight) -> None:
    async with memory:
        proposal = await proposed(memory)
        assert not (await memory.search(QUESTION, filters=ONLY)).hits
        later = await memory.search(QUESTION, filters=ONLY, as_of="2999-01-01T00:00:00Z")
        assert not later.hits
        assert not (await memory.list(filters=ONLY)).items
        stats = await memory.stats()
        assert stats.memories_by_status["proposed"] == 1
        assert "experience" not in stats.memories_by_kind
        assert (await memory.prune(min_confidence=1.0)).examined == 0
        assert not (await memory.merge_experiences()).outcomes
        with pytest.raises(InvalidInput, match="proposed"):
            await memory.feedback(proposal.memory.id, "success")
        (item,) = await waiting(memory)
    assert isinstance(item, Proposal)
    assert item.memory.id == proposal.memory.id


async def test_an_accepted_one_is_an_experience_like_any_other_until_that_is_undone(memory: AsyncHindsight) -> None:
    async with memory:
        proposal = await proposed(memory)
        receipt = await memory.resolve_review(proposal.memory.short_id, "accept")
        assert [one.action for one in receipt.outcomes] == [OutcomeAction.ADDED]
        (hit,) = (await memory.search(QUESTION, filters=ONLY)).hits
        assert hit.memory_id == proposal.memory.id
        assert not await waiting(memory)
        assert body_of(await memory.feedback(proposal.memory.id, "success")).outcome.confidence == 60
    async with memory:
        with pytest.raises(AlreadyDecided):
            await memory.resolve_review(proposal.memory.id, "accept")


async def test_acceptance_and_rejection_are_taken_back(memory: AsyncHindsight) -> None:
    async with memory:
        proposal = await proposed(memory)
        for choice in ("accept", "reject"):
            receipt = await memory.resolve_review(proposal.memory.id, choice)
            assert not await waiting(memory)
            await memory.undo(receipt.undo or "")
            assert (await memory.get(proposal.memory.id)).status is Status.PROPOSED
            assert len(await waiting(memory)) == 1
            assert not (await memory.search(QUESTION, filters=ONLY)).hits


@pytest.mark.parametrize("choice", ["accept", "reject", None])
async def test_the_same_session_proposes_nothing_twice(memory: AsyncHindsight, choice: str | None) -> None:
    async with memory:
        proposal = await proposed(memory)
        if choice is not None:
            await memory.resolve_review(proposal.memory.id, choice)
        again = await memory.reflect(session_id="s-1")
        assert (again.proposals, again.known) == ((), 1)
        await memory.write([*made.written(made.NO_PYTHON)], session_id="s-1")
        grown = await memory.reflect(session_id="s-1")
    assert [one.sort for one in grown.proposals] == ["instead"]


async def test_the_same_lesson_from_another_form_of_the_session_is_known(memory: AsyncHindsight) -> None:
    async with memory:
        first = await memory.reflect(transcript=made.lines(made.claude(made.MISSING_MODULE)))
        again = await memory.reflect(transcript=list(made.anthropic(made.MISSING_MODULE)))
    assert (len(first.proposals), len(again.proposals), again.known) == (1, 0, 1)


async def test_what_is_alike_is_merged_on_acceptance_and_parted_by_undo(memory: AsyncHindsight) -> None:
    async with memory:
        proposal = await proposed(memory)
        context = body_of(proposal.memory).trigger.context
        await memory.write_experience(context, ["换一个端口：npm run dev -- -p 3001"])
        receipt = await memory.resolve_review(proposal.memory.id, "accept")
        assert [one.action for one in receipt.outcomes] == [OutcomeAction.MERGED]
        merged = await memory.get(receipt.outcomes[0].memory_id or "")
        assert len(body_of(merged).ways) == 2
        await memory.undo(receipt.undo or "")
        assert (await memory.get(proposal.memory.id)).status is Status.PROPOSED
        assert len((await memory.search(QUESTION, filters=ONLY)).hits) == 1


async def test_what_was_written_meanwhile_is_not_doubled_by_acceptance(memory: AsyncHindsight) -> None:
    async with memory:
        proposal = await proposed(memory)
        body = body_of(proposal.memory)
        await memory.write_experience(body.trigger.context, list(body.action.steps))
        held = await memory.resolve_review(proposal.memory.id, "accept")
        assert [one.action for one in held.outcomes] == [OutcomeAction.IGNORED]
        assert not await waiting(memory)
        assert len((await memory.search(QUESTION, filters=ONLY)).hits) == 1


async def test_with_auto_accept_nothing_waits(tmp_path: Path) -> None:
    async with opened(tmp_path, reflect_auto_accept=True) as memory:
        await memory.write([*made.written(made.PORT_TAKEN)], session_id="s-1")
        reflection = await memory.reflect(session_id="s-1")
        assert not await waiting(memory)
        assert len((await memory.search(QUESTION, filters=ONLY)).hits) == 1
        (receipt,) = reflection.receipts
        await memory.undo(receipt.undo or "")
        assert len(await waiting(memory)) == 1


async def test_the_cap_takes_the_best_and_says_what_it_left_out(tmp_path: Path) -> None:
    several = (*made.STALE_LOCK, *made.WRONG_UNIT, *made.NO_PYTHON)
    async with opened(tmp_path, reflect_most=1) as memory:
        reflection = await memory.reflect(transcript=made.lines(made.claude(several)))
        assert (len(reflection.proposals), reflection.left_out) == (1, 2)
        second = await memory.reflect(transcript=made.lines(made.claude(several)))
    assert (len(second.proposals), second.left_out, second.known) == (1, 1, 1)


async def worked_off(memory: AsyncHindsight) -> None:
    """Wait until no job is left, whoever does it: the engine's own worker may hold one."""
    parts = (await memory.engine()).parts
    async with asyncio.timeout(60):
        while await parts.store.jobs("default"):
            await parts.worker.run_one()
            await asyncio.sleep(0)


async def test_the_end_of_a_session_starts_reflection_by_itself(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.write([*made.written(made.PORT_TAKEN)], session_id="s-1")
        await memory.end_session("s-1")
        await worked_off(memory)
        assert len(await waiting(memory)) == 1


async def test_the_setting_turns_that_off(tmp_path: Path) -> None:
    async with opened(tmp_path, reflect=False) as memory:
        await memory.write([*made.written(made.PORT_TAKEN)], session_id="s-1")
        await memory.end_session("s-1")
        await worked_off(memory)
        assert not await waiting(memory)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "session_id"),
        ({"session_id": ""}, "session_id"),
        ({"session_id": "x" * 300}, "session_id"),
        ({"transcript": 7}, "transcript"),
        ({"transcript": "no transcript"}, "transcript"),
        ({"transcript": Path("/nowhere/at/all.jsonl")}, "transcript"),
        ({"transcript": [], "agent": ""}, "agent"),
    ],
)
async def test_bad_input_names_the_field(memory: AsyncHindsight, given: dict[str, Any], field: str) -> None:
    async with memory:
        with pytest.raises(InvalidInput) as caught:
            await memory.reflect(**given)
    assert caught.value.field == field


async def test_an_unknown_session_and_a_wrong_choice_are_told(memory: AsyncHindsight) -> None:
    async with memory:
        with pytest.raises(NotFound):
            await memory.reflect(session_id="nobody")
        proposal = await proposed(memory)
        with pytest.raises(InvalidInput, match="accept or reject"):
            await memory.resolve_review(proposal.memory.id, "new")
        fact = (await memory.write("I live in Oslo.")).outcomes[0].memory_id or ""
        with pytest.raises(InvalidInput, match="new, old or both"):
            await memory.resolve_review(fact, "accept")


async def test_reviews_are_paged_across_contradictions_and_proposals(memory: AsyncHindsight) -> None:
    async with memory:
        await memory.write("The user lives in Florence")
        await memory.write("The user now lives in Rome", role="document")
        lessons = (*made.STALE_LOCK, *made.NO_PYTHON, *made.WRONG_UNIT)
        await memory.reflect(transcript=made.lines(made.claude(lessons)))
        seen: list[str] = []
        after: str | None = None
        for _ in range(9):
            page = await memory.reviews(limit=1, after=after)
            seen += [one.memory.id if isinstance(one, Proposal) else one.new.id for one in page.items]
            after = page.next
            if after is None:
                break
        whole = [one.memory.id if isinstance(one, Proposal) else one.new.id for one in await waiting(memory)]
        assert not [one for one in (await memory.reviews(state="closed")).items if isinstance(one, Proposal)]
    assert len(whole) == 4
    assert seen == whole


# What the session itself says of experiences that it had found and followed.


def found(memory_id: str, *after: made.Piece) -> tuple[made.Piece, ...]:
    block = f"[经验] npm run dev 端口被占用（#{memory_id[-8:]}）"
    return (made.user("启动开发服务器"), made.Call("mcp__hindsight__memory_search", {"query": "npm"}, block), *after)


KILL, START = made.run("kill $(lsof -t -i:3000)", ""), made.run("npm run dev", "ready")
STILL = made.run("npm run dev", "Error: listen EADDRINUSE: address already in use :::3000", failed=True)


@pytest.mark.parametrize(
    ("after", "outcomes", "confidence"),
    [
        ((KILL, START), [OutcomeStatus.SUCCESS], 60),
        ((KILL, STILL), [OutcomeStatus.FAILURE], 30),
        ((KILL,), [], 50),  # only one of its steps
        ((made.run("ls"), made.run("npm test", "3 passed")), [], 50),  # something else
        ((made.user("现在写一下文档"), KILL, START), [], 50),  # another task
        ((KILL, START, made.Call("memory_feedback", {"memory_id": "#ID", "outcome": "success"}, "ok")), [], 50),
    ],
)
async def test_an_experience_that_was_found_and_followed_gets_its_feedback_once(
    memory: AsyncHindsight, after: tuple[made.Piece, ...], outcomes: list[OutcomeStatus], confidence: int
) -> None:
    async with memory:
        steps = ["运行 `kill $(lsof -t -i:3000)`", "再次运行 `npm run dev`"]
        receipt = await memory.write_experience("npm run dev 端口 3000 被占用", steps)
        one = receipt.outcomes[0].memory_id or ""
        own = [
            made.Call(piece.tool, {**piece.given, "memory_id": f"#{one[-8:]}"}, piece.result)
            if isinstance(piece, made.Call) and "memory_id" in piece.given
            else piece
            for piece in after
        ]
        lines = made.lines(made.claude(found(one, *own)))
        reflection = await memory.reflect(transcript=lines, agent="watcher")
        assert [rated.outcome for rated in reflection.rated] == outcomes
        assert not (await memory.reflect(transcript=lines, agent="watcher")).rated
        kept = await memory.get(one)
        history = await memory.history(one)
    assert body_of(kept).outcome.confidence == confidence
    if outcomes:
        assert (history[-1].actor, outcomes[0].value in history[-1].reason) == ("watcher", True)
        assert "session s-1" in history[-1].reason


async def test_what_did_not_help_need_not_be_done_to_have_followed_an_experience(memory: AsyncHindsight) -> None:
    async with memory:
        vain = [f"没有用：运行 `npm cache {word}`" for word in ("verify", "clean", "add")]
        steps = ["运行 `kill $(lsof -t -i:3000)`", "再次运行 `npm run dev`", *vain]
        receipt = await memory.write_experience("npm run dev 端口 3000 被占用", steps)
        lines = made.lines(made.claude(found(receipt.outcomes[0].memory_id or "", KILL, START)))
        reflection = await memory.reflect(transcript=lines)
    assert [rated.outcome for rated in reflection.rated] == [OutcomeStatus.SUCCESS]
