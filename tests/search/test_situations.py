"""Experiences are found by situation: the right one first, look-alikes behind, none where none is for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from hindsight.domain.experience import Action, Experience, OutcomeStatus, Trigger
from hindsight.domain.hit import MemoryHit
from hindsight.domain.memory import Kind, Memory
from hindsight.domain.query import Filters, SearchResult
from hindsight.search.pipeline import SearchSettings
from hindsight.search.routes import KEYWORD, Routes
from hindsight.search.situations import FIT
from hindsight.search.trigger import MATCHES, fits
from tests.search.made import NOW, World, experience, memory

EXPERIENCES = Filters(kinds=(Kind.EXPERIENCE,))

# The situation; the trigger that is for it; one that reads more alike, or as much, and is not.
LOOKALIKES = [
    ("把这份 PDF 合同转换为 Markdown", "把 PDF 文件转换为 Markdown", "把这份 Word 合同转换为 Markdown"),
    ("将 CSV 文件导入到数据库的用户表", "将 CSV 文件导入到数据库", "将 Excel 文件导入到数据库的用户表"),
    ("把 Markdown 文档转成 PDF", "Markdown 文件转 PDF", "把 PDF 文档转成 Markdown"),
    ("在钉钉上给新员工建审批", "钉钉审批：为新员工创建", "在飞书上给新员工建审批"),
    ("MySQL 连接数过多，接口超时", "MySQL 连接数打满导致超时", "PostgreSQL 连接数过多，接口超时"),
    ("在京东店铺给商品改价格", "京东店铺商品价格修改", "在淘宝店铺给商品改价格"),
    ("用 ffmpeg 把视频压缩到 50MB", "用 ffmpeg 压缩视频", "用 handbrake 把视频压缩到 50MB"),
    ("使用 playwright 登录后台并截图", "使用 playwright 登录后台", "使用 selenium 登录后台并截图"),
    ("卸载旧版显卡驱动", "显卡驱动卸载", "安装旧版显卡驱动"),
    ("停用员工的双因素登录", "停用双因素登录", "启用员工的双因素登录"),
    ("解密上周的备份文件", "备份文件解密", "加密上周的备份文件"),
    ("convert this PDF contract to Markdown", "convert a PDF to Markdown", "convert this Word contract to Markdown"),
    ("load the users.csv file into the users table", "load a CSV file into a table",
     "load the users.parquet file into the users table"),
    ("turn the YAML settings into JSON", "convert YAML to JSON", "turn the JSON settings into YAML"),
    ("open a merge request on GitLab for the fix", "open a merge request on GitLab",
     "open a merge request on GitHub for the fix"),
    ("post the weekly report in Slack at nine", "post the report in Slack", "post the weekly report in Teams at nine"),
    ("reload the nginx settings without a pause", "reload nginx settings", "reload Apache settings without a pause"),
    ("cut the video to one minute using ffmpeg", "cut a video using ffmpeg",
     "cut the video to one minute using handbrake"),
    ("fetch the price list via curl every hour", "fetch a list via curl", "fetch the price list via wget every hour"),
    ("uninstall the old browser extension", "uninstall a browser extension", "install the old browser extension"),
    ("disable two-factor login for the intern", "disable two-factor login", "enable two-factor login for the intern"),
    ("reject the travel expense of March", "reject an expense", "approve the travel expense of March"),
]  # fmt: skip


WORDS = SearchSettings(routes=Routes(on=frozenset({KEYWORD}), deadlines={KEYWORD: 60.0}), deadline=60.0)


async def asked(*held: Memory, about: str, filters: Filters = EXPERIENCES) -> SearchResult:
    world = World(settings=WORDS)  # what stands in for a model in tests knows no meaning, and would only add noise
    await world.holds(*held)
    return await world.search(about, filters=filters)


@pytest.mark.parametrize("filters", [EXPERIENCES, Filters()], ids=["experiences", "everything"])
@pytest.mark.parametrize(("situation", "right", "lookalike"), LOOKALIKES)
async def test_a_lookalike_never_comes_first(situation: str, right: str, lookalike: str, filters: Filters) -> None:
    found = await asked(
        experience(1, right, "do it"), experience(2, lookalike, "not that"), about=situation, filters=filters
    )
    assert [hit.content for hit in found.hits] == [right, lookalike]


@pytest.mark.parametrize(("situation", "right", "lookalike"), LOOKALIKES)
async def test_a_lookalike_alone_is_shown_with_a_caution_and_without_confidence(
    situation: str, right: str, lookalike: str
) -> None:
    found = await asked(experience(2, lookalike, "not that"), about=situation)
    assert not found.confident
    assert found.hits[0].warning is not None
    assert ("用于另一种情形" if not situation.isascii() else "made for another situation") in found.hits[0].warning


@pytest.mark.parametrize(("situation", "right", "lookalike"), LOOKALIKES)
async def test_one_lookalike_does_not_hide_behind_facts(situation: str, right: str, lookalike: str) -> None:
    found = await asked(
        memory(3, "the office closes at six"),
        memory(4, "午饭在十二点"),
        experience(1, right, "do it"),
        experience(2, lookalike, "not that"),
        about=situation,
        filters=Filters(),
    )
    told = [hit.content for hit in found.hits if hit.kind is Kind.EXPERIENCE]
    assert told[0] == right


@pytest.mark.parametrize(
    ("situation", "held"),
    [
        ("订一张去上海的高铁票", "订一份去公司的外卖"),
        ("写一首关于春天的诗", "写一份关于销售的报告"),
        ("怎么给猫洗澡", "怎么给服务器打补丁"),
        ("会议室的投影仪坏了", "会议纪要发给全员"),
        ("计算这个月的房租", "统计这个月的访问量并画图"),
        ("翻译法语合同", "审阅采购合同的付款条款"),
        ("手机屏幕碎了去哪修", "手机验证码收不到"),
        ("给老婆挑生日礼物", "给客户寄样品"),
        ("跑步时膝盖疼", "跑批任务超时"),
        ("明天会下雨吗", "明天的排班表怎么生成"),
        ("book a train to Rome", "book a meeting room for the team"),
        ("write a poem about spring", "write a report about last quarter's sales"),
        ("how do I bathe a cat", "how do I patch a server"),
        ("the projector in the meeting room is broken", "send the minutes of the meeting to everyone"),
        ("work out this month's rent", "count this month's visits and draw a chart"),
        ("translate the French contract", "review the payment terms of a purchase contract"),
        ("my phone screen is cracked", "the phone does not receive codes"),
        ("choose a birthday present", "send samples to a customer"),
        ("my knee hurts when I run", "a nightly run exceeds its time"),
        ("will it rain tomorrow", "make tomorrow's shift plan"),
    ],
)
async def test_where_no_experience_is_for_the_situation_the_answer_says_so(situation: str, held: str) -> None:
    found = await asked(experience(1, held, "do it"), about=situation)
    assert not found.confident
    said = ("没有完全吻合", "没有找到") if not situation.isascii() else ("No memory fits exactly", "No memory fits")
    assert any(words in found.context for words in said)


@pytest.mark.parametrize(
    ("situation", "held"),
    [
        ("把 PDF 转换为 Markdown", "用户需要把 PDF 转换为 Markdown"),
        ("取消订单 A1024，因为买错了", "取消订单 B2048，因为不想要了"),
        ("给客户“蓝天公司”发送八月账单", "给客户“白云公司”发送六月账单"),
        ("cancel order #W4836353 because of a mistake", "cancel order #W7109609 because of a delay"),
        ("set my status to 'Away'", "set my status to 'Busy'"),
        ("invite Ann Lee to the repository blue-sky", "invite Bo Chen to the repository red-sea"),
    ],
)  # fmt: skip
async def test_the_same_task_with_other_fillings_matches(situation: str, held: str) -> None:
    assert (await asked(experience(1, held, "do it"), about=situation)).confident


async def test_of_equal_fits_the_more_trusted_comes_first_then_the_newer() -> None:
    old = replace(experience(3, "清理磁盘", "c", confidence=50), occurred_at=NOW - timedelta(days=60))
    found = await asked(
        experience(1, "清理磁盘", "a", confidence=40), experience(2, "清理磁盘", "b", confidence=90), old,
        experience(4, "清理磁盘", "d", confidence=50), about="清理磁盘",
    )  # fmt: skip
    assert [hit.steps for hit in found.hits if isinstance(hit, MemoryHit)] == [("b",), ("d",), ("c",), ("a",)]


async def test_trust_never_overtakes_a_better_fit() -> None:
    found = await asked(
        experience(1, "convert a PDF to Markdown", "a", confidence=30),
        experience(2, "convert a Word document to Markdown", "b", confidence=100),
        about="convert a PDF to Markdown",
    )
    assert found.hits[0].content == "convert a PDF to Markdown"


@pytest.mark.parametrize("situation", ["回滚数据库迁移", "roll back the database migration"])
async def test_what_failed_comes_as_a_warning_and_never_as_advice(situation: str) -> None:
    found = await asked(experience(1, situation, "drop the table", status=OutcomeStatus.FAILURE), about=situation)
    (hit,) = found.hits
    assert hit.warning in ("这种做法失败过，不要照做", "this failed before, do not repeat it")
    label = found.context.split("[", 1)[1].split("]", 1)[0]
    assert label in ("教训", "Lesson")


async def test_how_well_an_experience_fits_is_told_in_its_scores() -> None:
    found = await asked(experience(1, "clear the cache", "a"), about="clear the cache")
    assert found.hits[0].scores[FIT] == pytest.approx(1.0)


def test_the_tools_that_a_situation_calls_for_decide_between_lookalikes() -> None:
    def used(trigger: str, *tools: str) -> Experience:
        return Experience(Trigger(trigger), Action(("do it",), tools))

    kept = [
        used("cancel the order of a kettle", "cancel"), used("cancel the order of a lamp", "cancel"),
        used("return the kettle that came", "return"), used("return the lamp that came", "return"),
        used("cancel the order of a chair and return the desk that came", "cancel", "return"),
        used("cancel the order of a table and return the sofa that came", "cancel", "return"),
    ]  # fmt: skip
    judged = fits("return the chair that came and cancel the order of a lamp", kept, [0.0] * len(kept))
    best = max(range(len(kept)), key=lambda place: judged[place].value)
    assert set(kept[best].action.tools_used) == {"cancel", "return"}


@pytest.mark.parametrize("near", [0.0, 0.5, 1.3])
def test_meaning_speaks_where_words_differ(near: float) -> None:
    (fit,) = fits("首页打开太慢", [Experience(Trigger("page takes long to load"), Action(("x",)))], [near])
    assert fit.matches is (near > 1.0)
    assert fit.value >= MATCHES or not fit.matches


def test_nothing_is_judged_where_nothing_is_kept() -> None:
    assert fits("anything", [], []) == []


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        ("清理磁盘", "经验仅供参考：以当前情形为准。"),
        ("clean up the disk", "Reference only: the present situation decides."),
    ],
)
async def test_the_answer_says_that_the_present_situation_decides_where_it_holds_experience(
    trigger: str, said: str
) -> None:
    assert said in (await asked(experience(1, trigger, "do it"), about=trigger)).context
    assert said not in (await asked(memory(1, trigger), about=trigger, filters=Filters())).context


@pytest.mark.parametrize(
    ("situation", "keyword"),
    [("首页打开太慢，怀疑是图片", "图片"), ("the start page is slow, images perhaps", "images")],
)
def test_keywords_that_stand_in_the_situation_speak_for_an_experience(situation: str, keyword: str) -> None:
    def told(*keywords: str) -> Experience:
        return Experience(Trigger("page takes long", keywords), Action(("x",)))

    without, found, missing = fits(situation, [told(), told(keyword), told("数据库 database")], [0.0] * 3)
    assert found.value > without.value
    assert missing.value == without.value
