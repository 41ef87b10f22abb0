"""What a process and a folder take: resident memory and bytes on disk."""

from __future__ import annotations

import subprocess
from pathlib import Path

MB = 1e6


def rss_mb(pid: int) -> float | None:
    """Resident memory of one process in decimal MB; `None` where the system does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return _rss_by_ps(pid)
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) * 1024 / MB


def disk_mb(folder: Path) -> float:
    """Bytes of all files in a folder, in decimal MB."""
    total = 0
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                total += path.stat().st_size
        except FileNotFoundError:
            continue  # a live database drops its temporary files as it likes
    return total / MB


def _rss_by_ps(pid: int) -> float | None:
    try:
        answer = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return int(answer.stdout) * 1024 / MB
