"""The machine's clock, and ids that rise with it."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """This moment, in UTC."""
        return datetime.now(UTC)


class TimeSortedIds:
    """Ids as ULIDs have them: 48 bits of milliseconds, then 80 random bits, in lower-case Crockford base32."""

    def new(self) -> str:
        """A fresh id of 26 characters."""
        number = (int(time.time() * 1000) << 80) | secrets.randbits(80)
        return "".join(CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))
