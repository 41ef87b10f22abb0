"""One BLAS thread while an encoder is loaded, whichever thread asks and whichever gives it back."""

import threading
from collections.abc import Callable

import numpy as np  # loads the library whose threads are counted
from threadpoolctl import ThreadpoolController, threadpool_info

from hindsight.models import blas


def threads() -> set[int]:
    assert np.__version__
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def in_a_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_the_limit_holds_until_the_last_one_releases_it() -> None:
    before = threads()
    in_a_thread(blas.hold_one_thread)
    in_a_thread(blas.hold_one_thread)
    in_a_thread(blas.release)
    assert threads() <= {1}
    blas.release()
    assert threads() == before


def test_the_limit_holds_where_another_living_thread_set_it_first() -> None:
    before = threads()
    held = ThreadpoolController().limit(limits=2, user_api="blas")
    in_a_thread(blas.hold_one_thread)
    assert threads() <= {1}
    in_a_thread(blas.release)
    held.restore_original_limits()
    assert threads() == before
