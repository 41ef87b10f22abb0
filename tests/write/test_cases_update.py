"""CASES U1 to U8 and T6 as kinds: what a later statement does to an earlier one, with the real encoder."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hindsight.domain.change import OutcomeAction
from hindsight.domain.episode import Message, Origin, Role
from hindsight.domain.memory import Memory, Status
from hindsight.domain.query import Filters
from hindsight.models.embedder import UseMultilingual
from hindsight.write.pipeline import WritePolicy
from hindsight.write.request import WriteRequest
from tests.write.house import SPACE, House, stated


@pytest.fixture
async def house(weights: None) -> AsyncIterator[House]:
    embedder = UseMultilingual()
    yield House(embedder=embedder, policy=WritePolicy())
    await embedder.aclose()


async def then(house: House, memory: Memory) -> list[str]:
    """What answers about the time at which a memory was said."""
    page = await house.store.find(SPACE, Filters(as_of=memory.occurred_at))
    return [one.content for one in page.items]


async def superseded(house: House, old: str, new: str) -> None:
    """Say both, and check that the first holds no longer, yet then, and again once it is undone."""
    await house.say(old)
    (before,) = await house.active()
    receipt = await house.say(new)
    outcome = next(one for one in receipt.outcomes if one.action is OutcomeAction.SUPERSEDED)
    assert before.id in outcome.other_ids
    assert outcome.reason
    ended = (await house.store.memories(SPACE, [before.id]))[before.id]
    assert ended.status is Status.SUPERSEDED
    assert ended.superseded_by == outcome.memory_id
    assert ended.valid_to is not None
    assert before.content not in await house.contents()
    assert before.content in await then(house, before)
    history = await house.store.history(SPACE, before.id)
    assert history[-1].reason == outcome.reason
    assert receipt.undo is not None
    await house.amender.undo(SPACE, receipt.undo)
    assert await house.contents() == [before.content]


async def kept(house: House, first: str, second: str) -> None:
    """Say both, and check that both stand."""
    await house.say(first)
    known = await house.contents()
    await house.say(second)
    assert set(known) < set(await house.contents())


CHANGED_MINDS = [
    ("I love running in the morning", "I can't stand running in the morning any more"),
    ("I like oysters", "I don't like oysters anymore"),
    ("I enjoy my yoga class", "I no longer enjoy my yoga class"),
    ("I'm a big fan of horror movies", "I hate horror movies now"),
    ("I prefer Android phones", "I don't prefer Android phones any longer"),
    ("I adore durian", "I dislike durian now"),
    ("我喜欢吃榴莲", "我现在不喜欢吃榴莲了"),
    ("我爱看恐怖片", "我再也不看恐怖片了"),
    ("我很喜欢打麻将", "我讨厌打麻将"),
    ("我不喜欢下雨天", "我现在喜欢下雨天了"),
    ("我不爱吃茄子", "我现在爱吃茄子了"),
    ("I don't like jazz", "I like jazz now"),
    ("我喜欢滑雪", "I don't like skiing any more"),
]


@pytest.mark.parametrize(("first", "second"), CHANGED_MINDS)
async def test_a_changed_mind_answers_and_the_former_is_history(house: House, first: str, second: str) -> None:
    await superseded(house, first, second)


CORRECTIONS = [
    ("我叫陈思远", "更正一下，我叫陈思源"),
    ("我姓名是周敏", "说错了，我叫周茗"),
    ("My name is Catherine Hale", "Correction, my name is Katherine Hale"),
    ("My name is Jon", "Sorry, I meant my name is John"),
    ("我儿子叫李浩然", "我记错了，我儿子叫李昊然"),
    ("我的导师叫王晓东", "更正：我的导师叫王小东"),
    ("My dentist is Dr. Fox", "Actually my dentist is Dr. Foster, not Dr. Fox"),
    ("我的车牌号是京A12345", "抱歉，说错了，我的车牌号是京A12354"),
    ("My employee number is 40213", "I misspoke, my employee number is 40231"),
    ("我的生日是5月4日", "不对，我的生日是5月14日"),
    ("My sister is called Nina", "Scratch that, my sister is called Mina"),
    ("我老家在湖南", "纠正一下，我老家在湖北"),
]


@pytest.mark.parametrize(("first", "second"), CORRECTIONS)
async def test_a_correction_leaves_one_current_value(house: House, first: str, second: str) -> None:
    await superseded(house, first, second)


OTHERS = [
    ("The website uses Nginx", "The API gateway uses Nginx"),
    ("The website uses Nginx", "The website uses Cloudflare as well"),
    ("The billing service uses Kafka", "The search service uses Elasticsearch"),
    ("订单系统用 Kafka", "支付系统用 Kafka"),
    ("订单系统用 Kafka", "订单系统也用 RabbitMQ"),
    ("张三负责前端", "李四负责后端"),
    ("Maria speaks Italian", "Maria speaks Greek"),
    ("Tom owns a bakery", "Tom owns a bookshop"),
    ("我在学法语", "我也在学日语"),
    ("Our app supports English", "Our app supports Korean"),
    ("这台打印机支持双面打印", "这台打印机支持彩色打印"),
    ("Anna teaches chemistry", "Paul teaches chemistry"),
]


@pytest.mark.parametrize(("first", "second"), OTHERS)
async def test_another_subject_or_another_value_of_many_stands_beside(house: House, first: str, second: str) -> None:
    await kept(house, first, second)


ACROSS_LANGUAGES = [
    ("The data layer uses MongoDB", "我们已经迁移到 PostgreSQL"),
    ("后端用 Java", "The backend has been migrated from Java to Go"),
    ("We use Slack", "我们改用飞书了"),
    ("文档放在 Confluence", "We moved our documents from Confluence to Notion"),
    ("I use PyCharm", "我换成 VS Code 了"),
    ("我住在大阪", "I moved to Kyoto last spring"),
    ("I live in Frankfurt", "我已经搬到汉堡市了"),
    ("我在微软工作", "I left Microsoft last month"),
    ("My car is a Honda", "我把本田卖了"),
    ("我养了一只鹦鹉", "My parrot died"),
    ("我吃素", "I'm no longer a vegetarian"),
    ("We deploy with Ansible", "我们不再用 Ansible 部署了"),
]


@pytest.mark.parametrize(("first", "second"), ACROSS_LANGUAGES)
async def test_a_change_is_understood_across_languages(house: House, first: str, second: str) -> None:
    await superseded(house, first, second)


HABITS = [
    ("I drink two beers every evening", "I'm not drinking beer at the moment"),
    ("She smokes a pack a day", "She has stopped smoking"),
    ("I eat eggs every morning", "I'm not eating eggs these days"),
    ("I go swimming on Tuesdays", "I don't go swimming at the moment"),
    ("我每天早上喝牛奶", "我最近不喝牛奶了"),
    ("我每周末打网球", "我现在不打网球了"),
    ("我晚上跑步", "我暂时不跑步了"),
    ("I take vitamin D daily", "I've stopped taking vitamin D"),
    ("我每天吃两片阿司匹林", "我已经停用阿司匹林了"),
    ("I play chess every night", "I quit playing chess"),
    ("我天天喝可乐", "我戒掉可乐了"),
]


@pytest.mark.parametrize(("first", "second"), HABITS)
async def test_a_habit_that_has_stopped_is_superseded(house: House, first: str, second: str) -> None:
    await superseded(house, first, second)


GIVEN_UP = [
    ("我喜欢咖啡", "我再也不喝咖啡了"),
    ("我喜欢看综艺", "我不看综艺了"),
    ("我爱喝可乐", "我把可乐戒了"),
    ("我在吃素", "我又开始吃肉了"),
    ("我每天跑步", "我不跑步了"),
    ("I love coffee", "I don't drink coffee any more"),
    ("I love coffee", "I quit coffee"),
    ("I like oysters", "I will never eat oysters again"),
    ("I'm a vegetarian", "I eat meat again"),
    ("I enjoy playing poker", "I've given up poker"),
]
STILL_LIKED = [
    ("我喜欢咖啡", "我今天不想喝咖啡"),
    ("我喜欢咖啡", "我妈妈再也不喝咖啡了"),
    ("我爱吃辣", "我最近不吃辣了"),
    ("我喜欢狗", "我不养狗了"),
    ("I love coffee", "I don't want coffee today"),
    ("I love coffee", "I quit tea"),
    ("I love coffee", "My wife quit coffee"),
    ("I love coffee", "I can't drink coffee any more"),
]


@pytest.mark.parametrize(("first", "second"), GIVEN_UP)
async def test_what_is_given_up_is_liked_no_longer(house: House, first: str, second: str) -> None:
    await superseded(house, first, second)


@pytest.mark.parametrize(("first", "second"), STILL_LIKED)
async def test_what_is_left_once_or_by_another_is_liked_still(house: House, first: str, second: str) -> None:
    await house.say(first)
    known = await house.contents()
    await house.say(second)
    assert set(known) <= set(await house.contents())


LOOKALIKES = [
    ("Room 204 is booked for Monday", "Room 205 is booked for Monday"),
    ("Gate B12 is closed", "Gate B21 is closed"),
    ("Flight LH400 leaves at nine", "Flight LH404 leaves at nine"),
    ("The 2021 budget was approved", "The 2022 budget was approved"),
    ("Prof. Alan Meyer is on leave", "Prof. Ellen Meyer is on leave"),
    ("Dr John Harris is my doctor", "Dr Joan Harris is my doctor"),
    ("Marian works in sales", "Marion works in sales"),
    ("Austria borders Italy", "Australia exports wool"),
    ("204教室的门坏了", "205教室的门坏了"),
    ("航班CA1501取消了", "航班CA1510准点"),
    ("2022年度审计完成了", "2023年度审计完成了"),
    ("王建军喜欢钓鱼", "王建君喜欢钓鱼"),
    ("小陈住在三楼", "小程住在五楼"),
    ("The patient in bed 3 needs insulin", "The patient in bed 4 needs insulin"),
    ("Version 2.1 fixes the login bug", "Version 2.2 fixes the export bug"),
    ("Order 5519 has shipped", "Order 5591 has shipped"),
]


@pytest.mark.parametrize(("first", "second"), LOOKALIKES)
async def test_lookalikes_are_different_entities(house: House, first: str, second: str) -> None:
    await kept(house, first, second)


LEFT = [
    ("Alice works at Google", "Alice left Google"),
    ("Bruno works for Airbus", "Bruno quit Airbus"),
    ("Chen works at Huawei", "Chen resigned from Huawei"),
    ("I work at Nokia", "I left Nokia"),
    ("我在百度上班", "我从百度离职了"),
    ("我在京东工作", "我已经辞职了"),
    ("我妈妈在医院工作", "我妈妈退休了"),
    ("My father works as a plumber", "My father retired"),
    ("小李在美团上班", "小李离职了"),
    ("Dana works at Siemens", "Dana no longer works at Siemens"),
]


@pytest.mark.parametrize(("said", "left"), LEFT)
async def test_a_change_of_state_beats_a_count(house: House, said: str, left: str) -> None:
    for _ in range(5):
        await house.say(said)
    (before,) = await house.active()
    assert len(before.sources) == 5
    receipt = await house.say(left)
    assert [one.action for one in receipt.outcomes] == [OutcomeAction.SUPERSEDED]
    assert stated(said) not in await house.contents()


async def test_facts_of_one_call_see_each_other_in_order(house: House) -> None:
    await house.say("The capital of Arland is Novo", "The capital of Arland is Vesta", "The capital of Borland is Novo")
    assert await house.contents() == ["The capital of Arland is Vesta", "The capital of Borland is Novo"]


UPDATES = [
    ("I live in Oslo", "I moved to Bergen"),
    ("我住在大连", "我搬到沈阳了"),
    ("I like oysters", "I don't like oysters anymore"),
    ("我每天早上喝牛奶", "我最近不喝牛奶了"),
    ("My name is Jon", "Correction, my name is John"),
    ("我叫周敏", "更正一下，我叫周茗"),
    ("Our team has 5 people", "Our team has 8 people now"),
    ("房租是每月三千元", "房租涨到每月三千五百元"),
    ("The launch is on June 3", "The launch was pushed to June 9"),
    ("服务器的端口是8080", "服务器端口改成了9090"),
]


@pytest.mark.parametrize(("old", "new"), UPDATES)
async def test_an_update_by_name_passes_the_same_reconciliation(house: House, old: str, new: str) -> None:
    await house.say(old)
    await house.say("I have a boat")
    boat = next(one for one in await house.active() if "boat" in one.content)
    await house.amender.update(SPACE, boat.id, new_content=new)
    assert await house.contents() == [new]


WEB = [
    ("I live in Florence", "The user now lives in Rome"),
    ("我住在南京", "用户现在住在合肥"),
    ("I'm allergic to peanuts", "The user is not allergic to peanuts"),
    ("我对花生过敏", "用户不对花生过敏"),
    ("I work at Philips", "The user left Philips"),
    ("我在联想上班", "用户从联想离职了"),
    ("My name is Ines", "The user's name is Inez"),
    ("我吃素", "用户不再吃素了"),
    ("My birthday is May 3", "The user's birthday is June 3"),
    ("我结婚了", "用户离婚了"),
]


@pytest.mark.parametrize("role", [Role.TOOL, Role.DOCUMENT])
@pytest.mark.parametrize(("said", "read"), WEB)
async def test_what_a_page_says_never_takes_the_place_of_what_the_user_said(
    house: House, said: str, read: str, role: Role
) -> None:
    await house.say(said)
    (known,) = await house.active()
    receipt = await house.write(WriteRequest((Message(read, role=role),)))
    assert [one.action for one in receipt.outcomes] == [OutcomeAction.KEPT_APART]
    assert stated(said) in await house.contents()
    page = next(one for one in await house.active() if one.id != known.id)
    assert page.origin is not Origin.USER
    (asked,) = await house.store.reviews(SPACE)
    assert (asked.memory_id, asked.other_ids) == (page.id, (known.id,))


async def test_what_the_user_says_takes_the_place_of_what_a_page_said(house: House) -> None:
    await house.write(WriteRequest((Message("The user lives in Rome", role=Role.DOCUMENT),)))
    receipt = await house.say("I live in Florence")
    assert [one.action for one in receipt.outcomes] == [OutcomeAction.SUPERSEDED]
    assert await house.contents() == ["The user lives in Florence"]
