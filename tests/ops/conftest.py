"""Small disks, on which a store fills up."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def disk(place: Path, size: str) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    with disk(tmp_path / "disk", "1m") as place:
        yield place


@pytest.fixture
def roomy_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that takes a store with its log."""
    with disk(tmp_path / "disk", "16m") as place:
        yield place
