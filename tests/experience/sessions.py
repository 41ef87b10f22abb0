"""Sessions made up for reflection, in each form that a transcript comes in: said words and calls with their results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CWD = "/home/marta/work/shop"


@dataclass(frozen=True)
class Words:
    role: str
    text: str


@dataclass(frozen=True)
class Call:
    tool: str
    given: Mapping[str, Any]
    result: str
    failed: bool | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


Piece = Words | Call


def user(text: str) -> Words:
    return Words("user", text)


def agent(text: str) -> Words:
    return Words("assistant", text)


def run(command: str, result: str = "", *, failed: bool | None = False) -> Call:
    return Call("Bash", {"command": command}, result, failed)


def edit(path: str, old: str, new: str, *, failed: bool = False) -> Call:
    given = {"file_path": f"{CWD}/{path}", "old_string": old, "new_string": new}
    return Call("Edit", given, "String to replace not found in file." if failed else "updated", failed)


def look(path: str, text: str) -> Call:
    return Call("Read", {"file_path": f"{CWD}/{path}"}, text, False)


def claude(pieces: Sequence[Piece], session: str = "s-1") -> Iterator[dict[str, Any]]:
    """Lines of Claude Code, with what stands between them in real ones."""
    yield {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    for number, piece in enumerate(pieces):
        common = {
            "sessionId": session,
            "cwd": CWD,
            "isSidechain": False,
            "uuid": f"u{number}",
            "timestamp": (START + timedelta(seconds=number)).isoformat().replace("+00:00", "Z"),
        }
        if isinstance(piece, Words):
            content: Any = piece.text if piece.role == "user" else [{"type": "text", "text": piece.text}]
            yield {**common, "type": piece.role, "message": {"role": piece.role, "content": content}}
            continue
        use = {"type": "tool_use", "id": f"t{number}", "name": piece.tool, "input": dict(piece.given)}
        yield {**common, "type": "assistant", "message": {"role": "assistant", "content": [use]}}
        yield {**common, "type": "progress", "data": {"type": "hook_progress"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": piece.result}
        if piece.failed is not None:
            result["is_error"] = piece.failed  # type: ignore[assignment]  # JSON
        yield {**common, "type": "user", "message": {"role": "user", "content": [result]}}


def openai(pieces: Sequence[Piece]) -> Iterator[dict[str, Any]]:
    """Messages with `tool_calls`, which do not say whether a result is an error."""
    for number, piece in enumerate(pieces):
        if isinstance(piece, Words):
            yield {"role": piece.role, "content": piece.text}
            continue
        function = {"name": piece.tool, "arguments": json.dumps(dict(piece.given), ensure_ascii=False)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"call_{number}", "content": piece.result}


def anthropic(pieces: Sequence[Piece]) -> Iterator[dict[str, Any]]:
    """Messages of content blocks."""
    for number, piece in enumerate(pieces):
        if isinstance(piece, Words):
            yield {"role": piece.role, "content": [{"type": "text", "text": piece.text}]}
            continue
        use = {"type": "tool_use", "id": f"tu_{number}", "name": piece.tool, "input": dict(piece.given)}
        yield {"role": "assistant", "content": [use]}
        result = {
            "type": "tool_result",
            "tool_use_id": f"tu_{number}",
            "content": [{"type": "text", "text": piece.result}],
        }
        yield {"role": "user", "content": [{**result, "is_error": bool(piece.failed)}]}


def written(pieces: Sequence[Piece]) -> Iterator[dict[str, Any]]:
    """Messages for `write`: what an agent tells hindsight as it goes."""
    for number, piece in enumerate(pieces):
        at = START + timedelta(seconds=number)
        if isinstance(piece, Words):
            yield {"content": piece.text, "role": piece.role, "occurred_at": at}
            continue
        held: dict[str, Any] = {"input": dict(piece.given), "cwd": CWD}
        if piece.failed is not None:
            held["is_error"] = piece.failed
        content = piece.result or "(no output)"
        yield {"content": content, "role": "tool", "tool": piece.tool, "occurred_at": at, "metadata": held}


def lines(values: Iterator[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(value, ensure_ascii=False) for value in values).encode()


# Each has one lesson: what must be in its trigger and its steps.

MISSING_MODULE = (
    user("Run the nightly export, please."),
    run("python tools/export.py --day 2026-03-01", "Traceback (most recent call last):\n"
        '  File "tools/export.py", line 3, in <module>\n    import openpyxl\n'
        "ModuleNotFoundError: No module named 'openpyxl'", failed=True),
    agent("The module is not installed in this environment."),
    run("pip install openpyxl", "Successfully installed openpyxl-3.1.5"),
    run("python tools/export.py --day 2026-03-01", "wrote 812 rows"),
    agent("Done."),
)  # fmt: skip

PORT_TAKEN = (
    user("启动一下开发服务器"),
    run(
        "npm run dev",
        "Error: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle",
        failed=True,
    ),
    agent("原因是 3000 端口已被占用。"),
    run("kill $(lsof -t -i:3000)", ""),
    run("npm run dev", "ready - started server on 0.0.0.0:3000"),
    user("好的，谢谢"),
)

WRONG_DATE = (
    user("Book a table for two on Friday, March 6th, at seven."),
    Call("reserve_table", {"day": "6 March", "time": "7pm", "guests": 2},
         '{"error": "invalid date \'6 March\': must be YYYY-MM-DD"}'),
    Call("reserve_table", {"day": "2026-03-06", "time": "19:00", "guests": 2}, '{"status": "ok", "id": "R-77"}'),
    agent("Your table is booked."),
    user("Great, thank you!"),
)  # fmt: skip

NO_PYTHON = (
    user("Count the words in notes.txt with the script"),
    run("python scripts/word_count.py notes.txt", "zsh: command not found: python", failed=True),
    run("python3 scripts/word_count.py notes.txt", "1,204 words", failed=False),
)

STALE_LOCK = (
    user("把今天的改动提交一下"),
    run("git commit -m '更新'", "fatal: Unable to create '.git/index.lock': File exists.\n\n"
        "Another git process seems to be running in this repository", failed=True),
    run("git commit -m '更新' --no-verify", "fatal: Unable to create '.git/index.lock': File exists.", failed=True),
    run("git stash", "fatal: Unable to create '.git/index.lock': File exists.", failed=True),
    run("git config core.filelock false", ""),
    run("git commit -m '更新'", "fatal: Unable to create '.git/index.lock': File exists.", failed=True),
    run("rm -f .git/index.lock", ""),
    run("git commit -m '更新'", "[main 3fe1c02] 更新\n 2 files changed, 5 insertions(+)"),
)  # fmt: skip

PDF = (
    user("用户要求把季度报告 PDF 转换成 Markdown"),
    run("pdftotext -layout report.pdf report.txt", ""),
    Call("write_markdown", {"source": "report.txt", "target": "report.md"}, '{"ok": true}'),
    agent("已转换为 report.md。"),
    user("很好，谢谢！"),
)

WRONG_UNIT = (
    user("Convert the recipe for the Berlin kitchen to metric units"),
    Call("convert_units", {"text": "2 cups flour", "system": "us"}, "2 cups flour"),
    agent("Here it is."),
    user("That's wrong, these are still cups."),
)

CONFIG = (
    user("Make the worker read from the new queue"),
    look("settings/worker.toml", 'broker = "amqp://old"'),
    run("celery -A shop inspect ping", "Error: No nodes replied within time constraint\n"
        "kombu.exceptions.OperationalError: [Errno 111] Connection refused broker_url", failed=True),
    edit("settings/worker.toml", 'broker_url = "amqp://old"', 'broker_url = "redis://queue:6379/1"'),
    run("celery -A shop inspect ping", "->  worker@one: OK\n        pong"),
)  # fmt: skip

# And these have none.

ASSERTION = (
    user("Add a discount"),
    edit("shop/price.py", "return price", "return price * 0.9"),
    run("pytest -q", "E       assert 9.0 == 10\n1 failed, 30 passed in 0.4s", failed=True),
    edit("shop/price.py", "return price * 0.9", "return price"),
    run("pytest -q", "31 passed in 0.4s"),
)

SLIP_OF_THE_PEN = (
    user("加一个函数"),
    edit("shop/cart.py", "", "def total(:\n    pass"),
    run(
        "python -m shop.cart",
        '  File "shop/cart.py", line 1\n    def total(:\nSyntaxError: invalid syntax',
        failed=True,
    ),
    edit("shop/cart.py", "def total(:", "def total():"),
    run("python -m shop.cart", ""),
)

ERRORS_THAT_ARE_READ = (
    user("Why did the job fail last night?"),
    look("logs/job.log", "Traceback (most recent call last):\nValueError: bad row\nERROR: job failed"),
    run("cat logs/other.log", "Error: disk quota exceeded"),
    run("grep -rn 'FAILED' logs", "logs/job.log:3: FAILED"),
    run("git log --oneline -3", "1a2b3c4 fix: error when the list is empty"),
    agent("A row was bad."),
)

REFUSED_BY_THE_PERSON = (
    user("Clean up"),
    run("rm -rf build", "The user doesn't want to proceed with this tool use. The tool use was rejected", failed=True),
    run("rm -rf dist", ""),
)

TOO_MUCH_BETWEEN: tuple[Piece, ...] = (
    user("Make the suite pass"),
    run("make check", "make: *** [check] Error 2\nlinker failed with unknown problem", failed=True),
    *(edit(f"src/part_{n}.c", f"int a{n};", f"long a{n};") for n in range(7)),
    run("make check", "all fine"),
)

VULNERABLE = (
    user("Install the packages"),
    run("npm install", "added 812 packages\n3 high severity vulnerabilities\nfound 3 vulnerabilities"),
    run("npm test", "Tests: 12 passed, 12 total"),
)

UNFINISHED = (
    user("Start the database"),
    run("docker compose up -d db", "Error response from daemon: pull access denied for shop/db", failed=True),
    agent("I can't pull the image. Do you have access?"),
)


UNWRITTEN = (
    user("Write the parser test first, then the parser"),
    edit("tests/test_parser.py", "", "from shop.parser import parse_line"),
    run("python -m tests.test_parser", "ImportError: cannot import name 'parse_line' from 'shop.parser'", failed=True),
    edit("shop/parser.py", "", "def parse_line(text):\n    return text.split(',')"),
    run("python -m tests.test_parser", ""),
)

GONE_BY_ITSELF = (
    user("发布到预发环境"),
    run("helm upgrade shop ./chart", "Error: UPGRADE FAILED: timed out waiting for the condition", failed=True),
    edit("README.md", "old", "new"),
    run("helm upgrade shop ./chart", 'Release "shop" has been upgraded.'),
)

ANOTHER_ORDER = (
    user("Cancel my orders"),
    Call("cancel_order", {"order_id": "W1001", "reason": "too late"}, "Error: order not found"),
    Call("cancel_order", {"order_id": "W2002", "reason": "ordered twice"}, '{"status": "ok"}'),
)

REMOVED_INSTEAD = (
    user("Build it"),
    run("python build/make_bundle.py", "RuntimeError: bundle is too large to be built", failed=True),
    run("rm build/make_bundle.py", ""),
)

NONE: tuple[tuple[Piece, ...], ...] = (
    ASSERTION, SLIP_OF_THE_PEN, ERRORS_THAT_ARE_READ, REFUSED_BY_THE_PERSON, TOO_MUCH_BETWEEN, VULNERABLE, UNFINISHED,
    UNWRITTEN, GONE_BY_ITSELF, ANOTHER_ORDER, REMOVED_INSTEAD,
)  # fmt: skip
