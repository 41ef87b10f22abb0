"""A first memory: write a short conversation, ask about it in both languages, print what an agent would read."""

import sys
import tempfile
from datetime import UTC, datetime

from hindsight import Hindsight, Message

SAID = datetime(2024, 1, 15, 9, 30, tzinfo=UTC)
CONVERSATION = [
    Message("我住在北京朝阳区，家里有只猫叫咪咪，我对花生过敏。", occurred_at=SAID),
    Message("Our team meets every Thursday at 10, and I prefer short answers.", occurred_at=SAID),
    Message("The staging database runs on PostgreSQL 16.", occurred_at=SAID),
]
QUESTIONS = ["吃什么要小心？", "What food must I avoid?", "我们团队什么时候开会？", "Which database is on staging?"]


def main() -> None:
    if hasattr(sys.stdout, "reconfigure"):  # a Windows console may not be able to print Chinese
        sys.stdout.reconfigure(encoding="utf-8")
    # Everything hindsight keeps lies in one folder; this one is gone at the end.
    with tempfile.TemporaryDirectory() as folder, Hindsight(folder) as hindsight:
        memory = hindsight.namespace("first-memory")
        memory.warm()  # loads the encoder now; a first search that waited too long for it would go by words alone
        receipt = memory.write(CONVERSATION, session_id="monday")
        print(f"{len(CONVERSATION)} messages became {len(receipt.outcomes)} memories.")
        for question in QUESTIONS:
            print(f"\n? {question}\n{memory.search(question).context}")


if __name__ == "__main__":
    main()
