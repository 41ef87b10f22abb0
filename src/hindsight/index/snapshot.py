"""Files that make the next start quick. Never the truth: a damaged, foreign or outdated one is as good as none."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight.errors import StorageFull, StorageUnavailable

_MAGIC = b"hindsight index 2\n"
_DIGEST = 16
ABANDONED = 3600.0  # seconds; no process takes so long to save


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an index held of one namespace when it had followed the log to `cursor`, whose change has this mark."""

    cursor: int
    mark: str
    ids: list[str]
    arrays: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """One file. `made_by` says how its content came about (formats, tokenizer); another one's content is not used."""

    path: Path
    namespace: str
    made_by: str

    @classmethod
    def of(cls, folder: Path, namespace: str, made_by: str) -> SnapshotFile:
        """The file of a namespace; its name tells nothing, since a namespace may hold any character."""
        name = blake2b(namespace.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return cls(folder / name, namespace, made_by)

    def save(self, snapshot: Snapshot) -> None:
        """Write it whole or not at all. `StorageFull` if it does not fit or may not be written."""
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with fresh.open("wb") as file:
                digest = blake2b(digest_size=_DIGEST)
                for part in self._parts(snapshot):
                    digest.update(part)
                    file.write(part)
                file.write(digest.digest())
            fresh.replace(self.path)
            self._clear_up(older_than=self.path.stat().st_mtime - ABANDONED)
        except OSError as error:
            with suppress(OSError):
                fresh.unlink()
            raise StorageFull(
                f"The index snapshot {self.path} could not be written: {error.strerror or error}.",
                hint="Nothing is lost; the next start takes longer. Free space or check the folder's permissions.",
            ) from error

    def load(self) -> Snapshot | None:
        """Read it, or `None` where there is none that can be used; one that can't is removed."""
        try:
            content = self.path.read_bytes()
        except OSError:
            return None
        snapshot = self._unpack(content)
        if snapshot is None:
            with suppress(StorageUnavailable):  # the next save puts a good one in its place
                self.remove()
        return snapshot

    def remove(self) -> None:
        """Let it go, if it is there. `StorageUnavailable` if it stays: it may hold what must not be kept."""
        try:
            self._clear_up(older_than=math.inf)
            self.path.unlink(missing_ok=True)
        except NotADirectoryError:
            return
        except OSError as error:
            raise StorageUnavailable(
                f"The index snapshot {self.path} could not be removed: {error.strerror or error}.",
                hint="Check the permissions of the data folder.",
            ) from error

    def _clear_up(self, *, older_than: float) -> None:
        """Take away what processes that were killed while they saved have left behind."""
        for left in self.path.parent.glob(f"{self.path.name}.*.new"):
            with suppress(FileNotFoundError):  # another process was first
                if left.stat().st_mtime < older_than:
                    left.unlink()

    def _parts(self, snapshot: Snapshot) -> Iterator[bytes | memoryview]:
        """The file piece by piece, arrays without a copy."""
        arrays = {name: np.ascontiguousarray(values) for name, values in snapshot.arrays.items()}
        head = json.dumps(
            {
                "namespace": self.namespace,
                "made_by": self.made_by,
                "cursor": snapshot.cursor,
                "mark": snapshot.mark,
                "ids": snapshot.ids,
                "arrays": [[name, values.dtype.str, values.shape] for name, values in arrays.items()],
            }
        ).encode()
        yield _MAGIC + len(head).to_bytes(8, "little") + head
        for values in arrays.values():
            yield values.reshape(-1).view(np.uint8).data

    def _unpack(self, content: bytes) -> Snapshot | None:
        body, digest = memoryview(content)[:-_DIGEST], content[-_DIGEST:]
        if not content.startswith(_MAGIC) or blake2b(body, digest_size=_DIGEST).digest() != digest:
            return None
        at = len(_MAGIC) + 8
        end = at + int.from_bytes(body[len(_MAGIC) : at], "little")
        head = json.loads(bytes(body[at:end]))
        if head["namespace"] != self.namespace or head["made_by"] != self.made_by:
            return None
        arrays = {}
        for name, dtype, shape in head["arrays"]:
            size = int(np.prod(shape, dtype=np.int64))
            arrays[name] = np.frombuffer(body, dtype, size, end).reshape(shape).copy()
            end += arrays[name].nbytes
        return Snapshot(head["cursor"], head["mark"], head["ids"], arrays)
