"""T4: secrets and personal numbers are redacted before they are stored, their kind is kept, all else survives."""

import random
import re
import string

import pytest

from hindsight.domain.episode import Message
from hindsight.write.prepare import prepare
from hindsight.write.redact import redact
from hindsight.write.request import WriteRequest
from tests.write.house import START, CountingIds

LETTERS = string.ascii_letters + string.digits


def made(seed: int, length: int, alphabet: str = LETTERS) -> str:
    """Characters that look random, with at least one digit and one letter; the same for a seed."""
    source = random.Random(seed)
    return "a1" + "".join(source.choice(alphabet) for _ in range(length - 2))


def luhn(prefix: str, length: int, seed: int) -> str:
    """A card number with a right check digit."""
    source = random.Random(seed)
    digits = prefix + "".join(source.choice(string.digits) for _ in range(length - len(prefix) - 1))
    total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def id_card(region: str, birthday: str, order: str) -> str:
    """A resident id with a right check digit (GB 11643-1999)."""
    body = region + birthday + order
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return body + "10X98765432"[sum(int(d) * w for d, w in zip(body, weights, strict=True)) % 11]


def iban(country: str, account: str) -> str:
    """An account number with right check digits (ISO 13616)."""
    value = int("".join(str(int(c, 36)) for c in f"{account}{country}00"))
    return f"{country}{98 - value % 97:02d}{account}"


def spaced(number: str) -> str:
    return " ".join(number[at : at + 4] for at in range(0, len(number), 4))


JWT = f"eyJ{made(1, 20)}.eyJ{made(2, 40)}.{made(3, 43)}"
SECRETS: list[tuple[str, str, str]] = [
    *(
        (f"token: {start}{made(n, 36)}", f"{start}{made(n, 36)}", "github_token")
        for n, start in enumerate(("ghp_", "gho_", "ghs_", "ghu_", "ghr_"))
    ),
    (f"新令牌github_pat_{made(6, 60)}，收好", f"github_pat_{made(6, 60)}", "github_token"),
    (f"glpat-{made(7, 20)}", made(7, 20), "gitlab_token"),
    (f"sk-{made(8, 48)}", made(8, 48), "api_key"),
    (f"我的key是sk-proj-{made(9, 60)}", made(9, 60), "api_key"),
    (f'OPENAI="sk-svcacct-{made(10, 50)}"', made(10, 50), "api_key"),
    (f"sk-ant-api03-{made(11, 80)}", made(11, 80), "anthropic_key"),
    (f"用sk-ant-{made(12, 40)}调用", made(12, 40), "anthropic_key"),
    ("AWS id AKIAQ3EGRZ7XKLMN2PTV", "AKIAQ3EGRZ7XKLMN2PTV", "aws_key"),
    ("临时凭证ASIAQ3EGRZ7XKLMN2PTW", "ASIAQ3EGRZ7XKLMN2PTW", "aws_key"),
    (f"aws_secret_access_key = {made(13, 40)}", made(13, 40), "secret"),
    (f"AIza{made(14, 35)}", made(14, 35), "google_key"),
    (f"GOCSPX-{made(15, 28)}", made(15, 28), "google_key"),
    (f"ya29.{made(16, 60)}", made(16, 60), "google_key"),
    (f"xoxb-123456789012-{made(17, 24)}", made(17, 24), "slack_token"),
    (f"xoxp-{made(18, 40)}", made(18, 40), "slack_token"),
    (f"https://hooks.slack.com/services/T0{made(19, 30)}", made(19, 30), "slack_token"),
    (f"sk_live_{made(20, 24)}", made(20, 24), "stripe_key"),
    (f"支付用rk_test_{made(21, 30)}", made(21, 30), "stripe_key"),
    (f"whsec_{made(22, 32)}", made(22, 32), "stripe_key"),
    (f"hf_{made(23, 34)}", made(23, 34), "access_token"),
    (f"npm_{made(24, 36)}", made(24, 36), "access_token"),
    (JWT, JWT, "jwt"),
    (f"Authorization: Bearer {JWT}", JWT, "jwt"),
    (f"Authorization: Bearer {made(25, 40)}", made(25, 40), "secret"),
    (f"client_secret={made(26, 32)}", made(26, 32), "secret"),
    (f'"api_key": "{made(27, 32)}"', made(27, 32), "secret"),
    (f"ACCESS_TOKEN={made(28, 40)}", made(28, 40), "secret"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow", "private_key"),
    (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{made(29, 64)}\n{made(30, 64)}", made(30, 64), "private_key"),
    ("postgres://admin:tiger42x@db.internal:5432/app", "tiger42x", "password"),
    ("git clone https://bob:passw0rd9@git.example.com/x.git", "passw0rd9", "password"),
    ("redis://:hunter22@cache:6379", "hunter22", "password"),
    ("password=Spring2024!", "Spring2024!", "password"),
    ("PASSWORD: correct-h0rse", "correct-h0rse", "password"),
    ("my password is Tr0ub4dor&3", "Tr0ub4dor&3", "password"),
    ("DB_PASSWORD='s3cr3t-db'", "s3cr3t-db", "password"),
    ("密码是abc12345", "abc12345", "password"),
    ("数据库密码：Zx9_kk21", "Zx9_kk21", "password"),
    ("Wi-Fi密码: 88aa66bb，随便用", "88aa66bb", "password"),
    ("pwd=Qwe#4321", "Qwe#4321", "password"),
    *(
        (f"身份证号{id_card(region, day, order)}。", id_card(region, day, order), "id_card")
        for region, day, order in (
            ("110105", "19491231", "002"), ("440308", "19900228", "117"), ("310115", "20010615", "033"),
            ("510107", "19851130", "408"), ("330106", "19771009", "551"), ("420111", "20080401", "290"),
        )
    ),
    *(
        (text.format(number), number, "phone")
        for text, number in (
            ("手机{}", "13812345678"), ("我的电话是{}", "15987654321"), ("call me at {}", "+86 13912345678"),
            ("联系人王先生，{}。", "18601234567"), ("微信同号 {}", "177-1234-5678"), ("{}，找小李", "199 8765 4321"),
            ("打{}就行", "13612349876"), ("tel:{}", "19112345670"),
        )
    ),
    *(
        (text.format(number), number, "bank_card")
        for text, number in (
            ("卡号{}", luhn("622202", 19, 1)), ("银行卡 {}", spaced(luhn("621700", 16, 2))),
            ("my card is {}", luhn("4539", 16, 3)), ("Visa {}", spaced(luhn("4716", 16, 4))),
            ("mastercard {}", luhn("5425", 16, 5)), ("尾号之前是{}", luhn("623058", 19, 6)),
            ("amex {}", luhn("3742", 15, 7)),
        )
    ),
    *((f"SSN {number}", number, "us_ssn") for number in ("219-09-9999", "457-55-5462", "078-05-1121")),
    *(
        (f"IBAN {shown}", shown, "iban")
        for shown in (
            iban("DE", "370400440532013000"), spaced(iban("DE", "500105175407324931")),
            iban("GB", "WEST12345698765432"),
            iban("FR", "20041010050500013M02606"), iban("NL", "ABNA0417164300"), iban("CH", "00762011623852957"),
        )
    ),
]  # fmt: skip

LOOK_ALIKES = [
    "订单号 123456789012345678", "订单号13812345678", "快递单号 15912345678901", "order "
        "4111111111111111", "order id 13912345678",
    "tracking number 622202123456789012", "流水号：18612345678", "工单编号 17700001111",
    "发票号码 44031234567890123456",
    "价格 13800000000 元", "营收 15900000000 元", "一共 18612345678 次", "13000000000", "下载量 13912345678 bytes",
    "timestamp 1716537600000", "1716537600", "2024-01-15 10:30:00", "2023-05-24", "20240115103000", "build 20240115.3",
    "电话分机 8012", "转分机 123456", "电话 010-62345678", "021-12345678", "400-800-1234", "95588", "10086", "120",
    "ISBN 9787111213826", "isbn 978-7-111-21382-6", "条码 6901234567892", "IMEI 356938035643809", "版本 1.2.3.4",
    "圆周率 3.14159265358979", "坐标 31.23041612345, 121.4737012345", "编号 110105199003078888",
    "ID 440524188001010014",
    "身份证110105199003078888", "房间 101-22-3333 号", "part 219-09-9999", "model "
        "457-55-5462", "000-12-3456", "666-12-3456",
    "sk-learn is a library", "sk-something-else-with-words", "ghp_short", "AKIA is a prefix", "xoxb- tokens start so",
    "token=abc", "the token is expired", "secret garden", "the secret: be kind", "api_key: "
        "required", "a JWT begins with eyJ",
    "password: string", "password reset link", "密码是多少", "密码忘了怎么办", "密码：见邮件", "password=$DB_PASSWORD",
    "password: <your password>", "pwd=/home/user", "os.environ['PASSWORD']", "password "
        "is required", "my password is too long",
    "https://example.com/a:b@c", "https://example.com/path?id=15", "mailto:anna@example.com",
    "anna.schmidt@example.com",
    "commit 4f3c2b1a0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a", "550e8400-e29b-41d4-a716-446655440000", "DE89 is a prefix",
    "GB invoice 12",
    "卡号后四位 5678", "尾号8899的储蓄卡", "会议号：123456789", "预约码#LT2025040915", "身高 178，体重 65",
    "1/2/2024", "12,345,678,901",
    "0.13812345678", "CA1234567890123456", "车牌 沪A12345", "航班 MU5101", "room 101", "10.0.0.1:8080", "11 2222 3333",
]  # fmt: skip


def test_at_least_sixty_of_each_are_tried() -> None:
    assert len(SECRETS) >= 60
    assert len(LOOK_ALIKES) >= 60


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS)
def test_a_secret_is_gone_and_its_kind_is_kept(text: str, secret: str, kind: str) -> None:
    kept = redact(text)
    assert secret not in kept
    assert f"[REDACTED:{kind}]" in kept
    assert not re.search(r"[A-Za-z0-9]{16,}", kept.replace("aws_secret_access_key", ""))


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_a_secret_survives(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS[::5])
def test_a_secret_is_found_in_the_middle_of_chinese_and_english(text: str, secret: str, kind: str) -> None:
    for around in ("请记下：{}\n然后继续部署。", "Please note this down: {}\nThen go on.", "「{}」"):
        kept = redact(around.format(text))
        assert secret not in kept
        assert f"[REDACTED:{kind}]" in kept


def test_redacting_twice_changes_nothing_more() -> None:
    for text, _, _ in SECRETS:
        assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS[::7])
def test_redaction_can_be_turned_off_and_reaches_metadata(text: str, secret: str, kind: str) -> None:
    request = WriteRequest((Message("see below", metadata={"note": [text], text: 1}),))
    on = prepare("space", [request], at=START, ids=CountingIds()).episodes[0]
    assert secret not in repr(on.metadata)
    assert f"[REDACTED:{kind}]" in repr(on.metadata)
    off = prepare("space", [WriteRequest((Message(text),))], at=START, ids=CountingIds(), redacting=False).episodes[0]
    assert off.content == text
