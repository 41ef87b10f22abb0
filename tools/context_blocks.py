"""Makes docs/context-blocks.md: `python tools/context_blocks.py [--check]`.

Eleven scenes are written through the public API into fresh memories and asked about; the page shows each block as an
agent gets it. Ids differ from run to run, so they stand masked.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill

from hindsight import Hindsight
from hindsight.config import load

PAGE = Path(__file__).parent.parent / "docs" / "context-blocks.md"
MASK = "#xxxxxxxx"
_TODAY = re.compile(r"(来源|from) (?!202[34])20\d\d-\d\d-\d\d")
_ID = re.compile(r"#[0-9a-z]{8}(?=[,，])")

HEAD = """# Context blocks

What an agent reads of its memory, for eleven questions, with how each reads at first sight. The blocks are made by
`python tools/context_blocks.py` from real writes through the public API, with the built-in encoder and no language
model; a test makes them again and compares. Ids are masked.

The block is data inside a fence: the first line says so, hits are grouped by kind, and each line ends with its short
id, its importance, and the day and session it comes from. Every tool takes the short id.
"""


@dataclass(frozen=True, slots=True)
class Learnt:
    """An experience to write."""

    trigger: str
    steps: Sequence[str]
    outcome: str = "success"
    tools: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What is written, what is asked, and how the block reads."""

    title: str
    written: Sequence[Mapping[str, str] | Learnt]
    question: str
    remark: str
    asked_at: str = "2024-03-01T12:00:00+00:00"
    options: Mapping[str, str] = field(default_factory=dict)


def said(content: str, day: str, session: str, speaker: str | None = None) -> dict[str, str]:
    """What a user said at noon of a day."""
    plain = {"content": content, "occurred_at": f"{day}T12:00:00+00:00", "session_id": session}
    return plain if speaker is None else {**plain, "speaker": speaker}


SCENES = (
    Scene(
        "Chinese",
        (
            said("我住在北京朝阳区，家里有只猫叫咪咪。", "2024-01-15", "s1"),
            said("我在一家出版社做编辑。", "2024-01-20", "s2"),
            said("周末我常去奥林匹克森林公园跑步。", "2024-02-03", "s3"),
        ),
        "我的猫叫什么名字？",
        "Reads well. The second line is no answer, but it is short, and its label shows that.",
    ),
    Scene(
        "English",
        (
            said("I live in Lisbon and work as a nurse.", "2024-01-15", "s1"),
            said("My sister Clara is moving to Porto in May.", "2024-02-02", "s2"),
            said("I play the cello on Thursdays.", "2024-02-20", "s3"),
        ),
        "Where does my sister move to?",
        "Reads well. The label «plans» and the day tell that the move is still ahead. The date beside it "
        "is that of the month named, so «around» has to be read widely; importance «low» comes of the "
        "shelf life and is hard to guess.",
    ),
    Scene(
        "Mixed",
        (
            said("我们的 staging 环境用 PostgreSQL 16。", "2024-01-15", "s1"),
            said("The nightly import starts at 02:30 UTC.", "2024-01-18", "s1"),
            said("部署前要先在 GitHub Actions 里跑一遍 integration tests。", "2024-02-11", "s2"),
        ),
        "staging 用的是哪个数据库？",
        "The right line comes first, though the question and the memory share one word and few meanings. "
        "Three lines where one would do. The labels change language with the memories, which looks odd and "
        "costs nothing.",
    ),
    Scene(
        "Preference",
        (
            said("我喜欢喝无糖的乌龙茶。", "2024-01-15", "s1"),
            said("我不喜欢太甜的点心。", "2024-01-15", "s1"),
            said("昨天开会开到很晚。", "2024-02-20", "s2"),
        ),
        "他喜欢喝什么茶？",
        "Reads well, though «他» is nobody by name: the memory takes it for the user.",
    ),
    Scene(
        "A constraint that stands",
        (
            said("我对花生过敏，很严重。", "2024-01-15", "s1"),
            said("我喜欢吃脆的零食。", "2024-02-20", "s2"),
            said("最近在看一部纪录片。", "2024-02-25", "s3"),
        ),
        "推荐点零食",
        "Reads well: the allergy stands first with high importance, whatever is asked. «很严重» is lost.",
    ),
    Scene(
        "An event with dates",
        (
            said("Yesterday I had my driving test and passed.", "2024-02-14", "s1"),
            said("I have a dentist appointment next Friday at 9:00.", "2024-02-20", "s2"),
            said("I painted the kitchen green.", "2024-02-24", "s3"),
        ),
        "When did I pass my driving test?",
        "Reads well since the day stands beside «Yesterday», which alone would be misread as the day "
        "before the source.",
    ),
    Scene(
        "A relation",
        (
            said("小李是我的同事。", "2024-01-15", "s1"),
            said("小李的上级是王总。", "2024-01-22", "s2"),
            said("今天下雨，没带伞。", "2024-02-22", "s3"),
        ),
        "我同事的上级是谁？",
        "Both steps are there and the agent joins them. The first is a quotation, as no rule made a statement of it.",
    ),
    Scene(
        "An experience",
        (
            Learnt(
                "deploying to staging fails with «connection refused»",
                ("check that the VPN is up", "restart the proxy", "deploy again"),
                tools=("kubectl",),
            ),
            said("The staging cluster runs in Frankfurt.", "2024-01-15", "s1"),
        ),
        "The deployment to staging fails with connection refused. What now?",
        "Reads well, if long: situation, steps, tools and record on one line, and that the present decides.",
    ),
    Scene(
        "A failed experience",
        (
            Learnt("磁盘满了，服务写不了日志", ("删除整个日志目录",), outcome="failure"),
            Learnt("磁盘满了，需要腾出空间", ("用 du 找出大文件", "压缩三十天前的日志"), tools=("du", "gzip")),
        ),
        "服务器磁盘满了怎么办？",
        "The failure is marked twice, by its label and by its warning. It comes before the way that "
        "works, which is not ideal, and the doubt above is needless: both fit, but the first by .43 where "
        "a match begins at .44.",
    ),
    Scene(
        "Nothing fits",
        (
            said("I play the cello on Thursdays.", "2024-02-20", "s1"),
            said("My desk is by the window.", "2024-02-21", "s1"),
        ),
        "火星探测器的燃料是什么？",
        "Says at once, in the language of the question, that this is no answer. The two lines below are "
        "noise that a reader has to pass over; leaving them out would lose answers that share neither "
        "words nor meaning with their question.",
    ),
    Scene(
        "As of an earlier time",
        (
            said("I live in Berlin.", "2023-03-01", "s1"),
            said("I have moved to Lisbon.", "2024-02-01", "s2"),
        ),
        "Where do I live?",
        "Only what held then. Nothing in the block says that it is about an earlier time: the agent has "
        "to remember what it asked.",
        options={"as_of": "2023-06-01T00:00:00+00:00"},
    ),
)


def block_of(memory: Hindsight, scene: Scene) -> str:
    """The block that a scene's question gets, ids masked."""
    for one in scene.written:
        if isinstance(one, Learnt):
            memory.write_experience(one.trigger, one.steps, outcome_status=one.outcome, tools_used=one.tools)
        else:
            memory.write_many([one])
    context = memory.search(scene.question, asked_at=scene.asked_at, as_of=scene.options.get("as_of")).context
    # An experience is dated by the day it was written: today.
    return _TODAY.sub(r"\1 2024-03-01", _ID.sub(MASK, context))


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    with (
        tempfile.TemporaryDirectory(prefix="hindsight-blocks-") as folder,
        Hindsight(settings=load(data_dir=Path(folder), db_path=Path(folder) / "memory.db")) as memory,
    ):
        memory.warm()
        for number, scene in enumerate(SCENES, 1):
            parts.append(_section(number, scene, block_of(memory.namespace(f"scene-{number}"), scene)))
    return "\n".join(parts)


def _section(number: int, scene: Scene, block: str) -> str:
    when = f", as of {scene.options['as_of'][:10]}" if "as_of" in scene.options else ""
    return f"## {number} {scene.title}\n\n«{scene.question}»{when}\n\n```\n{block}\n```\n\n{fill(scene.remark, 120)}\n"


def main(given: Sequence[str] | None = None) -> int:
    """Write the page, or say whether it is as it would be written."""
    parser = argparse.ArgumentParser(prog="python tools/context_blocks.py", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where the page is another")
    options = parser.parse_args(given)
    made = page()
    if options.check:
        return int(PAGE.read_text(encoding="utf-8") != made)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
