"""What operators watch: counted by part, never by whose memory it is."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hindsight.errors import Conflict
from hindsight.observe.metrics import Level, Metrics
from hindsight.observe.trace import Trace

LEVEL = Level(
    queue={("embed", "ready"): 3},
    oldest_job=12.5,
    index_lag=4,
    memories=7,
)


def of(*labels: str) -> frozenset[str]:
    return frozenset(labels)


def samples(metrics: Metrics, level: Level = LEVEL) -> dict[tuple[str, frozenset[str]], float]:
    families = text_string_to_metric_families(metrics.page(level).decode())
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_call_leaves_its_time_its_stages_and_what_they_counted() -> None:
    metrics = Metrics()
    trace = Trace("t1", "somebody", "search")
    with metrics.call(trace), trace.span("routes") as span:
        span.count(vector=12, keyword=0)
    found = samples(metrics)
    assert found["hindsight_call_seconds_count", of("search")] == 1
    assert found["hindsight_stage_seconds_count", of("search", "routes")] == 1
    assert found["hindsight_stage_items_total", of("search", "routes", "vector")] == 12
    assert not any("somebody" in labels for _, labels in found)


def test_a_failure_is_counted_by_its_code_and_goes_on_up() -> None:
    metrics = Metrics()
    with pytest.raises(Conflict), metrics.call(Trace("t1", "n", "write")):
        raise Conflict("late")
    with pytest.raises(ZeroDivisionError), metrics.call(Trace("t2", "n", "write")):
        raise ZeroDivisionError
    found = samples(metrics)
    assert found["hindsight_errors_total", of("write", "conflict")] == 1
    assert found["hindsight_errors_total", of("write", "fault")] == 1
    assert found["hindsight_call_seconds_count", of("write")] == 2


def test_answers_jobs_requests_and_tokens_are_counted() -> None:
    metrics = Metrics()
    metrics.answered(cached=False, confident=True, degraded=("vector",))
    with metrics.job("embed"):
        pass
    with pytest.raises(Conflict), metrics.job("embed"):
        raise Conflict("late")
    metrics.llm("answered", 100, 20)
    metrics.request("GET", "/v1/memories/{memory_id}", 404, 0.002)
    found = samples(metrics)
    assert found["hindsight_answers_total", of("false", "true")] == 1
    assert found["hindsight_degraded_total", of("vector")] == 1
    assert found["hindsight_job_seconds_count", of("embed", "done")] == 1
    assert found["hindsight_job_seconds_count", of("embed", "failed")] == 1
    assert found["hindsight_llm_calls_total", of("answered")] == 1
    assert found["hindsight_llm_tokens_total", of("in")] == 100
    assert found["hindsight_http_seconds_count", of("GET", "/v1/memories/{memory_id}", "404")] == 1


def test_the_page_shows_how_things_stand_now_and_nothing_of_before() -> None:
    metrics = Metrics()
    assert samples(metrics)["hindsight_jobs", of("embed", "ready")] == 3
    later = samples(metrics, Level({}, 0, 0, 7))
    assert ("hindsight_jobs", of("embed", "ready")) not in later
    assert later["hindsight_index_lag", of()] == 0


def test_processes_of_one_program_count_apart() -> None:
    first, second = Metrics(), Metrics()
    first.llm("answered", 1, 1)
    assert ("hindsight_llm_calls_total", of("answered")) not in samples(second)
