"""Log lines on stderr: for people, or JSON for programs; each with the id of the request it belongs to."""

from __future__ import annotations

import json
import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from uuid import uuid4

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that this task works for; empty outside of one."""

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def accept(given: str | None) -> str:
    """The id that a caller gave, where it is fit for a log line, else a new one."""
    return given if given and _ID.fullmatch(given) else uuid4().hex


class _WithRequest(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


class _Json(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        told = getattr(record, "request_id", "")
        if told:
            line["request_id"] = told
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class _Text(logging.Formatter):
    """As people read it; the request's id at the end."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        told = getattr(record, "request_id", "")
        return f"{line} [{told}]" if told else line


def log_to_stderr(level: str, *, as_json: bool = False) -> None:
    """Log from this level on, unless the program has set up logging of its own."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_WithRequest())
    handler.setFormatter(_Json() if as_json else _Text())
    logging.basicConfig(level=level, handlers=[handler])
