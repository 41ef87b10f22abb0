"""How a step is told without a language model: as it was done, shortened. No word of its own but the few that join."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hindsight.domain.episode import JsonValue
from hindsight.experience.reflect.commands import tokens
from hindsight.experience.reflect.structure import Kind, Step

MAX_STEP = 520  # characters of a piece of code that are looked at
MAX_CODE = 240  # characters of a command, and of what an edit puts in
MAX_GONE = 140  # characters of what an edit takes out, which tells less
MAX_HUNKS = 3  # places of one edit that are told
MIN_CODE = 40  # characters that each place of several has at least
MAX_AFTER = 60  # characters of the line behind which something is added
MAX_LINES = 6  # lines of what an edit puts in
LONG_QUOTE = 160  # characters from which a quotation in a command is left out

_NEW = ("new_string", "new_str", "replacement", "content", "contents", "file_text", "text")
_OLD = ("old_string", "old_str")
_REMARK = re.compile(r"\s*(?:#(?!\[|include|define|!)|//|--\s|\*|/\*|\"\"\")")

# Lines under which code means something else than beside them: a clause of its own.
_OPENS = re.compile(r"(?:\}\s*)?(?:rescue|else|catch|except|finally|after|ensure|elif|default|otherwise)\b")

_GOES_ON = re.compile(r"(?:[,(\[{|:;=]|\bdo|->|=>|\bthen)$")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that an edit took out and put in at one place, and the line before it that stayed."""

    gone: list[str]
    come: list[str]
    after: list[str]


def step_text(step: Step, *, chinese: bool) -> str:
    """A step in the language of the session."""
    if step.kind is Kind.EDIT:
        return edit_text(step, chinese=chinese)
    if step.kind is Kind.RUN:
        return f"{'运行' if chinese else 'Run'} `{command_text(step)}`"
    return f"{'调用' if chinese else 'Call'} `{call_text(step)}`"


def command_text(step: Step, limit: int = MAX_CODE) -> str:
    """A command on one line, without long quotations and without what only cuts its output."""
    text = step.command.text if step.command is not None else ""
    text = re.sub(r"<<-?\s*['\"]?(\w+)['\"]?.*?^\s*\1\s*$", "<<…", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\"\$\(cat <<….*?\)\"", '"…"', text, flags=re.DOTALL)
    text = re.sub(r"\s*\|\s*(?:head|tail)(?:\s+-?\w+)*\s*$", "", text.replace("\\\n", " "))
    text = re.sub(r"\s*2>&1(?=\s*(?:$|\||;|&&))", "", text)
    text = re.sub(r"^cd\s+\S+\s*&&\s*", "", text)
    # A message to people tells nothing of how the command is called.
    text = re.sub(r"(\s(?:-\w*m|--message|--reason|--title|--body|--description)[ =])(\"(?:[^\"\\]|\\.)*\"|'[^']*')",
                  r'\1"…"', text, flags=re.DOTALL)  # fmt: skip
    words = [_short(word) for word in tokens(text)]
    return _cut(" ".join(words), limit)


def _short(word: str) -> str:
    if word[:1] not in ("'", '"'):
        return word
    inside = "; ".join(" ".join(line.split()) for line in word[1:-1].splitlines() if line.strip())
    return f"{word[0]}{_cut(inside, LONG_QUOTE)}{word[0]}"


def call_text(step: Step) -> str:
    """A call of a tool with what it was given."""
    given = ", ".join(f"{name}={shown(value)}" for name, value in step.act.given.items())
    return _cut(f"{step.act.tool.rsplit('__', 1)[-1]}({given})", MAX_CODE)


def shown(value: JsonValue) -> str:
    """A value on one line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _cut(" ".join(text.split()), 60)


def edit_text(step: Step, *, chinese: bool) -> str:
    """What an edit took out and what it put in."""
    name = step.path or ""
    old, new = sides(step)
    if old is None:
        whole = _code(new.splitlines())
        return f"新建 {name}：`{whole}`" if chinese else f"Write {name}: `{whole}`"
    hunks = hunks_of(old, new)
    more = " …" if len(hunks) > MAX_HUNKS else ""
    shown = hunks[:MAX_HUNKS]
    rooms = zip(
        _shared([_length(one.gone) for one in shown], MAX_GONE * (1 + (len(shown) > 1))),
        _shared([_length(one.come) for one in shown], MAX_CODE),
        strict=True,
    )
    parts = (
        _hunk_text(one, room, alone=len(shown) == 1, chinese=chinese) for one, room in zip(shown, rooms, strict=True)
    )
    told = ("；" if chinese else "; ").join(parts)
    return f"在 {name} 中{told}{more}" if chinese else f"In {name} {told}{more}"


def _length(lines: Sequence[str]) -> int:
    return len(_code(lines, MAX_STEP))


def _shared(needs: Sequence[int], room: int) -> list[int]:
    """Characters for each: what it needs, where that is less than its even part of what is left."""
    given = [0] * len(needs)
    left = room
    for done, place in enumerate(sorted(range(len(needs)), key=lambda place: needs[place])):
        given[place] = max(MIN_CODE, left // (len(needs) - done))
        left -= min(needs[place], given[place])
    return given


def _hunk_text(hunk: Hunk, room: tuple[int, int], *, alone: bool, chinese: bool) -> str:
    gone, come = _code(hunk.gone, room[0]), _code(hunk.come, room[1])
    after = _code(hunk.after, MAX_AFTER)
    if gone and come:
        told = f"把 `{gone}` 改为 `{come}`" if chinese else f"replace `{gone}` by `{come}`"
        after = after if not alone and _OPENS.match(after) else ""
    elif come:
        told = f"加入 `{come}`" if chinese else f"add `{come}`"
    else:
        told = f"删去 `{gone}`" if chinese else f"remove `{gone}`"
        after = ""
    if not after:
        return told
    return f"在 `{after}` 之后{told}" if chinese else f"{told} after `{after}`"


def sides(step: Step) -> tuple[str | None, str]:
    """The text before and after an edit; `None` before a file that is written whole."""
    given = step.act.given
    edits = given.get("edits")
    if isinstance(edits, list) and edits and all(isinstance(one, dict) for one in edits):
        pairs = [one for one in edits if isinstance(one, dict)]
        return (
            "\n".join(next((str(one[name]) for name in _OLD if name in one), "") for one in pairs),
            "\n".join(next((str(one[name]) for name in _NEW if name in one), "") for one in pairs),
        )
    patch = next((given[name] for name in ("patch", "diff", "input") if isinstance(given.get(name), str)), None)
    if patch is not None:
        lines = [line for line in str(patch).splitlines() if not line.startswith(("+++", "---", "***"))]
        return (
            "\n".join(line[1:] for line in lines if line.startswith("-")),
            "\n".join(line[1:] for line in lines if line.startswith("+")),
        )
    old = next((str(given[name]) for name in _OLD if isinstance(given.get(name), str)), None)
    new = next((str(given[name]) for name in _NEW if isinstance(given.get(name), str)), "")
    return old, new


def hunks_of(old: str, new: str) -> list[Hunk]:
    """Each place that an edit changed, by itself: lines of two places are never told as one piece of code."""
    before, after = _lines(old), _lines(new)
    found: list[Hunk] = []
    since: list[str] = []  # lines that are the same, since the last change
    for act, start, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if act == "equal":
            since = before[start:end]
            continue
        gone, come = before[start:end], after[first:last]
        if found and since and all(_slight(line) for line in since):
            # Only an `end` or a bracket lies between: one change.
            former = found.pop()
            found.append(Hunk([*former.gone, *since, *gone], [*former.come, *since, *come], former.after))
        else:
            found.append(Hunk(gone, come, since[-1:]))
        since = []
    code = [
        hunk
        for hunk in found
        if any(not _REMARK.match(line) and not _slight(line) for line in (*hunk.gone, *hunk.come))
    ]
    return code or found


def _slight(line: str) -> bool:
    return len(line) <= 2 or re.fullmatch(r"end\W?|[\W_]{1,4}", line) is not None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _code(lines: Sequence[str], limit: int = MAX_CODE) -> str:
    kept = [" ".join(line.split()) for line in lines if line.strip()]
    telling = [line for line in kept if not _REMARK.match(line) and len(line) > 2] or kept
    more = " …" if len(telling) > MAX_LINES else ""
    return _cut(_joined(telling[:MAX_LINES]) + more, limit).replace("`", "'")


def _joined(lines: Sequence[str]) -> str:
    """Lines of code as one, parted where one does not go on in the next."""
    text = ""
    for line in lines:
        text += ("" if not text else " " if _GOES_ON.search(text) else "; ") + line
    return text


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
