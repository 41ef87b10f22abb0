"""The limits of clean-up come from the settings, and a wrong one is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight import AsyncHindsight, config
from hindsight.domain.cleaning import CleanRules
from hindsight.domain.forgetting import HALF_LIVES
from hindsight.domain.memory import Kind
from hindsight.errors import ConfigError


async def rules_of(tmp_path: Path) -> CleanRules:
    async with AsyncHindsight(settings=config.load(data_dir=tmp_path, embedding_model="none")) as memory:
        engine = await memory.engine()
        assert engine.parts.searcher.settings.stale_days == engine.parts.cleaner.rules.stale_days
        return engine.parts.cleaner.rules


async def test_without_settings_the_limits_are_those_of_the_specification(tmp_path: Path) -> None:
    rules = await rules_of(tmp_path)

    assert rules == CleanRules()
    assert (rules.importance, rules.unused_days, rules.alike, rules.episode_days) == (0.2, 90, 0.95, 180)


async def test_every_limit_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "CLEAN_IMPORTANCE": "0.3", "CLEAN_UNUSED_DAYS": "30", "CLEAN_ALIKE": "0.9", "CLEAN_EPISODE_DAYS": "60",
        "STALE_DAYS": "100", "CLEAN_REVIEWS": "5", "CLEAN_BATCH": "50", "HALF_LIVES": "event=30, fact = inf",
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(f"HINDSIGHT_{name}", value)

    rules = await rules_of(tmp_path)

    lives = {**HALF_LIVES, Kind.EVENT: 30.0, Kind.FACT: float("inf")}
    assert rules == CleanRules(0.3, 30, 0.9, 60, 100, 5, 50, lives)


@pytest.mark.parametrize("wrong", ["event", "event=soon", "opinion=3", "event=0", "event=-1"])
def test_a_half_life_that_can_t_be_read_is_refused_by_name(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_HALF_LIVES", wrong)

    with pytest.raises(ConfigError, match="half_lives"):
        config.load(data_dir=tmp_path)
