"""Shell commands: their parts, what kind of command each is, and whether it changes anything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_COMMAND = 4_000  # characters that are looked at
_HEREDOC = re.compile(r"<<-?\s*['\"]?(?P<word>\w+)['\"]?.*?^\s*(?P=word)\s*$", re.DOTALL | re.MULTILINE)
_PART = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9]*(?:[-:][a-z0-9]+)*")
_TOKEN = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\s]+", re.DOTALL)

_LOOKS = frozenset(
    (
        *("ls", "cat", "head", "tail", "grep", "egrep", "rg", "ag", "find", "fd", "wc", "pwd", "echo", "printf"),
        *("which", "type", "file", "stat", "tree", "less", "more", "awk", "sort", "uniq", "cut", "tr", "jq", "yq"),
        *("diff",),
        *("env", "printenv", "date", "whoami", "id", "uname", "true", "false", "sleep", "test", "[", "[[", "du", "df"),
        *("ps", "top", "man", "hexdump", "xxd", "strings", "column", "basename", "dirname", "realpath", "dir", "sed"),
        *("findstr", "where", "get-content", "select-string", "get-childitem", "cd", "pushd", "popd", "source", "."),
        *("set", "export", "alias", "then", "else", "fi", "do", "done", "for", "while", "if"),
    )
)  # fmt: skip
_GIT_LOOKS = frozenset(
    ("status", "log", "diff", "show", "blame", "rev-parse", "remote", "ls-files", "describe", "grep")
)
# Programs with commands of their own; of others the second word is what they work on.
_MANY = frozenset(
    (
        *("git", "npm", "pnpm", "yarn", "bun", "deno", "pip", "pip3", "pipx", "uv", "poetry", "pdm", "conda", "mamba"),
        *("cargo", "rustup", "go", "docker", "docker-compose", "podman", "kubectl", "helm", "mix", "rebar3", "make"),
        *("apt", "apt-get", "brew", "yum", "dnf", "apk", "pacman", "choco", "winget", "dotnet", "gradle", "gradlew"),
        *("mvn", "terraform", "aws", "gcloud", "az", "gh", "glab", "rails", "rake", "bundle", "gem", "composer", "php"),
        *("artisan", "systemctl", "service", "flutter", "dart", "swift", "xcodebuild", "bazel", "just", "task", "nx"),
        *("turbo", "ng", "vue", "next", "prisma", "alembic", "django-admin", "flask", "celery", "ansible", "vagrant"),
        *("heroku", "fly", "vercel", "netlify", "firebase", "supabase", "wrangler", "serverless", "pulumi", "cmake"),
        *("ruff", "openssl", "redis-cli", "nix", "stack", "cabal", "sbt", "lein", "hatch", "tox", "nox", "pre-commit"),
    )
)  # fmt: skip
_THROUGH = {"sudo": 1, "time": 1, "nohup": 1, "env": 1, "command": 1, "exec": 1, "npx": 1, "bunx": 1, "timeout": 2}
_RUNNERS = {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("bundle", "exec"), ("pdm", "run"), ("hatch", "run")}
_INTERPRETERS = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|perl|bash|sh|zsh|php|tsx|ts-node|pwsh|powershell")
_CHECK = re.compile(
    r"\b(?:tests?|pytest|unittest|jest|vitest|mocha|rspec|phpunit|check|lint|eslint|credo|dialyzer|mypy|pyright|tsc|"
    r"clippy|vet|ruff|flake8|pylint|compile|typecheck|verify|validate|spec|coverage|bash -n|sh -n)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One command of several. `family`: program and subcommand, the same for each way to call it."""

    text: str
    family: str
    looks: bool


@dataclass(frozen=True, slots=True)
class Command:
    """A whole command line. `masked`: its exit code may hide that one of its parts failed."""

    text: str
    parts: tuple[Part, ...]
    masked: bool

    @property
    def doing(self) -> tuple[Part, ...]:
        """The parts that do more than look."""
        return tuple(part for part in self.parts if not part.looks)

    @property
    def goal(self) -> Part | None:
        """The part that the line is for: the last that does something, else the last."""
        return (self.doing or self.parts or (None,))[-1]

    @property
    def checks(self) -> bool:
        """Whether it only tells how things stand: tests, linters, compilers."""
        doing = self.doing
        return bool(doing) and all(is_check(part.family) for part in doing)


def read_command(text: str) -> Command:
    """The parts of a command line, without what is only read or shown behind a pipe."""
    whole = text[:MAX_COMMAND].strip()
    bare = _HEREDOC.sub("<<…", whole)
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"\x00{len(held) - 1}\x00"

    flat = _QUOTED.sub(hold, bare).replace("\\\n", " ")
    masked = "|" in flat or ";" in flat or "\n" in flat.strip()
    parts = []
    for piece in _PART.split(flat):
        pipeline = [one.strip() for one in re.split(r"(?<!\|)\|(?!\|)&?", piece) if one.strip()]
        for place, one in enumerate(pipeline):
            part = _part(re.sub(r"\x00(\d+)\x00", lambda match: held[int(match[1])], one), one)
            if part is not None and (place == 0 or not part.looks):
                parts.append(part)
    return Command(whole, tuple(parts), masked)


def _part(text: str, flat: str) -> Part | None:
    words = [word for word in flat.strip("(){}! ").split() if word not in ("{", "}", "!")]
    words = _inner(words)
    if not words or "\x00" in words[0]:
        return None
    program = words[0].rsplit("/", 1)[-1] or words[0]
    arguments = [word for word in words[1:] if not word.startswith("-") and not re.match(r"\d*[<>]", word)]
    writes = re.search(r"(?<![0-9&>])>{1,2}\s*(?!/dev/null|&)[^\s>]", flat) is not None
    family = _family(program, words[1:], arguments)
    looks = program.lower() in _LOOKS and not writes and not (program == "sed" and re.search(r"\s-[a-zA-Z]*i", flat))
    if program == "git":
        looks = bool(arguments) and arguments[0] in _GIT_LOOKS
    return Part(text.strip(), family, looks)


def _inner(words: list[str]) -> list[str]:
    """The command that is really run, without what only runs it."""
    while words:
        if _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif words[0] in _THROUGH and len(words) > 1:
            words = [word for word in words[1:] if True][_THROUGH[words[0]] - 1 :]
            while words and words[0].startswith("-"):
                words = words[1:]
        elif tuple(words[:2]) in _RUNNERS and len(words) > 2:
            words = words[2:]
        else:
            return words
    return words


def _family(program: str, rest: Sequence[str], arguments: Sequence[str]) -> str:
    if _INTERPRETERS.fullmatch(program):
        if "-m" in rest and rest.index("-m") + 1 < len(rest):
            module = rest[rest.index("-m") + 1]
            tail = [word for word in rest[rest.index("-m") + 2 :] if not word.startswith("-")]
            return _family(module, tail, tail)
        script = next((word for word in arguments if "\x00" not in word), "")
        return f"{program} {script.rsplit('/', 1)[-1]}".strip()
    if program not in _MANY:
        return program
    # What stands right behind an option may be its value: `git -C folder commit`, `docker compose -f a.yml up`.
    free = [
        word for before, word in zip(("", *rest), rest, strict=False) if not before.startswith("-") or "=" in before
    ]
    named = [word for word in free if word in arguments]
    if not named or not _SUBCOMMAND.fullmatch(named[0]):
        return program
    if named[0] in ("run", "exec", "compose") and len(named) > 1 and _SUBCOMMAND.fullmatch(named[1]):
        return f"{program} {named[0]} {named[1]}"
    return f"{program} {named[0]}"


def is_check(family: str) -> bool:
    """Whether commands of a family only tell how things stand."""
    return _CHECK.search(family.replace("-", " ")) is not None


def tokens(text: str) -> list[str]:
    """The words of a command line, quotations whole."""
    return _TOKEN.findall(text)


def distinctive(text: str) -> frozenset[str]:
    """Names in a text that hardly stand there by chance: paths, options with a value, identifiers."""
    found = re.findall(r"[\w./:@+-]{4,}", text)
    return frozenset(
        word.strip("./:-")
        for word in found
        if len(word.strip("./:-")) >= 5 and re.search(r"[_/.\d]|[a-z][A-Z]", word.strip("./:-"))
    )
