"""Compile requirements/test-py3XX.txt: all that the tests need, pinned, with the hashes of every file of a release.

requirements/llm.txt, for every Python, is what only the tests with a real language model need.

Run it after a change of the dependencies in pyproject.toml, from an environment that has the `dev` group:

    python tools/lock.py            # keep the pins that still fit
    python tools/lock.py --upgrade  # take the newest releases
"""

import argparse
import itertools
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from packaging.markers import Marker

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
HEADER = "# Made by tools/lock.py from pyproject.toml; do not edit.\n"
# The platforms the base install is meant for. A package that none of them needs is left out.
SYSTEMS = (("linux", "Linux"), ("darwin", "Darwin"), ("win32", "Windows"))
MACHINES = ("x86_64", "aarch64", "arm64", "AMD64")
REQUIREMENT = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==[^ ]+(?: ; (?P<marker>.+?))? \\\n(?: {4}--hash=.*\n)+", re.MULTILINE
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--upgrade", action="store_true", help="take the newest releases instead of the pinned ones")
    arguments = parser.parse_args()
    targets: list[tuple[str, str, Sequence[str]]] = [
        (f"test-py{python.replace('.', '')}.txt", python, ("pyproject.toml", "--group", "test")) for python in PYTHONS
    ]
    targets.append(("llm.txt", PYTHONS[0], ("--group", "llm")))
    for name, python, sources in targets:
        target = ROOT / "requirements" / name
        compile_for(python, target, sources, upgrade=arguments.upgrade)
        kept = keep_needed(target.read_text(encoding="utf-8"), python)
        target.write_text(HEADER + kept, encoding="utf-8", newline="\n")
        print(f"{target.relative_to(ROOT)}: {kept.count('==')} packages")
    return 0


def compile_for(python: str, target: Path, sources: Sequence[str], *, upgrade: bool) -> None:
    """Resolve for all platforms at once; index addresses stay out, so the file works with any mirror."""
    command = [sys.executable, "-m", "uv", "pip", "compile", *sources]
    command += ["--universal", "--python-version", python, "--generate-hashes"]
    command += ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--quiet"]
    command += ["--output-file", str(target)]
    if upgrade:
        command.append("--upgrade")
    subprocess.run(command, cwd=ROOT, check=True)


def keep_needed(compiled: str, python: str) -> str:
    """Drop what only another Python, PyPy or a browser would install."""
    return "".join(match[0] for match in REQUIREMENT.finditer(compiled) if is_needed(match["marker"], python))


def is_needed(marker: str | None, python: str) -> bool:
    if marker is None:
        return True
    parsed = Marker(marker)
    for (sys_platform, system), machine in itertools.product(SYSTEMS, MACHINES):
        environment = {
            "python_version": python,
            "python_full_version": f"{python}.99",
            "sys_platform": sys_platform,
            "platform_system": system,
            "platform_machine": machine,
            "platform_python_implementation": "CPython",
            "implementation_name": "cpython",
        }
        if parsed.evaluate(environment):
            return True
    return False


if __name__ == "__main__":
    raise SystemExit(main())
