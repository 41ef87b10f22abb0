"""What operators watch, in the form that Prometheus reads.

Labels hold names of this program's own parts and of nothing else: no namespace, no session, no word of a memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from hindsight.errors import HindsightError
from hindsight.observe.trace import Trace

CONTENT_TYPE = CONTENT_TYPE_LATEST
FAULT = "fault"  # the code of what is no error of ours
# Seconds. A search aims at 15 ms and has 3 s, a write has 5, a job may take minutes.
QUICK = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 3.0, 5.0)
SLOW = (0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1800.0)


@dataclass(frozen=True, slots=True)
class Level:
    """How things stand at the moment of asking. Seconds; `queue` counts jobs by kind and state."""

    queue: Mapping[tuple[str, str], int]
    oldest_job: float
    index_lag: int
    memories: int


class Metrics:
    """The counters of one process. Safe from several threads."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._calls = Histogram(
            "hindsight_call_seconds", "Calls of the engine.", ["operation"], buckets=QUICK, registry=registry
        )
        self._stages = Histogram(
            "hindsight_stage_seconds", "Stages of calls.", ["operation", "stage"], buckets=QUICK, registry=registry
        )
        self._counts = Counter(
            "hindsight_stage_items", "What stages counted, such as the candidates of a route.",
            ["operation", "stage", "item"], registry=registry,
        )  # fmt: skip
        self._errors = Counter("hindsight_errors", "Calls that failed.", ["operation", "code"], registry=registry)
        self._degraded = Counter("hindsight_degraded", "Answers without a part.", ["part"], registry=registry)
        self._answers = Counter(
            "hindsight_answers", "Searches, by whether the cache answered and whether something fits well.",
            ["cached", "confident"], registry=registry,
        )  # fmt: skip
        self._jobs = Histogram(
            "hindsight_job_seconds", "Jobs in the background.", ["kind", "outcome"], buckets=SLOW, registry=registry
        )
        self._llm = Counter("hindsight_llm_calls", "Calls of the language model.", ["outcome"], registry=registry)
        self._tokens = Counter("hindsight_llm_tokens", "Tokens of those calls.", ["direction"], registry=registry)
        self._requests = Histogram(
            "hindsight_http_seconds", "Requests over HTTP.", ["method", "route", "status"], buckets=QUICK,
            registry=registry,
        )  # fmt: skip
        self._queue = Gauge("hindsight_jobs", "Jobs that are not done.", ["kind", "state"], registry=registry)
        self._oldest = Gauge("hindsight_oldest_job_seconds", "Age of the oldest job that is due.", registry=registry)
        self._lag = Gauge("hindsight_index_lag", "Changes that the furthest index is behind.", registry=registry)
        self._memories = Gauge("hindsight_memories", "Active memories of all namespaces.", registry=registry)

    @contextmanager
    def call(self, trace: Trace) -> Iterator[None]:
        """Time a call, and take over what its trace recorded; a failure is counted by its code and goes on up."""
        started = perf_counter()
        try:
            yield
        except HindsightError as error:
            self._errors.labels(trace.operation, error.code).inc()
            raise
        except Exception:
            self._errors.labels(trace.operation, FAULT).inc()
            raise
        finally:
            self._calls.labels(trace.operation).observe(perf_counter() - started)
            self._stages_of(trace)

    def answered(self, *, cached: bool, confident: bool, degraded: Iterable[str]) -> None:
        """Count an answer."""
        self._answers.labels(str(cached).lower(), str(confident).lower()).inc()
        for part in degraded:
            self._degraded.labels(part).inc()

    @contextmanager
    def job(self, kind: str) -> Iterator[None]:
        """Time a job."""
        started, outcome = perf_counter(), "done"
        try:
            yield
        except BaseException:
            outcome = "failed"
            raise
        finally:
            self._jobs.labels(kind, outcome).observe(perf_counter() - started)

    def llm(self, outcome: str, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """Count a call of the language model: `answered`, or the code of what went wrong."""
        self._llm.labels(outcome).inc()
        self._tokens.labels("in").inc(tokens_in)
        self._tokens.labels("out").inc(tokens_out)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request by the route that took it, not by its path, which holds ids."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def page(self, level: Level) -> bytes:
        """Everything, with how things stand now, as Prometheus reads it (`CONTENT_TYPE`)."""
        self._queue.clear()
        for (kind, state), count in level.queue.items():
            self._queue.labels(kind, state).set(count)
        self._oldest.set(level.oldest_job)
        self._lag.set(level.index_lag)
        self._memories.set(level.memories)
        return generate_latest(self._registry)

    def _stages_of(self, trace: Trace) -> None:
        for span in trace.spans:
            self._stages.labels(trace.operation, span.name).observe(span.seconds)
            for item, count in span.counts.items():
                if count:
                    self._counts.labels(trace.operation, span.name, item).inc(count)
