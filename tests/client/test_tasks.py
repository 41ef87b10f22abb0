"""Sessions, forgetting many things at once and jobs, through the client and a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hindsight import Client
from hindsight.errors import InvalidInput, NotFound, Unsupported
from tests.serving import running_server


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("client") / "data", {"EMBEDDING_MODEL": "none"}) as url:
        yield url


@pytest.fixture
def memory(base: str, request: pytest.FixtureRequest) -> Iterator[Client]:
    with Client(base, namespace=request.node.name[:100]) as client:
        yield client


def test_a_task_notes_reads_and_ends(memory: Client) -> None:
    noted = memory.working("a/b", set={"目标": "写周报", "step": 1}, ttl=60)
    assert noted.variables == {"目标": "写周报", "step": 1}
    assert set(noted.expires) == {"目标", "step"}
    assert memory.working("a/b", set={"step": None}).variables == {"目标": "写周报"}
    assert [one.session_id for one in memory.sessions()] == ["a/b"]
    assert len(memory.end_session("a/b").episode_ids) == 1
    ended = memory.working("a/b")
    assert (ended.variables, ended.turns[-1].content) == ({}, "目标: 写周报")
    with pytest.raises(NotFound):
        memory.working("nobody")
    with pytest.raises(InvalidInput):
        memory.working("a/b", ttl=5)


def test_everything_about_a_name_is_shown_forgotten_and_taken_back(memory: Client) -> None:
    written = memory.write("Ann lives in Lisbon").outcomes[0].memory_id or ""
    shown = memory.forget_about("Ann")
    assert (shown.dry_run, shown.memories, shown.examples[0].memory_id) == (True, 1, written)
    done = memory.forget_about("Ann", dry_run=False)
    assert done.purge_after is not None
    proof = memory.proof(written)
    assert (proof.gone, proof.left["rows"]) == (False, 1)
    memory.undo(done.undo or "")
    with pytest.raises(Unsupported):
        memory.forget_about("Ann", dry_run=False, purge=True)


def test_jobs_of_the_namespace_are_seen_and_those_of_the_store_are_not(memory: Client) -> None:
    assert memory.jobs() == ()
    assert {one.name for one in memory.schedule()} <= {"backup", "clean-up", "purge"}
    with pytest.raises(NotFound):
        memory.cancel_job("j1")
    with pytest.raises(Unsupported):
        memory.jobs(whole=True)
