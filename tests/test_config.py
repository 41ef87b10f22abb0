"""Settings fail by name, and the environment counts before the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight import config
from hindsight.config import Route
from hindsight.errors import ConfigError


def test_the_environment_counts_before_the_files_and_the_config_folder_before_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, data = tmp_path / "config", tmp_path / "data"
    settings.mkdir()
    data.mkdir()
    (settings / "hindsight.toml").write_text('port = 9001\nlog_level = "debug"\n')
    (data / "hindsight.toml").write_text('port = 9002\ntimezone = "Asia/Shanghai"\nnamespace = "团队"\n')
    monkeypatch.setenv("HINDSIGHT_NAMESPACE", "mine")
    loaded = config.load(config_dir=settings, data_dir=data)
    assert (loaded.port, loaded.log_level, loaded.timezone, loaded.namespace) == (
        9001,
        "DEBUG",
        "Asia/Shanghai",
        "mine",
    )


def test_the_names_other_products_use_work_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMORY_DB_PATH", str(tmp_path / "other.db"))
    monkeypatch.setenv("EMBEDDING_MODEL", "none")
    monkeypatch.setenv("LOG_LEVEL", "warning")
    loaded = config.load()
    assert (loaded.database, loaded.embedding_model, loaded.log_level) == (tmp_path / "other.db", "none", "WARNING")


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_ROUTES", "keyword, vector")
    monkeypatch.setenv("HINDSIGHT_ALLOWED_HOSTS", "a.example,b.example")
    loaded = config.load()
    assert loaded.routes == (Route.KEYWORD, Route.VECTOR)
    assert loaded.allowed_hosts == ("a.example", "b.example")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HINDSIGHT_PORT", "99999"),
        ("HINDSIGHT_PORT", "http"),
        ("HINDSIGHT_TIMEZONE", "Mars/Olympus"),
        ("HINDSIGHT_TIMEZONE", "../etc/passwd"),
        ("HINDSIGHT_ROUTES", "keyword,telepathy"),
        ("HINDSIGHT_MCP_TOOLSET", "all"),
        ("LOG_LEVEL", "LOUD"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_setting(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        config.load()
    assert name.removeprefix("HINDSIGHT_").lower() in str(caught.value).lower()


def test_an_unknown_name_is_refused_with_the_nearest_known_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_NAMESPCE", "x")
    with pytest.raises(ConfigError) as caught:
        config.load()
    assert "HINDSIGHT_NAMESPCE" in str(caught.value)
    assert "namespace" in caught.value.hint
    monkeypatch.delenv("HINDSIGHT_NAMESPCE")
    (tmp_path / "hindsight.toml").write_text("prot = 1\n")
    with pytest.raises(ConfigError, match="prot"):
        config.load(data_dir=tmp_path)


def test_a_file_that_is_not_toml_is_refused_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "hindsight.toml").write_text("port: 1\n")
    with pytest.raises(ConfigError, match=r"hindsight\.toml is not TOML"):
        config.load(data_dir=tmp_path)


def test_a_refused_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_KEY", "sk-very-secret")
    assert "sk-very-secret" not in repr(config.load())


def test_a_store_that_this_release_does_not_serve_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.not_yet_served() == ()
    monkeypatch.setenv("POSTGRES_URL", "postgresql://example")
    assert config.not_yet_served() == ("POSTGRES_URL",)


def test_a_foreign_variable_of_a_plain_name_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DB_PATH", "/somewhere/else.db")
    assert config.load(data_dir=tmp_path).database == tmp_path / "memory.db"
    (tmp_path / "hindsight.toml").write_text('db_path = "/named/here.db"\nlog_level = "error"\n')
    assert config.load(data_dir=tmp_path).database == Path("/named/here.db")
    assert config.load(db_path=tmp_path / "given.db").database == tmp_path / "given.db"
