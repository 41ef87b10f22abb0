"""What must not leave a session: secrets, home folders, names of users, addresses.

The folder of the project is left out of paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hindsight.write.redact import redact

_HOME = re.compile(
    r"(?P<home>(?:/(?:home|Users|export/home|var/home|mnt/[a-z]/Users)/|"
    r"[A-Za-z]:[\\/]{1,2}(?:Users|Documents and Settings)[\\/]{1,2})"
    r"(?P<name>[^\s/\\:'\"`<>|，。；]+)|/root\b)"
)
_MAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_TEMPORARY = re.compile(r"/(?:private/)?(?:tmp|var/folders)/[\w./@+-]*")
# Accounts of machines, not of people.
_COMMON = frozenset(
    (
        "user",
        "users",
        "root",
        "admin",
        "app",
        "dev",
        "developer",
        "node",
        "ubuntu",
        "runner",
        "vscode",
        "work",
        "public",
    )
)


class Private:
    """Takes out of texts what is private, as far as the folders of a session tell."""

    def __init__(self, folders: Iterable[str], *, redacts: bool = True) -> None:
        known = sorted({folder.rstrip("/\\") for folder in folders if len(folder) > 3}, key=len, reverse=True)
        self._folders = re.compile("|".join(rf"{re.escape(one)}(?:[\\/]|\b)" for one in known)) if known else None
        names = {match["name"] for folder in known for match in _HOME.finditer(folder) if match["name"]}
        names = {name for name in names if len(name) >= 3 and name.lower() not in _COMMON}
        self._names = (
            re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w-])") if names else None
        )
        self._redacts = redacts

    def clean(self, text: str) -> str:
        """The text without them."""
        if self._folders is not None:
            text = self._folders.sub("", text)
        text = _HOME.sub("~", text)
        text = _TEMPORARY.sub(lambda match: f"/tmp/{match[0].rstrip('/').rsplit('/', 1)[-1]}", text)
        if self._redacts:
            text = _MAIL.sub("[REDACTED:email]", redact(text))
        return text if self._names is None else self._names.sub("[REDACTED:user]", text)
