"""Secrets and personal numbers out of a text before it is kept; the kind stays: `[REDACTED:github_token]`.

Only what can be told with near certainty: forms with a fixed prefix, numbers whose checksum fits, and a password where
the text says that it is one. E-mail addresses stay: they are how people are known, and asked for again. So do numbers
that the text itself calls something else (an order, a tracking number), and amounts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import partial

from hindsight.domain.episode import JsonValue, Metadata
from hindsight.write.sign import lowered

_PRIVATE_KEY = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_BEGIN = r"(?<![A-Za-z0-9])"  # a key right after a Chinese character must still begin a word
_PATTERNS = {
    # A key that was cut off has no last line: its own lines of base64 still go.
    "private_key": (
        rf"{_PRIVATE_KEY}(?:.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:\s*(?:\\n)?[A-Za-z0-9+/=]{{16,}})*)"
    ),
    "github_token": rf"{_BEGIN}(?:gh[pousr]_[A-Za-z0-9]{{30,255}}|github_pat_[A-Za-z0-9_]{{30,255}})",
    "gitlab_token": rf"{_BEGIN}glpat-[A-Za-z0-9_-]{{20,}}",
    "anthropic_key": rf"{_BEGIN}sk-ant-[A-Za-z0-9_-]{{20,}}",
    "api_key": rf"{_BEGIN}sk-(?:proj-|svcacct-|or-v1-)?(?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{{20,}}",
    "aws_key": rf"{_BEGIN}(?:AKIA|ASIA)[0-9A-Z]{{16}}(?![0-9A-Za-z])",
    "google_key": rf"{_BEGIN}(?:AIza[0-9A-Za-z_-]{{35}}|ya29\.[0-9A-Za-z_-]{{20,}}|GOCSPX-[0-9A-Za-z_-]{{20,}})",
    "slack_token": (
        rf"{_BEGIN}(?:xox[abeoprs]-[0-9A-Za-z-]{{20,}}|xapp-[0-9A-Za-z-]{{20,}})"
        r"|https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"
    ),
    "stripe_key": rf"{_BEGIN}(?:(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{{16,}}|whsec_[0-9A-Za-z]{{20,}})",
    "access_token": (
        rf"{_BEGIN}(?:hf_[A-Za-z0-9]{{30,}}|npm_[A-Za-z0-9]{{36}}|pypi-AgEI[\w-]{{30,}}|SG\.[\w-]{{20,}}\.[\w-]{{20,}}|"
        r"\d{8,10}:AA[\w-]{33})"
    ),
    "jwt": rf"{_BEGIN}eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}",
}
_SECRET = re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in _PATTERNS.items()), re.DOTALL | re.ASCII)
# Of these one stands in every form above; whether a plain text stands in another is found out far faster.
_SECRET_HINTS = (
    *("BEGIN ", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "AKIA", "ASIA", "AIza"),
    *("ya29.", "GOCSPX", "xox", "xapp-", "hooks.slack", "sk_live", "sk_test", "rk_live", "rk_test", "whsec_"),
    *("hf_", "npm_", "pypi-", "SG.", ":AA", "eyJ"),
)

# What the text itself calls a password. Not what only stands for one: `$PASSWORD`, `<password>`, «密码是多少».
_VALUE = r"(?P<value>(?![$<{\[(/%*])(?=[^\s,，。;；'\"、）)]*[\d!@#$%^&*])[^\s,，。;；'\"、（(）)\u4e00-\u9fff]{5,64})"
_PASSWORD = re.compile(
    rf"(?P<said>(?:password|passwd|passphrase|passcode|pwd|密码|口令|密碼)[\w-]{{0,12}}?['\"]?\s*(?:=>|[=:：]|\bis\b|"
    rf"是|为|"
    rf"叫)\s*['\"`“「]?){_VALUE}",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<said>\b(?:[A-Za-z_]*(?:api[_-]?key|secret[_-]?(?:access[_-]?)?key|client[_-]?secret|access[_-]?token|"
    r"auth[_-]?token|"
    r"secret)['\"]?\s*[=:：]\s*['\"]?)|\bBearer\s+)(?P<value>(?=[A-Za-z_./+-]*\d)[A-Za-z0-9_./+=-]{16,})",
    re.IGNORECASE,
)
_URL_PASSWORD = re.compile(
    r"(?P<said>\b[a-z][a-z0-9+.-]*://[^\s/:@]{0,"
    r"60}:)(?P<value>(?![$<{])[^\s/@]{1,100})(?=@[\w\[])",
    re.IGNORECASE,
)
# As above, of the text in lower case.
_PASSWORD_HINTS = ("password", "passwd", "passphrase", "passcode", "pwd", "密码", "口令", "密碼")
_TOKEN_HINTS = ("apikey", "api_key", "api-key", "secret", "token", "bearer")

_NUMBER_HINT = re.compile(r"\d{3}[ -]?\d")
_ID_CARD = re.compile(r"(?<![0-9A-Za-z.])[1-8]\d{5}(?:19|20)\d{2}[01]\d[0-3]\d\d{3}[0-9Xx](?![0-9A-Za-z])", re.ASCII)
_MOBILE = re.compile(
    r"(?<![0-9A-Za-z.,_=/#-])(?:(?:\+|00)?86[ -]?)?1[3-9]\d(?:\d{8}|[ -]\d{4}[ -]\d{4})(?![0-9A-Za-z_])(?![.,]\d|"
    r"-\d)",
    re.ASCII,
)
_CARD = re.compile(
    r"(?<![0-9A-Za-z.,_=/#-])(?:\d{13,19}|\d{4}(?:[ -]\d{4}){3}(?:[ -]?\d{1,3})?|"
    r"3[47]\d{2}[ -]\d{6}[ -]\d{5})(?![0-9A-Za-z_.-]*[0-9A-Za-z_])",
    re.ASCII,
)
_SSN = re.compile(r"(?<![0-9A-Za-z.-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![0-9A-Za-z-])", re.ASCII)
_IBAN = re.compile(r"(?<![0-9A-Za-z])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![0-9A-Za-z])", re.ASCII)
_ID_CARD_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643-1999
_ID_CARD_CHECKS = "10X98765432"
# Lengths of the prefixes that card networks have (ISO/IEC 7812; 62 is UnionPay).
_CARDS = re.compile(
    r"62\d{14,17}|4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d)\d{12}|35\d{14}|"
    r"3[068]\d{12}|"
    r"(?:9558|603|601[0-9])\d{12,15}"
)
_IBAN_LENGTHS = {
    "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20, "ES": 24, "FI": 18,
    "FR": 27,
    "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27, "LI": 21, "LT": 20, "LU": 20,
    "LV": 21,
    "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SA": 24, "SE": 24, "SI": 19, "SK": 24,
    "SM": 27,
    "TR": 26, "AE": 23, "UA": 29,
}  # fmt: skip
# The number is called something else, or counts something.
_CALLED_OTHERWISE = re.compile(
    r"(?:订单|运单|快递|单号|流水|工单|批次|编号|序列|条码|条形码|商品|型号|版本|房间|时间戳|发票|合同|学号|工号|编码|"
    r"order|tracking|invoice|ticket|serial|part|sku|isbn|ean|barcode|imei|build|commit|timestamp|version|model|item|"
    r"case|"
    r"job|request|trace|record|batch|reference|ref|transaction|uuid|hash|id)[\w \u4e00-\u9fff]{0,8}"
    r"[\s:：#=为是no.()（）-]{0,6}$",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\s?(?:元|块|美元|人民币|次|个|件|条|字节|人|步|米|公里|吨|股|万|亿|年|毫秒|秒|bytes?|rows?|"
    r"users?|usd|eur|rmb|ms|times|"
    r"steps|%)",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Return `text` with every secret replaced by its kind in brackets."""
    if any(map(text.__contains__, _SECRET_HINTS)):
        text = _SECRET.sub(lambda match: _mark(match.lastgroup or "secret"), text)
    text = _said(text)
    if _NUMBER_HINT.search(text):
        digits = sum(map(text.count, "0123456789"))
        for kind, least, form, fits in _NUMBERS:
            if digits >= least:
                text = form.sub(partial(_number, kind=kind, fits=fits), text)
    return text


def redact_object(metadata: Metadata) -> dict[str, JsonValue]:
    """Return metadata with every text in it redacted, names too."""
    return {redact(name): _redact_json(value) for name, value in metadata.items()}


def _redact_json(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redact_json(item) for item in value]
    return redact_object(value) if isinstance(value, dict) else value


def _mark(kind: str) -> str:
    return f"[REDACTED:{kind}]"


def _said(text: str) -> str:
    """Without what the text calls a password or a key."""
    if "://" in text:
        text = _URL_PASSWORD.sub(lambda match: match["said"] + _mark("password"), text)
    low = lowered(text)
    for hints, form, kind in ((_PASSWORD_HINTS, _PASSWORD, "password"), (_TOKEN_HINTS, _TOKEN, "secret")):
        if any(map(low.__contains__, hints)):
            text = form.sub(partial(_named, kind=kind), text)
    return text


def _named(match: re.Match[str], *, kind: str) -> str:
    return match[0] if "REDACTED" in match[0] else match["said"] + _mark(kind)


def _number(match: re.Match[str], *, kind: str, fits: Callable[[str], bool]) -> str:
    text, (start, end) = match.string, match.span()
    # A checksum over nineteen digits that starts with a place and a birthday leaves no doubt; the others may be chance.
    other = kind != "id_card" and (_CALLED_OTHERWISE.search(text[max(0, start - 24) : start]) or _UNIT.match(text, end))
    return match[0] if other or not fits(re.sub(r"[ -]", "", match[0])) else _mark(kind)


def _is_id_card(number: str) -> bool:
    """Whether a Chinese resident id is one: a date of birth that exists, and the check digit of GB 11643-1999."""
    try:
        date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    weighted = sum(weight * int(digit) for weight, digit in zip(_ID_CARD_WEIGHTS, number, strict=False))
    return _ID_CARD_CHECKS[weighted % 11] == number[17].upper()


def _is_mobile(number: str) -> bool:
    """Whether eleven digits are more than a round number («13000000000 of them»)."""
    return not number.endswith("0000000")


def _is_card(number: str) -> bool:
    """Whether a number has the prefix and length of a card network and passes the check of Luhn (ISO/IEC 7812-1)."""
    if _CARDS.fullmatch(number) is None or len(set(number[1:])) == 1:
        return False
    digits = [int(digit) for digit in reversed(number)]
    return sum(sum(divmod(2 * digit, 10)) if place % 2 else digit for place, digit in enumerate(digits)) % 10 == 0


def _is_iban(number: str) -> bool:
    """Whether an account number has its country's length and the remainder 1 (ISO 13616)."""
    if _IBAN_LENGTHS.get(number[:2]) != len(number):
        return False
    return int("".join(str(int(character, 36)) for character in number[4:] + number[:4])) % 97 == 1


def _always(number: str) -> bool:
    return bool(number)


# With the digits that a number has at least: a text with fewer, such as one that names a year, has none of its kind.
_NUMBERS: tuple[tuple[str, int, re.Pattern[str], Callable[[str], bool]], ...] = (
    ("id_card", 17, _ID_CARD, _is_id_card),
    ("iban", 2, _IBAN, _is_iban),
    ("bank_card", 13, _CARD, _is_card),
    ("phone", 11, _MOBILE, _is_mobile),
    ("us_ssn", 9, _SSN, _always),
)
