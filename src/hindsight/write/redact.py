"""Secrets and personal numbers out of a text before it is kept; the kind stays: `[REDACTED:github_token]`.

Only what can be told with near certainty: forms with a fixed prefix, and numbers whose checksum fits.
"""

from __future__ import annotations

import re
from datetime import date

from hindsight.domain.episode import JsonValue, Metadata

_PRIVATE_KEY = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_PATTERNS = {
    # A key that was cut off has no last line: its own lines of base64 still go.
    "private_key": (
        rf"{_PRIVATE_KEY}(?:.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:\s*[A-Za-z0-9+/=]{{16,}})*)"
    ),
    "github_token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255})",
    "anthropic_key": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "api_key": r"(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|or-v1-)?(?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{20,}",
    "aws_key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "google_key": r"\bAIza[0-9A-Za-z_-]{35}",
    "slack_token": r"\bxox[abeoprs]-[0-9A-Za-z-]{20,}",
}
# ASCII: a key right after a Chinese character must still begin a word.
_SECRET = re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in _PATTERNS.items()), re.DOTALL | re.ASCII)
_ID_CARD = re.compile(r"(?<![0-9A-Za-z])[1-9]\d{5}(?:19|20)\d{2}[01]\d[0-3]\d\d{3}[0-9Xx](?![0-9A-Za-z])", re.ASCII)
_ID_CARD_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643-1999
_ID_CARD_CHECKS = "10X98765432"


def redact(text: str) -> str:
    """Return `text` with every secret replaced by its kind in brackets."""
    text = _SECRET.sub(lambda match: f"[REDACTED:{match.lastgroup}]", text)
    return _ID_CARD.sub(lambda match: "[REDACTED:id_card]" if _is_id_card(match[0]) else match[0], text)


def redact_object(metadata: Metadata) -> dict[str, JsonValue]:
    """Return metadata with every text in it redacted, names too."""
    return {redact(name): _redact_json(value) for name, value in metadata.items()}


def _redact_json(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redact_json(item) for item in value]
    return redact_object(value) if isinstance(value, dict) else value


def _is_id_card(number: str) -> bool:
    """Whether a Chinese resident id is one: a date of birth that exists, and the check digit of GB 11643-1999."""
    try:
        date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    weighted = sum(weight * int(digit) for weight, digit in zip(_ID_CARD_WEIGHTS, number, strict=False))
    return _ID_CARD_CHECKS[weighted % 11] == number[17].upper()
