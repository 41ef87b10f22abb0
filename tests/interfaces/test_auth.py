"""The door: closed by default, and deaf to pages of other origins (CASES T3, T5)."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from hindsight import config
from hindsight.errors import ConfigError, Forbidden
from hindsight.interfaces.auth import Doorkeeper, is_loopback, refuse_open_door


def request(**headers: str) -> Request:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/v1/search", "headers": raw})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_needs_no_key(host: str) -> None:
    assert is_loopback(host)
    refuse_open_door(config.load(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "memory.example.org", ""])
def test_an_address_beyond_loopback_without_a_key_is_refused_with_the_remedy(host: str) -> None:
    with pytest.raises(ConfigError) as caught:
        refuse_open_door(config.load(host=host))
    assert "HINDSIGHT_API_KEY" in caught.value.hint


def test_a_key_or_the_switch_opens_it() -> None:
    refuse_open_door(config.load(host="0.0.0.0", api_key="k" * 20))
    refuse_open_door(config.load(host="0.0.0.0", allow_no_key=True))
    refuse_open_door(config.load(host="0.0.0.0", require_key=True))


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080"])
def test_calls_to_a_loopback_name_are_let_in(host: str) -> None:
    Doorkeeper(keyed=False, allowed_hosts=()).check(request(host=host))


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "",
        "[",
        "evil.example:8080",
        "evil.example@127.0.0.1",
        "localhost/evil.example",
        "localhost#@evil.example",
        "localhost ",
        "localhost:",
        "localhost:80:80",
        "127.1",
    ],
)
def test_a_name_that_only_resolves_to_loopback_is_refused(host: str) -> None:
    with pytest.raises(Forbidden, match="Host"):
        Doorkeeper(keyed=False, allowed_hosts=()).check(request(host=host))


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://127.0.0.1.evil.example",
        "http://[",
        "",
        "127.0.0.1",
        "file://",
        "chrome-extension://localhost",
        "http://evil.example@localhost",
        "http://localhost/evil.example",
    ],
)
def test_a_page_of_another_origin_is_refused_with_and_without_a_key(origin: str) -> None:
    for door in (Doorkeeper(keyed=False, allowed_hosts=()), Doorkeeper(keyed=True, allowed_hosts=())):
        with pytest.raises(Forbidden, match="Origin"):
            door.check(request(host="127.0.0.1:8080", origin=origin, authorization="Bearer secret"))


def test_a_host_named_in_the_settings_is_let_in() -> None:
    door = Doorkeeper(keyed=False, allowed_hosts=("memory.example.org",))
    door.check(request(host="memory.example.org:8080", origin="https://memory.example.org"))


def test_with_a_key_any_name_will_do() -> None:
    Doorkeeper(keyed=True, allowed_hosts=()).check(request(host="any.example"))


def test_of_several_origins_every_one_counts() -> None:
    headers = [(b"host", b"localhost"), (b"origin", b"http://localhost"), (b"origin", b"https://evil.example")]
    asked = Request({"type": "http", "method": "POST", "path": "/v1/search", "headers": headers})
    with pytest.raises(Forbidden, match="Origin"):
        Doorkeeper(keyed=False, allowed_hosts=()).check(asked)
