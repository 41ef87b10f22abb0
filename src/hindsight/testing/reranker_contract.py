"""What every reranker must do, as a class of tests. An adapter's test file inherits it and says how it is opened:

    class TestMyReranker(RerankerContract):
        adapter = MyReranker

        @asynccontextmanager
        async def opened(self, folder: Path) -> AsyncIterator[Reranker]:
            yield MyReranker()

It must find `GOOD` a better answer to `QUERY` than `POOR`. `folder` is empty.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import ClassVar

import pytest

from hindsight.errors import InvalidInput, ModelUnavailable
from hindsight.ports import Reranker

QUERY = "who is allergic to peanuts"
GOOD = "Ann is allergic to peanuts"
POOR = "the stock market fell again"
KINDS = ("empty", "space", "control", "emoji", "chinese", "long")
PATIENT = 60.0  # seconds: a busy machine must not decide a test


class RerankerContract:
    """What holds for all rerankers."""

    adapter: ClassVar[type]

    def opened(self, folder: Path) -> AbstractAsyncContextManager[Reranker]:
        raise NotImplementedError

    @pytest.fixture
    async def reranker(self, tmp_path: Path) -> AsyncIterator[Reranker]:
        async with self.opened(tmp_path) as opened:
            yield opened
            await opened.aclose()
            await opened.aclose()

    async def test_it_is_the_adapter_that_it_says(self, reranker: Reranker) -> None:
        assert type(reranker) is self.adapter
        assert reranker.model

    async def test_each_text_has_a_score_from_0_to_1_in_its_place(self, reranker: Reranker) -> None:
        scores = await reranker.score(QUERY, [POOR, GOOD, POOR], within=PATIENT)
        assert len(scores) == 3
        assert all(0.0 <= score <= 1.0 for score in scores)
        assert scores[1] > scores[0] == pytest.approx(scores[2], abs=1e-3)

    async def test_no_texts_have_no_scores(self, reranker: Reranker) -> None:
        assert list(await reranker.score(QUERY, [], within=PATIENT)) == []

    async def test_a_text_is_judged_by_itself(self, reranker: Reranker) -> None:
        [alone] = await reranker.score(QUERY, [GOOD], within=PATIENT)
        many = await reranker.score(QUERY, [*[POOR] * 49, GOOD, *["long " * 400] * 3], within=PATIENT)
        assert many[49] == pytest.approx(alone, abs=1e-3)

    @pytest.mark.parametrize("odd", ["", " ", "\n\x00", "🙂", "花生过敏", "peanuts " * 20_000], ids=KINDS)
    async def test_odd_texts_and_queries_are_scored(self, reranker: Reranker, odd: str) -> None:
        for query, text in ((QUERY, odd), (odd, GOOD)):
            [score] = await reranker.score(query, [text], within=PATIENT)
            assert math.isfinite(score)

    async def test_a_lone_surrogate_is_refused_by_name(self, reranker: Reranker) -> None:
        with pytest.raises(InvalidInput, match="surrogates"):
            await reranker.score(QUERY, [GOOD, "broken \ud800"], within=PATIENT)
        with pytest.raises(InvalidInput, match="surrogates"):
            await reranker.score("broken \ud800", [GOOD], within=PATIENT)

    async def test_callers_at_once_each_get_their_own(self, reranker: Reranker) -> None:
        [good], [poor] = [await reranker.score(QUERY, [text], within=PATIENT) for text in (GOOD, POOR)]
        calls = (reranker.score(QUERY, [GOOD, POOR] if n % 2 else [POOR, GOOD], within=PATIENT) for n in range(8))
        for number, scores in enumerate(await asyncio.gather(*calls)):
            expected = [good, poor] if number % 2 else [poor, good]
            assert list(scores) == pytest.approx(expected, abs=1e-3)

    async def test_what_takes_longer_than_allowed_is_unavailable(self, reranker: Reranker) -> None:
        with pytest.raises(ModelUnavailable, match="did not answer within 0 s"):
            await reranker.score(QUERY, [GOOD], within=0.0)
        assert len(await reranker.score(QUERY, [GOOD], within=PATIENT)) == 1

    async def test_a_call_that_is_given_up_does_not_hurt_the_next(self, reranker: Reranker) -> None:
        given_up = asyncio.create_task(reranker.score(QUERY, [GOOD] * 30, within=PATIENT))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert len(await reranker.score(QUERY, [GOOD], within=PATIENT)) == 1

    async def test_warming_changes_no_score(self, reranker: Reranker) -> None:
        before = await reranker.score(QUERY, [GOOD], within=PATIENT)
        await reranker.warm()
        assert list(await reranker.score(QUERY, [GOOD], within=PATIENT)) == pytest.approx(list(before), abs=1e-3)
