"""Print a command of README.md, so that CI runs what a reader would: `python tools/readme.py run` or `... test`."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = {"run": 0, "test": 1}


def shell_commands(readme: str) -> list[str]:
    """Every `sh` block, in order. The first runs the main job, the second the tests."""
    return [block.strip() for block in re.findall(r"^```sh\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)]


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        print(f"usage: python tools/readme.py {{{','.join(COMMANDS)}}}", file=sys.stderr)
        return 2
    print(shell_commands((ROOT / "README.md").read_text(encoding="utf-8"))[COMMANDS[arguments[0]]])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
