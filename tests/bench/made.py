"""Small sets made up for the tests of bench, in the uniform format."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

Record = dict[str, object]


def memory(name: str, text: str = "some words", *, scope: str = "s", **more: object) -> Record:
    return {"id": name, "scope": scope, "session_id": None, "occurred_at": None, "speaker": None, "text": text} | more


def question(name: str, gold: Sequence[str], query: str = "which?", *, scope: str = "s", **more: object) -> Record:
    asked = {"id": name, "scope": scope, "query": query, "asked_at": None, "gold": list(gold), "answer": None}
    return asked | {"category": "plain", "language": "en"} | more


def lay(folder: Path, **files: Sequence[Record]) -> Path:
    """Write files by stem, e.g. `memories_zh=[...]`."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, records in files.items():
        (folder / f"{stem}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in records), encoding="utf-8")
    return folder


def compress(path: Path) -> None:
    """Put the gzipped file in the place of the plain one."""
    with gzip.open(path.with_name(path.name + ".gz"), "wb") as packed:
        packed.write(path.read_bytes())
    path.unlink()
