"""Which drives a database file may lie on.

SQLite's write-ahead log shares memory between processes and trusts file locks; over a network both fail without a
word, and the file is lost. So network file systems are refused.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from hindsight.errors import StorageUnavailable

NETWORK = frozenset(
    {
        "9p", "afs", "afpfs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs",
        "nfs", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb3", "smbfs", "webdav",
    }
)  # fmt: skip
NETWORK_FUSE = ("ceph", "davfs", "gcsfuse", "glusterfs", "goofys", "juicefs", "rclone", "s3fs", "smbnetfs", "sshfs")

_OCTAL = re.compile(r"\\([0-7]{3})")


def refuse_network_drive(path: Path, mounts: str | None = None) -> None:
    """`StorageUnavailable` where the path lies on a network drive.

    Known on Linux by `/proc/self/mounts` (`mounts` takes its place in tests), on Windows by a name that begins with two
    backslashes; elsewhere nothing is refused.
    """
    where = os.path.realpath(path)
    kind = "a network share" if where.startswith("\\\\") else None
    if mounts is None:
        mounts = _mounts()
    filesystem = filesystem_of(where, mounts)
    if filesystem is not None and is_network(filesystem):
        kind = filesystem
    if kind is not None:
        raise StorageUnavailable(
            f"{where} lies on a network drive ({kind}), where SQLite loses data",
            hint="Put the data folder on a disk of this machine, or use PostgreSQL (POSTGRES_URL).",
        )


def is_network(filesystem: str) -> bool:
    """Whether a file system type, as the mount table names it, is reached over a network."""
    if filesystem.startswith("fuse."):
        return filesystem.removeprefix("fuse.").startswith(NETWORK_FUSE)
    return filesystem in NETWORK


def filesystem_of(where: str, mounts: str) -> str | None:
    """The type of the file system that holds an absolute path, by a mount table; later mounts hide earlier ones."""
    best, found = -1, None
    for line in mounts.splitlines():
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), words[1])
        holds = point == "/" or where == point or where.startswith(point + "/")
        if holds and len(point) >= best:
            best, found = len(point), words[2]
    return found


def _mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
