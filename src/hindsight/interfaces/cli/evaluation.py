"""What `hindsight eval` reads and shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from hindsight.domain.evaluation import Evaluation, Measured, Setting
from hindsight.errors import InvalidInput
from hindsight.interfaces.shapes import Shape

ROWS = (
    ("recall@5", "recall_5"),
    ("recall@10", "recall_10"),
    ("recall@20", "recall_20"),
    ("mrr", "mrr"),
    ("ndcg@10", "ndcg_10"),
    ("tokens", "tokens"),
    ("kept", "kept"),
    ("confident_wrong", "confident_wrong"),
)


def questions_of(path: str) -> list[Mapping[str, object]]:
    """The questions of a JSONL file; empty lines are passed over. Raises `InvalidInput`."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("FILE", path, f"a file in UTF-8 that can be read ({error})") from error
    questions = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            questions.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise InvalidInput(f"FILE, line {number}", line, "one JSON object") from error
    return questions


def evaluation_shape(found: Evaluation) -> Shape:
    """Both settings with their figures; `a` and `b` are null where there are too few questions."""
    a, b = map(_side, found.sides) if found.sides else (None, None)
    return {
        "answerable": found.answerable,
        "unanswerable": found.unanswerable,
        "traces": found.traces,
        "differ": found.differ if found.sides else None,
        "a": a,
        "b": b,
        "reason": found.reason,
    }


def evaluation_lines(found: Evaluation) -> Iterator[str]:
    """A table with a column for each setting, or why there is none."""
    if not found.sides:
        yield f"not measured: {found.reason}"
        return
    a, b = found.sides
    for name, side in (("A", a), ("B", b)):
        yield f"{name}  {_told(side.setting)}"
    total = found.answerable + found.unanswerable
    yield f"{total} questions, {found.unanswerable} of them without an answer; {found.differ} answered differently"
    yield f"{'':<16}{'A':>9}{'B':>9}{'B - A':>9}"
    for name, field in ROWS:
        left, right = getattr(a, field), getattr(b, field)
        if left is not None and right is not None:
            places = 0 if field == "tokens" else 3
            yield f"{name:<16}{left:>9.{places}f}{right:>9.{places}f}{right - left:>+9.{places}f}"


def evaluation_notes(found: Evaluation) -> Iterator[str]:
    """How to get more to go by, and what was missing."""
    if not found.sides:
        yield "give feedback on what a search gave (hindsight feedback ID success), or name a FILE of questions"
    elif found.traces:
        yield "feedback judges only what was given: what another setting finds beside it counts for nothing here"
    for name, side in zip("AB", found.sides, strict=False):
        if side.degraded:
            yield f"{name} went without a part of search for {side.degraded} questions"


def _side(side: Measured) -> Shape:
    figures = {name: getattr(side, field) for name, field in ROWS}
    setting = side.setting
    named = {"weights": asdict(setting.weights), "routes": sorted(setting.routes), "rerank": setting.rerank}
    return {"setting": named, **figures, "degraded": side.degraded}


def _told(setting: Setting) -> str:
    weights = ",".join(f"{name}={value:g}" for name, value in asdict(setting.weights).items())
    return f"weights {weights}  routes {','.join(sorted(setting.routes))}  rerank {'on' if setting.rerank else 'off'}"
