"""Install what the tests need and run them: `python3 tools/test.py [pytest arguments]`.

Needs nothing but Python and a package index: makes `.venv-test`, installs the hashed requirements of the running Python
and this package, and hands the arguments to pytest. A second run installs only what has changed.
`--setup` stops before pytest and prints the environment's interpreter.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv-test"
SUPPORTED = "3.11, 3.12 and 3.13"


def main(arguments: list[str]) -> int:
    requirements = ROOT / "requirements" / f"test-py{sys.version_info[0]}{sys.version_info[1]}.txt"
    if not requirements.exists():
        running = ".".join(str(part) for part in sys.version_info[:3])
        print(f"The tests run on Python {SUPPORTED}; this is {running}: {sys.executable}", file=sys.stderr)
        return 2
    python = prepare(requirements)
    if arguments[:1] == ["--setup"]:
        print(python)
        return 0
    return subprocess.run([str(python), "-m", "pytest", *arguments], cwd=ROOT, check=False).returncode


def prepare(requirements: Path) -> Path:
    """Make the environment, or leave it alone when it was made from the same files by the same Python."""
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = ENVIRONMENT / "made-from"
    made_from = fingerprint(requirements)
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == made_from:
        return python
    # Progress goes to stderr, so that --setup prints the interpreter alone.
    print(f"Making {ENVIRONMENT.name} from {requirements.relative_to(ROOT)} ...", file=sys.stderr)
    run(sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT))
    run(str(python), *PIP, "--require-hashes", "--requirement", str(requirements))
    # The build backend is among the hashed requirements: an isolated build would download another one unchecked.
    run(str(python), *PIP, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    stamp.write_text(made_from, encoding="utf-8")
    return python


PIP = ("-m", "pip", "--disable-pip-version-check", "-qq", "install")


def fingerprint(requirements: Path) -> str:
    seen = hashlib.sha256(f"{sys.version} {sys.executable} {ROOT}".encode())
    for path in (requirements, ROOT / "pyproject.toml", Path(__file__)):
        seen.update(path.read_bytes())
    return seen.hexdigest()


def run(*command: str) -> None:
    finished = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=False)
    if finished.returncode:
        print(f"Failed with exit code {finished.returncode}: {' '.join(command)}", file=sys.stderr)
        raise SystemExit(finished.returncode)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
