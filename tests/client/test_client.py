"""The client against a real server: the embedded form's methods, values and errors, over HTTP."""

from __future__ import annotations

import inspect
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindsight import AsyncClient, AsyncHindsight, Client, Filters, Hindsight, Kind, Message, TimeRange
from hindsight.client.wire import ServerError
from hindsight.errors import ConfigError, Conflict, InvalidInput, NotFound, Unavailable, Unsupported
from tests.serving import running_server


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("client") / "data") as url:
        yield url


@pytest.fixture
def memory(base: str, request: pytest.FixtureRequest) -> Iterator[Client]:
    with Client(base, namespace=request.node.name[:100]) as client:
        yield client


def methods(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


LOCAL = {
    "engine",
    "reporting_as",
    "warm",
    "evaluate",
    "purge",
    "keys",
    "make_key",
    "revoke_key",
}  # for who has the store itself


def test_client_has_the_methods_of_the_embedded_form() -> None:
    assert methods(AsyncHindsight) - LOCAL == methods(AsyncClient)
    assert methods(Hindsight) - LOCAL == methods(Client)


@pytest.mark.parametrize("name", sorted(methods(AsyncHindsight) & methods(AsyncClient) - {"namespace"}))
def test_methods_take_the_same_arguments(name: str) -> None:
    def arguments(kind: type) -> list[tuple[str, object, object]]:
        listed = inspect.signature(getattr(kind, name)).parameters.values()
        return [(one.name, one.kind, one.default) for one in listed]

    assert arguments(AsyncClient) == arguments(AsyncHindsight)


def test_what_is_written_is_found_listed_and_told_with_its_history(memory: Client) -> None:
    receipt = memory.write(
        [Message("我住在北京朝阳区，对花生过敏。", speaker="小李", occurred_at=datetime(2024, 1, 15, 9, tzinfo=UTC))],
        session_id="s1",
    )
    assert receipt.facts == 2
    result = memory.search("吃什么要小心", filters=Filters(kinds=(Kind.CONSTRAINT,)))
    first = result.hits[0]
    assert "花生" in first.content
    assert first.sources[0].speaker == "小李"
    assert first.occurred_at == datetime(2024, 1, 15, 9, tzinfo=UTC)
    assert "花生" in result.context
    listed = memory.list(filters={"types": ["constraint"]})
    assert [item.memory_id for item in listed.items] == [first.memory_id]
    assert memory.get(first.short_id).id == first.memory_id
    memory.pin(first.memory_id)
    assert [one.memory.pinned for one in memory.history(first.memory_id)] == [False, True]
    assert memory.stats().episodes == 1


def test_a_time_range_goes_over_as_it_is_meant(memory: Client) -> None:
    memory.write("I moved to Porto.", occurred_at="2023-05-01T10:00:00+02:00")
    then = TimeRange(datetime(2023, 5, 1, 7, 59, tzinfo=UTC), datetime(2023, 5, 1, 8, 1, tzinfo=UTC))
    later = TimeRange(then.end, None)
    assert memory.list(filters=Filters(time_range=then)).items
    assert not memory.list(filters=Filters(time_range=later)).items
    assert memory.search("Where did I move?", time_range=then).hits
    assert not memory.search("Where did I move?", time_range=later).hits


def test_forgetting_is_taken_back_by_the_receipts_token(memory: Client) -> None:
    written = memory.write("My locker is number 17.").outcomes[0].memory_id
    assert written is not None
    token = memory.forget(written, reason="old").undo
    assert not memory.search("locker").hits
    assert token is not None
    memory.undo(token)
    assert memory.search("locker").hits


def test_what_has_changed_since_is_not_taken_back(memory: Client) -> None:
    receipt = memory.write("My locker is number 17.")
    written = receipt.outcomes[0].memory_id
    assert written is not None
    assert receipt.undo is not None
    memory.update(written, "My locker is number 18.")
    with pytest.raises(Conflict):
        memory.undo(receipt.undo)


def test_experiences_earn_their_record_and_are_pruned(memory: Client) -> None:
    receipt = memory.write_experience(
        "Deploy to staging fails with a TLS error of the registry",
        ["renew the certificate", "deploy again"],
        tools_used=["kubectl"],
    )
    one = receipt.outcomes[0].memory_id
    assert one is not None
    rated = memory.feedback(one, "success", note="worked")
    assert rated.outcome is not None
    assert rated.outcome.confidence == 0.6
    assert rated.steps == ("renew the certificate", "deploy again")
    report = memory.prune(min_confidence=0.7)
    assert report.model_extra is not None
    assert [entry["memory_id"] for entry in report.model_extra["pruned"]] == [one]


def test_traces_are_explained_and_replayed(memory: Client) -> None:
    memory.write("The staging database runs on PostgreSQL 16.")
    result = memory.search("staging database")
    assert memory.trace(result.trace_id)["namespace"]
    again = memory.replay(result.trace_id)
    assert again.model_extra is not None
    assert again.model_extra["same"]
    told = memory.explain(result.trace_id, result.hits[0].memory_id)
    assert told.model_extra is not None
    assert told.model_extra["returned"]


def test_a_view_is_another_namespace_of_the_same_server(memory: Client) -> None:
    memory.namespace("elsewhere/其他").write("Only elsewhere: the code word is marmalade.")
    assert not memory.search("code word").hits
    assert memory.search("code word", namespace="elsewhere/其他").hits


def test_many_are_written_at_once(memory: Client) -> None:
    receipts = memory.write_many(
        {"content": f"Shelf {number} holds box {number * 7}.", "occurred_at": datetime(2024, 1, 1, tzinfo=UTC)}
        for number in range(5)
    )
    assert len(receipts) == 5
    assert memory.stats().episodes == 5


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda memory: memory.search("x", top_k=0), InvalidInput),
        (lambda memory: memory.get("nothing1"), NotFound),
        (lambda memory: memory.list(filters={"typos": ["fact"]}), InvalidInput),
        (lambda memory: memory.write(" "), InvalidInput),
        (lambda memory: memory.list(filters=Filters(pinned=True)), Unsupported),
    ],
)
def test_the_servers_errors_arrive_as_what_they_were(memory: Client, call: object, error: type[Exception]) -> None:
    assert callable(call)
    with pytest.raises(error) as caught:
        call(memory)
    assert str(caught.value)
    if isinstance(caught.value, InvalidInput):
        assert caught.value.field
        assert caught.value.allowed


def test_a_server_that_is_away_is_said_to_be() -> None:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Client(f"http://127.0.0.1:{port}") as memory, pytest.raises(Unavailable, match="can't be reached"):
        memory.stats()
    with pytest.raises(ConfigError, match="base_url"):
        Client("ftp://example.org")


def test_something_else_than_a_server_of_ours_is_said_to_be() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        answering = threading.Thread(target=_answer_once, args=(other, b"<html>hello</html>"))
        answering.start()
        with Client(f"http://127.0.0.1:{other.getsockname()[1]}") as memory, pytest.raises(ServerError, match="JSON"):
            memory.stats()
        answering.join()


def test_a_write_whose_answer_was_lost_is_kept_once(base: str, tmp_path: Path) -> None:
    """A line that swallows the first answer: the client sends again, the server knows the key."""
    with socket.create_server(("127.0.0.1", 0)) as line:
        host, port = base.removeprefix("http://").split(":")
        relay = threading.Thread(target=_swallow_first, args=(line, (host, int(port))), daemon=True)
        relay.start()
        with Client(f"http://127.0.0.1:{line.getsockname()[1]}", namespace="lost") as memory:
            memory.write("The parcel has number 4711.")
        relay.join(10)
    with Client(base, namespace="lost") as memory:
        assert memory.stats().episodes == 1


@pytest.mark.anyio
async def test_async_client_does_the_same(base: str) -> None:
    async with AsyncClient(base, namespace="async") as memory:
        await memory.write("My sister Clara works at Siemens.")
        result = await memory.search("Where does Clara work?")
    assert "Siemens" in result.context


def _answer_once(listening: socket.socket, body: bytes) -> None:
    caller, _ = listening.accept()
    with caller:
        caller.recv(65536)
        caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))


def _swallow_first(listening: socket.socket, target: tuple[str, int]) -> None:
    for passing in (False, True):
        caller, _ = listening.accept()
        with caller, socket.create_connection(target) as server:
            server.sendall(_whole(caller))
            answer = _whole(server)
            if passing:
                caller.sendall(answer)


def _whole(line: socket.socket) -> bytes:
    """One request, or one answer, with the whole of its body."""
    taken = b""
    while b"\r\n\r\n" not in taken:
        taken += line.recv(65536)
    head, _, body = taken.partition(b"\r\n\r\n")
    lengths = [field.split(b":")[1] for field in head.lower().split(b"\r\n") if field.startswith(b"content-length")]
    while len(body) < int(lengths[0]):
        body += line.recv(65536)
    return head + b"\r\n\r\n" + body
