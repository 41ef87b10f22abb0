"""The record of one call: a span for each stage with its time and counts, and notes for what a person may ask later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


@dataclass(slots=True)
class Span:
    """One stage: `seconds` it took and what it counted."""

    name: str
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, **counts: int) -> None:
        """Set counts by name, for instance `count(vector=12)`."""
        self.counts.update(counts)


@dataclass(slots=True)
class Trace:
    """Filled by the pipelines while a call runs; `body()` is what is kept of it."""

    id: str
    namespace: str
    operation: str
    spans: list[Span] = field(default_factory=list)
    notes: dict[str, Json] = field(default_factory=dict)

    @contextmanager
    def span(self, name: str) -> Iterator[Span]:
        """Time a stage. It is recorded even when the stage fails."""
        span = Span(name)
        started = perf_counter()
        try:
            yield span
        finally:
            span.seconds = perf_counter() - started
            self.spans.append(span)

    def note(self, key: str, value: Json) -> None:
        """Keep a fact that explains the outcome; the last value for a key counts."""
        self.notes[key] = value

    def body(self) -> Mapping[str, Json]:
        """The whole record as JSON values; times in milliseconds."""
        stages: list[Json] = [
            {"stage": span.name, "ms": round(span.seconds * 1000, 3), "counts": dict(span.counts)}
            for span in self.spans
        ]
        return {
            "trace_id": self.id,
            "namespace": self.namespace,
            "operation": self.operation,
            "stages": stages,
            **self.notes,
        }
