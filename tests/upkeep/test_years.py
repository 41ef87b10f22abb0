"""Three years of an agent's life on a real file, cleaned every week: small, current, and nothing of worth is lost."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from hindsight.domain.cleaning import CleanRule
from hindsight.domain.memory import Kind, Status
from hindsight.domain.query import Filters
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.upkeep.cleanup import Cleaning
from hindsight.upkeep.profile import Profiler
from tests.upkeep.house import Home
from tests.write.house import SPACE

WEEKS = 156
TOPICS = ("database", "garden", "invoice", "printer", "holiday", "novel", "recipe")
CITIES = ("Porto", "Lyon", "Ghent", "Turin")


async def live(home: Home, *, weeks: int, cleaned: bool) -> list[CleanRule]:
    """A life: what lasts is said once, homes change each year, and every week brings events, plans and small talk."""
    rules: list[CleanRule] = []
    await home.say("我对花生过敏", "My sister is called Ines", session_id="first")
    (rule,) = [one for one in await home.active() if "Ines" in one.content]
    await home.amender.pin(SPACE, rule.id)
    for week in range(weeks):
        if week % 50 == 0:
            await home.say(f"I moved to {CITIES[week // 50]}", session_id=f"w{week}")
        topic, other = TOPICS[week % 7], TOPICS[(week + 3) % 7]
        await home.say(
            f"Yesterday we looked at the {topic} again and found {week} open points.",
            "好的，谢谢！",
            f"明天我要出差去第{week}号工厂",
            f"The {other} took {week + 2} hours, then Carla sent us home.",
            session_id=f"w{week}",
        )
        home.clock.passes(days=7)
        if cleaned:
            report = await home.cleaner(batch=50).clean(SPACE, Cleaning(dry_run=False))
            rules += [entry.rule for entry in report.entries]
    return rules


async def test_three_years_with_weekly_clean_up_stay_small_and_current(tmp_path: Path) -> None:
    home = Home(store=await SqliteStore.open(tmp_path / "memory.db"))

    rules = await live(home, weeks=WEEKS, cleaned=True)

    stats = await home.store.stats(SPACE)
    active = stats.memories_by_status[Status.ACTIVE.value]
    whole = sum(stats.memories_by_status.values())
    assert {CleanRule.EXPIRED, CleanRule.OLD} <= set(rules)
    assert active < whole / 3
    # A half-year of events as they were, and a summary for each session before that.
    assert stats.memories_by_kind[Kind.EVENT.value] < 4 * (26 + 2)
    assert stats.memories_by_kind[Kind.SUMMARY.value] >= (WEEKS - 28) / 2
    profile = await Profiler(home.store, home.clock).profile(SPACE)
    assert [one.memory.content for one in profile.constraints] == ["用户对花生过敏"]
    homes = [one.memory.content for one in profile.facts if any(city in one.memory.content for city in CITIES)]
    assert len(homes) == 1
    assert CITIES[(WEEKS - 1) // 50] in homes[0]
    (pinned,) = (await home.store.find(SPACE, Filters(pinned=True, episodes=False))).items
    assert "Ines" in pinned.content

    found = await home.searcher.search(SPACE, home.query("推荐点零食"), home.trace())
    assert [one.content for one in found.standing if one.kind is Kind.CONSTRAINT] == ["用户对花生过敏"]
    wanted = Filters(session_ids=("w12",), kinds=(Kind.SUMMARY,), episodes=False)
    (told,) = (await home.store.find(SPACE, wanted)).items
    assert "12 open points" in told.content
    assert "14 hours" in told.content
    then = home.clock.now() - timedelta(days=7 * (WEEKS - 20))
    past = await home.searcher.search(SPACE, home.query("Where does the user live?", as_of=then), home.trace())
    assert any("Porto" in hit.content for hit in past.hits)
    await home.store.aclose()
