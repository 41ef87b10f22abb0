"""Check the rules of the tree that no linter knows; print each breach and fail if there is one.

- no Python or SQL file over 500 lines, no function in the package over 60;
- every module of the package says in a docstring what it is for;
- the environment is read in config.py alone;
- no note of unfinished work; a `noqa` or `type: ignore` names its rule and its reason;
- README.md and README.zh-CN.md come together, and so does every translated page of docs/;
- a requirements file for every supported Python, each line hashed, no index address in it.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/hindsight")
CODE = ("src", "tests", "bench", "tools", "examples")
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
# Written in two pieces, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
# A hash sign starts each: a quoted mention in prose is not a suppression.
SUPPRESSION = re.compile(r"#\s*(?:no" r"qa|type:\s*ig" r"nore)\b(?P<rest>.*)")
REASONED = re.compile(r"^(?:: ?[A-Z]+\d+(?:, ?[A-Z]+\d+)*|\[[a-z-]+(?:, ?[a-z-]+)*\])[ ,;:#(—-]+\w\w+", re.UNICODE)
INDEX_ADDRESS = re.compile(r"--(?:extra-)?index-url|--find-links|://")


def main(root: Path = ROOT) -> int:
    breaches = [*check_sources(root), *check_pairs(root), *check_requirements(root)]
    for breach in breaches:
        print(breach)
    print(f"check_tree: {len(breaches)} breaches" if breaches else "check_tree: clean")
    return 1 if breaches else 0


def check_sources(root: Path) -> Iterator[str]:
    for path in sources(root):
        name = path.relative_to(root)
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > MAX_FILE_LINES:
            yield f"{name}: {len(lines)} lines, {MAX_FILE_LINES} are allowed"
        yield from check_lines(name, lines)
        if name.is_relative_to(PACKAGE) and path.suffix == ".py":
            yield from check_module(name.relative_to(PACKAGE), name, ast.parse("\n".join(lines)))


def sources(root: Path) -> Iterator[Path]:
    for folder in CODE:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".py", ".sql"}:
                yield path


def check_lines(name: Path, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield f"{name}:{number}: unfinished work is an issue, not a comment"
        suppression = SUPPRESSION.search(line)
        if suppression and not REASONED.match(suppression["rest"]):
            yield f"{name}:{number}: a suppression names its rule and its reason"


def check_module(module: Path, name: Path, tree: ast.Module) -> Iterator[str]:
    if tree.body and not ast.get_docstring(tree):
        yield f"{name}: no docstring says what the module is for"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{name}:{node.lineno}: {node.name} has {length} lines, {MAX_FUNCTION_LINES} are allowed"
        if isinstance(node, ast.expr | ast.stmt) and module != Path("config.py") and reads_environment(node):
            yield f"{name}:{node.lineno}: only config.py reads the environment"


def reads_environment(node: ast.expr | ast.stmt) -> bool:
    names = {"environ", "environb", "getenv", "getenvb"}
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id == "os" and node.attr in names
    return isinstance(node, ast.ImportFrom) and node.module == "os" and any(a.name in names for a in node.names)


def check_pairs(root: Path) -> Iterator[str]:
    if not (root / "README.zh-CN.md").exists():
        yield "README.md: README.zh-CN.md is missing"
    for translated in [*root.glob("*.zh-CN.md"), *root.glob("docs/**/*.zh-CN.md")]:
        original = translated.with_name(translated.name.replace(".zh-CN.md", ".md"))
        if not original.exists():
            yield f"{translated.relative_to(root)}: {original.name} is missing"


def check_requirements(root: Path) -> Iterator[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for version in re.findall(r"Python :: 3\.(\d+)", "\n".join(project["classifiers"])):
        path = root / "requirements" / f"test-py3{version}.txt"
        if not path.exists():
            yield f"{path.relative_to(root)}: missing, run tools/lock.py"
            continue
        text = path.read_text(encoding="utf-8")
        if INDEX_ADDRESS.search(text):
            yield f"{path.relative_to(root)}: names an index address"
        for pinned in re.findall(r"^[^\s#].*(?:\n(?!\s+--hash)|\Z)", text, re.MULTILINE):
            yield f"{path.relative_to(root)}: no hash for {pinned.strip()}"


if __name__ == "__main__":
    sys.exit(main())
