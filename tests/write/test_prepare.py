"""What may be kept, and in which form."""

import re
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain.episode import JsonValue, Message, Role
from hindsight.domain.memory import Kind
from hindsight.errors import InvalidInput
from hindsight.language.markers import FENCE_CLOSE, FENCE_OPEN, without_own_output
from hindsight.write.prepare import Intake, prepare
from hindsight.write.redact import redact
from hindsight.write.request import WriteRequest
from hindsight.write.split import split
from tests.write.house import START, CountingIds, transcript


def taken(*requests: WriteRequest, redacting: bool = True) -> Intake:
    return prepare("space", requests, at=START, ids=CountingIds(), redacting=redacting)


def one(message: Message, **options: object) -> Intake:
    return taken(WriteRequest((message,), **options))  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t  \n", "　", "a\x00b", "\x00", "很好\x00的", "\ud800", "a\udfffb", "猫\ud83d"]
)
def test_text_that_says_nothing_or_can_not_be_stored_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        one(Message(text))
    assert caught.value.field == "content"
    assert caught.value.allowed
    assert "\x00" not in str(caught.value)


@pytest.mark.parametrize("text", ["😀", "我爱你❤️", "👩‍👩‍👧‍👦", "🏳️‍🌈 ok", "𠮷野家", "naïve café", "a", "。"])
def test_emoji_and_rare_characters_are_kept(text: str) -> None:
    assert one(Message(text)).episodes[0].content == text


def nested(levels: int) -> JsonValue:
    """A list in a list in a list."""
    value: JsonValue = []
    for _ in range(levels):
        value = [value]
    return value


NAIVE = datetime(2024, 1, 1, 8)  # noqa: DTZ001 (callers do hand in times without a zone)

BAD = [
    (Message("x"), {"session_id": ""}, "session_id"),
    (Message("x"), {"session_id": "s" * 201}, "session_id"),
    (Message("x"), {"session_id": "s\x00"}, "session_id"),
    (Message("x"), {"tags": ("",)}, "tags"),
    (Message("x"), {"tags": ("t" * 101,)}, "tags"),
    (Message("x"), {"tags": tuple("abcdefgh" * 7)}, "tags"),
    (Message("x"), {"importance": 1.2}, "importance"),
    (Message("x"), {"importance": -0.1}, "importance"),
    (Message("x"), {"importance": float("nan")}, "importance"),
    (Message("x"), {"importance": True}, "importance"),
    (Message("x"), {"timezone": "Mars/Olympus"}, "timezone"),
    (Message("x"), {"timezone": "+25:00"}, "timezone"),
    (Message("x"), {"timezone": "../etc/passwd"}, "timezone"),
    (Message("x"), {"kind": Kind.EXPERIENCE}, "kind"),
    (Message("x", speaker=" "), {}, "speaker"),
    (Message("x", speaker="\udc00"), {}, "speaker"),
    (Message("x", timezone="Nowhere"), {}, "timezone"),
    (Message("x", metadata={"a": float("inf")}), {}, "metadata"),
    (Message("x", metadata={"a": 10**400}), {}, "metadata"),
    (Message("x", metadata={"a": -(10**5000)}), {}, "metadata"),
    (Message("x", metadata={"a": nested(5_000)}), {}, "metadata"),
    (Message("x", metadata={"a": "\x00"}), {}, "metadata"),
    (Message("x", metadata={"a": "b" * 70_000}), {}, "metadata"),
    (Message("x", metadata={"a": {1, 2}}), {}, "metadata"),  # type: ignore[dict-item]  # wrong on purpose
    (Message("x", metadata={1: "b"}), {}, "metadata"),  # type: ignore[dict-item]  # wrong on purpose
    (Message(b"x"), {}, "content"),  # type: ignore[arg-type]  # wrong on purpose
    (Message("x" * 4_000_001), {}, "content"),
]


@pytest.mark.parametrize(("message", "options", "field"), BAD)
def test_a_wrong_value_is_refused_by_its_name(message: Message, options: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        one(message, **options)
    assert caught.value.field == field


def test_too_many_messages_are_refused() -> None:
    with pytest.raises(InvalidInput, match="messages"):
        taken(WriteRequest(tuple(Message("x") for _ in range(1_001))))
    with pytest.raises(InvalidInput, match="messages"):
        taken(WriteRequest(()))


@pytest.mark.parametrize(
    ("moment", "zone", "default", "kept", "name"),
    [
        (None, None, None, START, "UTC"),
        (NAIVE, "Asia/Shanghai", None, datetime(2024, 1, 1, tzinfo=UTC), "Asia/Shanghai"),
        (NAIVE, None, "Asia/Shanghai", datetime(2024, 1, 1, tzinfo=UTC), "Asia/Shanghai"),
        (NAIVE, None, "+08:00", datetime(2024, 1, 1, tzinfo=UTC), "+08:00"),
        (datetime(2024, 1, 1, tzinfo=UTC), None, "Asia/Tokyo", datetime(2024, 1, 1, tzinfo=UTC), "Asia/Tokyo"),
        (
            datetime(2024, 1, 1, 8, tzinfo=timezone(timedelta(hours=8))),
            None,
            "Europe/Berlin",
            datetime(2024, 1, 1, tzinfo=UTC),
            "+08:00",
        ),
        (
            datetime(2024, 7, 1, 2, tzinfo=ZoneInfo("Europe/Berlin")),
            None,
            None,
            datetime(2024, 7, 1, tzinfo=UTC),
            "Europe/Berlin",
        ),
    ],
)
def test_a_time_is_kept_in_utc_with_the_zone_it_was_said_in(
    moment: datetime | None, zone: str | None, default: str | None, kept: datetime, name: str
) -> None:
    episode = one(Message("x", occurred_at=moment, timezone=zone), timezone=default).episodes[0]
    assert (episode.occurred_at, episode.timezone) == (kept, name)
    assert episode.occurred_at.utcoffset() == timedelta()


def test_a_second_import_gives_the_same_keys_and_longer_ones_only_add() -> None:
    turns = ["你好", "您好", "我住在北京", "好的", "我住在北京", "yes", "yes", "yes"]
    first = [episode.key for episode in taken(transcript(turns)).episodes]
    assert [episode.key for episode in taken(transcript(turns)).episodes] == first
    longer = [episode.key for episode in taken(transcript([*turns, "a", "b", "c"])).episodes]
    assert longer[: len(first)] == first
    assert len(set(longer)) == len(longer)


def test_equal_turns_at_the_same_time_are_told_apart_by_their_number() -> None:
    same = tuple(Message("ok", occurred_at=START) for _ in range(3))
    first = [episode.key for episode in taken(WriteRequest(same, session_id="s")).episodes]
    assert len(set(first)) == 3
    assert [episode.key for episode in taken(WriteRequest(same, session_id="s")).episodes] == first


def test_what_has_no_time_is_new_each_time() -> None:
    request = WriteRequest((Message("ok"),))
    ids = CountingIds()
    keys = {prepare("space", [request], at=START, ids=ids).episodes[0].key for _ in range(3)}
    assert len(keys) == 3


LINE = "[用户偏好] - 饮食：对花生过敏（#k7m2q9ab，重要性高，来源 2024-01-15 对话）"
BLOCK = f'{FENCE_OPEN} type="data">\n{LINE}\n{FENCE_CLOSE}'


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        f"\n\n{BLOCK}\n",
        f"{BLOCK}\n{BLOCK}",
        BLOCK.replace("<", "&lt;").replace(">", "&gt;"),
        BLOCK.upper(),
        "\n".join(f"> {line}" for line in BLOCK.splitlines())[2:],
        BLOCK.removesuffix(FENCE_CLOSE),
        "[用户偏好] - 饮食：对花生过敏（#k7m2q9ab，重要性高，来源 2024-01-15 对话）",
        "- allergic to peanuts (#k7m2q9ab, importance high, source 2024-01-15)",
        f"{FENCE_OPEN}>\n\n{FENCE_CLOSE}",
    ],
)
def test_own_output_alone_leaves_nothing(text: str) -> None:
    intake = one(Message(text))
    assert intake.episodes == ()
    assert intake.ignored[0][1].reason


@pytest.mark.parametrize(
    "text", ["我对花生过敏", "see #42, importance unclear", "hindsight is easy", "the <b>bold</b> one"]
)
def test_other_text_is_left_alone(text: str) -> None:
    assert without_own_output(text) == text


def test_what_stands_around_own_output_is_kept() -> None:
    kept = one(Message(f"根据记忆：\n{BLOCK}\n所以我建议吃米饭。", role=Role.ASSISTANT)).episodes[0].content
    assert "所以我建议吃米饭。" in kept
    assert "花生" not in kept


SECRETS = [
    ("token ghp_" + "a1B2c3D4e5" * 4, "github_token"),
    ("令牌是ghp_" + "Z9y8X7w6V5" * 4 + "，别外传", "github_token"),
    ("github_pat_" + "11ABCDEFG0" * 5, "github_token"),
    ("key=sk-" + "abc123DEF456" * 4, "api_key"),
    ("我的密钥 sk-proj-" + "abc123DEF456" * 4, "api_key"),
    ("sk-ant-" + "api03-abcDEF123" * 3, "anthropic_key"),
    ("AKIA" + "ABCDEFGH12345678", "aws_key"),
    ("xoxb-" + "1234567890-abcdefghij", "slack_token"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "private_key"),
    ("-----BEGIN PRIVATE KEY-----\n" + "QUJD" * 10, "private_key"),
    ("身份证号11010519491231002X", "id_card"),
    ("ID 440524188001010014", None),
    ("身份证110105199003078888", None),
    ("sk-learn is a library and sk-something-else-with-words", None),
    ("订单号 123456789012345678", None),
]


@pytest.mark.parametrize(("text", "kind"), SECRETS)
def test_a_secret_is_replaced_by_its_kind_and_nothing_else_is(text: str, kind: str | None) -> None:
    kept = redact(text)
    if kind is None:
        assert kept == text
    else:
        assert f"[REDACTED:{kind}]" in kept
        assert max(re.findall(r"[A-Za-z0-9]{6,}", text), key=len) not in kept


def test_redaction_reaches_metadata_and_can_be_turned_off() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    message = Message(f"use {secret}", metadata={"note": [secret], "deep": {"k": secret}})
    assert secret not in repr(one(message).episodes[0])
    kept = taken(WriteRequest((message,)), redacting=False).episodes[0]
    assert secret in kept.content


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400), st.integers(5, 60))
def test_pieces_joined_are_the_text(text: str, limit: int) -> None:
    pieces = split(text, limit)
    assert "".join(pieces) == text
    assert not text.strip() or all(piece.strip() for piece in pieces)


@pytest.mark.parametrize(
    "unit", ["今天天气很好。", "It rained all day. ", "第一段\n\n", "word ", "字", "e\u0301", "👍🏽"]
)
def test_a_long_text_is_cut_to_size_and_kept_whole(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    episodes = one(Message(text)).episodes
    assert "".join(episode.content for episode in episodes) == text
    assert all(len(episode.content) <= 1_500 for episode in episodes)
    assert episodes[0].metadata["part"] == f"1/{len(episodes)}"


def test_sentences_stay_whole_where_they_can() -> None:
    for piece in split("今天天气很好，我们去公园散步。" * 300)[:-1]:
        assert piece.endswith("。")
    for piece in split("We went to the park because it was sunny. " * 300)[:-1]:
        assert piece.endswith(". ")


def test_tags_are_those_of_the_request_and_of_the_metadata() -> None:
    intake = one(Message("x", metadata={"tags": ["b", "c"], "n": 1}), tags=("a", "b"))
    assert intake.episodes[0].metadata == {"tags": ["a", "b", "c"], "n": 1}
    assert intake.told[intake.episodes[0].id].tags == ("a", "b", "c")
