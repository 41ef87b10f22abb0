"""Few threads for many callers: batches shared fairly, failures answered, nothing left waiting."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from hindsight.errors import InvalidInput, ModelUnavailable
from hindsight.models.lane import Floats, Lane

PATIENCE = 10.0  # seconds until a deadlock counts as one


class Encoder:
    """Gives each text its number. Waits at `gate` and records its batches; "bad" fails."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.entered = threading.Event()
        self.batches: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> Floats:
        self.batches.append(list(texts))
        self.entered.set()
        assert self.gate.wait(PATIENCE)
        if "bad" in texts:
            raise RuntimeError("no such weight")
        if "refused" in texts:
            raise InvalidInput("text", "refused", "others")
        return np.array([[int(text)] for text in texts], dtype=np.float32)


@pytest.fixture
def encoder() -> Encoder:
    return Encoder()


def lane_of(encoder: Encoder, slice_size: int = 4) -> Lane:
    return Lane("The test's encoder", encoder, slice_size=slice_size, hint="Try another.")


async def busy(lane: Lane, encoder: Encoder) -> asyncio.Task[Floats]:
    """A lane whose thread is at work on "0", so that what comes next has to wait."""
    task = asyncio.create_task(lane.run(["0"]))
    assert await asyncio.to_thread(encoder.entered.wait, PATIENCE)
    return task


async def started(*runs: Sequence[str], lane: Lane) -> list[asyncio.Task[Floats]]:
    tasks = [asyncio.create_task(lane.run(texts)) for texts in runs]
    await asyncio.sleep(0)  # lets each task enter the queue
    return tasks


async def test_callers_that_wait_share_a_batch(encoder: Encoder) -> None:
    lane = lane_of(encoder)
    first = await busy(lane, encoder)
    tasks = await started(["1"], ["2", "3"], lane=lane)
    encoder.gate.set()
    answers = await asyncio.gather(first, *tasks)
    assert encoder.batches == [["0"], ["1", "2", "3"]]
    assert [answer.ravel().tolist() for answer in answers] == [[0], [1], [2, 3]]
    await lane.aclose()


async def test_a_long_request_does_not_keep_out_a_short_one(encoder: Encoder) -> None:
    lane = lane_of(encoder)
    first = await busy(lane, encoder)
    long = [str(number) for number in range(10, 20)]
    tasks = await started(long, ["1"], lane=lane)
    encoder.gate.set()
    answers = await asyncio.gather(first, *tasks)
    assert "1" in encoder.batches[1]
    assert all(len(batch) <= 4 for batch in encoder.batches)
    assert answers[1].ravel().tolist() == list(range(10, 20))
    await lane.aclose()


async def test_a_failure_reaches_every_caller_of_the_batch_and_the_lane_goes_on(encoder: Encoder) -> None:
    lane = lane_of(encoder)
    first = await busy(lane, encoder)
    tasks = await started(["1"], ["bad", *"23456789"], lane=lane)
    encoder.gate.set()
    await first
    for task in tasks:
        with pytest.raises(ModelUnavailable, match="no such weight") as caught:
            await task
        assert isinstance(caught.value.__cause__, RuntimeError)
        assert caught.value.hint == "Try another."
    assert (await lane.run(["7"])).tolist() == [[7]]
    assert len(encoder.batches) == 3  # the rest of the failed request was dropped
    await lane.aclose()


async def test_an_error_of_ours_is_passed_on_as_it_is(encoder: Encoder) -> None:
    encoder.gate.set()
    lane = lane_of(encoder)
    with pytest.raises(InvalidInput):
        await lane.run(["refused"])
    await lane.aclose()


async def test_a_cancelled_request_is_not_worked_on(encoder: Encoder) -> None:
    lane = lane_of(encoder)
    first = await busy(lane, encoder)
    [gone, stays] = await started(["1"], ["2"], lane=lane)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    encoder.gate.set()
    await asyncio.gather(first, stays)
    assert encoder.batches == [["0"], ["2"]]
    await lane.aclose()


async def test_a_request_cancelled_while_it_is_encoded_harms_nobody(encoder: Encoder) -> None:
    lane = lane_of(encoder)
    first = await busy(lane, encoder)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    encoder.gate.set()
    assert (await lane.run(["5"])).tolist() == [[5]]
    await lane.aclose()


async def test_closing_finishes_the_slice_at_work_and_fails_what_waits(encoder: Encoder) -> None:
    lane = lane_of(encoder)
    first = await busy(lane, encoder)
    [waiting] = await started(["1"], lane=lane)
    closing = asyncio.create_task(lane.aclose())
    with pytest.raises(ModelUnavailable, match="closed"):
        await waiting
    encoder.gate.set()
    await closing
    assert (await first).tolist() == [[0]]
    with pytest.raises(ModelUnavailable, match="closed"):
        await lane.run(["2"])
    await lane.aclose()


async def test_a_lane_that_was_never_used_closes() -> None:
    await lane_of(Encoder()).aclose()


class Pair:
    """Gives each text its number, once two threads are inside; the thread that has "0" ends last. "bad" fails."""

    def __init__(self) -> None:
        self.both = threading.Barrier(2, timeout=PATIENCE)
        self.others_done = threading.Event()
        self.threads: set[int] = set()

    def __call__(self, texts: Sequence[str]) -> Floats:
        if threading.get_ident() not in self.threads:
            self.threads.add(threading.get_ident())
            self.both.wait()
        if "bad" in texts:
            raise RuntimeError("no such weight")
        if "0" in texts:
            assert self.others_done.wait(PATIENCE)
        if "15" in texts:
            self.others_done.set()
        return np.array([[int(text)] for text in texts], dtype=np.float32)


async def test_two_threads_share_a_long_request_and_keep_its_order() -> None:
    encode = Pair()
    lane = Lane("The test's encoder", encode, slice_size=8, hint="Try another.", threads=2)
    vectors = await lane.run([str(number) for number in range(16)])
    assert vectors.ravel().tolist() == list(range(16))
    assert len(encode.threads) == 2
    await lane.aclose()


async def test_a_failure_in_one_thread_fails_the_request_once() -> None:
    lane = Lane("The test's encoder", Pair(), slice_size=8, hint="Try another.", threads=2)
    with pytest.raises(ModelUnavailable, match="no such weight"):
        await lane.run([*map(str, range(1, 15)), "bad", "15"])
    assert (await lane.run(["7"])).tolist() == [[7]]
    await lane.aclose()


async def test_few_texts_need_no_second_thread(encoder: Encoder) -> None:
    encoder.gate.set()
    lane = Lane("The test's encoder", encoder, slice_size=8, hint="Try another.", threads=2)
    await lane.run(["1", "2"])
    assert len(lane._threads) == 1
    await lane.run([str(number) for number in range(40)])
    assert len(lane._threads) == 2
    await lane.aclose()


async def test_the_second_thread_keeps_away_while_there_is_nothing_to_spare() -> None:
    threads: set[int] = set()
    asked = threading.Event()

    def encode(texts: Sequence[str]) -> Floats:
        assert asked.wait(PATIENCE)
        threads.add(threading.get_ident())
        return np.array([[int(text)] for text in texts], dtype=np.float32)

    def spare() -> bool:
        asked.set()
        return False

    lane = Lane("The test's encoder", encode, slice_size=8, hint="Try another.", threads=2, spare=spare)
    assert (await lane.run([str(number) for number in range(40)])).ravel().tolist() == list(range(40))
    assert len(threads) == 1
    await lane.aclose()
