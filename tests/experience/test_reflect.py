"""What a session teaches: what failed and what then worked, in each form of transcript, in both languages; no more."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hindsight.domain.experience import OutcomeStatus
from hindsight.experience.reflect.commands import read_command
from hindsight.experience.reflect.draft import Draft, Sort
from hindsight.experience.reflect.propose import drafts
from hindsight.experience.reflect.reading import read_bytes
from hindsight.experience.reflect.signs import Verdict, of_command, telling
from tests.experience import sessions as made

FORMS = [made.claude, made.openai, made.anthropic]
SUCCESS, FAILURE = OutcomeStatus.SUCCESS, OutcomeStatus.FAILURE

# The session, why it is proposed, what stands in the trigger, what stands in the steps in order.
TAUGHT = [
    (made.MISSING_MODULE, Sort.FIX, ["python export.py", "No module named 'openpyxl'"], ["pip install openpyxl"]),
    (made.PORT_TAKEN, Sort.FIX, ["npm run dev", "EADDRINUSE", "失败"], ["kill $(lsof -t -i:3000)", "npm run dev"]),
    (made.WRONG_DATE, Sort.FIX, ["reserve_table", "must be YYYY-MM-DD"], ["day=2026-03-06"]),
    (made.NO_PYTHON, Sort.INSTEAD, ["command not found"], ["python3 scripts/word_count.py"]),
    (made.STALE_LOCK, Sort.FIX, ["git commit", "index.lock"], ["rm -f .git/index.lock", "git commit"]),
    (made.PDF, Sort.TASK, ["PDF", "Markdown"], ["pdftotext", "write_markdown"]),
    (made.WRONG_UNIT, Sort.REFUSED, ["Berlin kitchen"], ["convert_units"]),
    (
        made.CONFIG,
        Sort.FIX,
        ["celery inspect", "Connection refused"],
        ["worker.toml", "redis://queue:6379/1", "celery"],
    ),
]


def taught(pieces: tuple[made.Piece, ...], form: Any = made.claude) -> tuple[Draft, ...]:
    return drafts(read_bytes(made.lines(form(pieces))))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("pieces", "sort", "trigger", "steps"), TAUGHT)
def test_what_failed_and_what_then_worked_is_proposed(
    pieces: tuple[made.Piece, ...], sort: Sort, trigger: list[str], steps: list[str], form: Any
) -> None:
    draft = next(one for one in taught(pieces, form) if one.sort is sort)
    assert all(words in draft.context for words in trigger)
    told = " | ".join(step.text for step in draft.steps)
    places = [told.index(words) for words in steps]
    assert places == sorted(places)
    assert draft.status is (FAILURE if sort is Sort.REFUSED else SUCCESS)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pieces", made.NONE)
def test_what_nobody_can_use_again_is_not_proposed(pieces: tuple[made.Piece, ...], form: Any) -> None:
    assert taught(pieces, form) == ()


@pytest.mark.parametrize(("pieces", "_sort", "_trigger", "_steps"), TAUGHT)
def test_each_step_cites_lines_that_are_there(
    pieces: tuple[made.Piece, ...], _sort: Sort, _trigger: list[str], _steps: list[str]
) -> None:
    lines = len(list(made.claude(pieces)))
    for draft in taught(pieces):
        assert draft.refs == tuple(sorted(draft.refs, key=int))
        assert all(1 <= int(ref) <= lines and draft.shown[ref] for ref in draft.refs)
        assert all(step.refs and set(step.refs) <= set(draft.refs) for step in draft.steps)


def test_what_was_tried_in_vain_is_a_failure_of_its_own() -> None:
    (dead_end,) = taught(made.STALE_LOCK[:-2])  # before the lock was removed
    assert dead_end.sort is Sort.DEAD_END
    assert dead_end.status is FAILURE
    assert [step.text for step in dead_end.steps] == [
        '运行 `git commit -m "…" --no-verify`',
        "运行 `git config core.filelock false`",
    ]


def test_no_word_is_invented() -> None:
    """But for the few that join: of the words of a proposal all others stand in the session."""
    joins = {"fails", "run", "again", "call", "in", "replace", "by", "add", "remove", "write", "cause"}
    for pieces, *_ in TAUGHT:
        said = " ".join(str(one) for one in made.claude(pieces)).lower()
        for draft in taught(pieces):
            text = " ".join((draft.context, *(step.text for step in draft.steps))).lower()
            words = {word.strip("`'\"…:;,.()={}") for word in re.sub("[=，(]", " ", text).split()}
            own = {word for word in words if word.isascii() and word and word not in said and word not in joins}
            assert not own


def test_the_reason_that_the_agent_gave_stands_before_the_repair() -> None:
    (draft,) = taught((
        made.user("Get the type checker to pass"),
        made.run("docker compose up web", "ERROR: invalid configuration: unknown option user_ns", failed=True),
        made.agent("Let me look. The problem is that user_ns is called userns_mode in this version."),
        made.edit("compose.yaml", "user_ns: host", "userns_mode: host"),
        made.run("docker compose up web", "web started"),
    ))  # fmt: skip
    assert [step.text for step in draft.steps] == [
        "Cause: The problem is that user_ns is called userns_mode in this version.",
        "In compose.yaml replace `user_ns: host` by `userns_mode: host`",
        "Run `docker compose up` again",
    ]


def test_a_reason_that_went_before_the_end_is_credited_with_what_was_done_then() -> None:
    first = "[STYLE] File is not formatted."
    second = "[LICENSE] Header is missing in main.rs"
    found = taught((
        made.user("Commit it"),
        made.run("git commit -m x", first, failed=True),
        made.run("fmt all", ""),
        made.run("git commit -m x", second, failed=True),
        made.run("add_license_header main.rs", ""),
        made.run("git commit -m x", "[main 1234567] x"),
    ))  # fmt: skip
    steps = {draft.context.split("[")[1].split("]")[0]: draft.steps[0].text for draft in found}
    assert steps == {"STYLE": "Run `fmt all`", "LICENSE": "Run `add_license_header main.rs`"}


def test_what_came_up_twice_is_proposed_once_and_is_worth_more() -> None:
    (once,) = taught(made.MISSING_MODULE)
    (twice,) = taught((*made.MISSING_MODULE, *made.MISSING_MODULE))
    assert twice.context == once.context
    assert twice.worth > once.worth


def test_secrets_home_folders_and_names_of_users_are_left_out() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (draft,) = taught((
        made.user("Push the image"),
        made.run(f"docker push shop --token {key}", f"denied: permission for marta@example.org on {made.CWD}/img "
                 "and /Users/ines/.docker/config.json", failed=True),
        made.run(f"docker login -u marta --password-stdin < {made.CWD}/secrets/pass.txt", "Login Succeeded"),
        made.run(f"docker push shop --token {key}", "pushed"),
    ))  # fmt: skip
    told = " ".join((draft.context, *(step.text for step in draft.steps), *draft.keywords, *draft.shown.values()))
    for private in (key, "marta", "ines", "/home/", "/Users/", "example.org"):
        assert private not in told
    assert "secrets/pass.txt" in told


def test_a_vague_request_is_sharpened_by_what_the_steps_name_or_dropped() -> None:
    def asked(words: str, *calls: made.Call) -> tuple[Draft, ...]:
        return taught((made.user(words), *calls, made.user("谢谢，太好了")))

    named = (made.run("pdftotext a.pdf a.txt"), made.run("pandoc a.txt -o a.docx"))
    (draft,) = asked("用户要求处理文件", *named)
    assert draft.context.startswith("用户要求处理文件（")
    assert "pandoc" in draft.context


COMMANDS = [
    ("git add -A && git commit -m 'x; y && z'", "git commit"),
    ("cd web && npm run build 2>&1 | tail -20", "npm run build"),
    ("sudo apt-get install -y jq", "apt-get install"),
    ("FOO=1 timeout 60 uv run pytest -x tests | grep FAILED", "pytest"),
    ("docker compose -f a.yml up -d", "docker compose up"),
    ("python3 -m pip install x", "pip install"),
    ("python scripts/a.py --b c", "python a.py"),
    ("git -C sub push origin main", "git push"),
    ("cat <<'EOF' > a.txt\nrm -rf /\nEOF\nmake test", "make test"),
]


@pytest.mark.parametrize(("line", "family"), COMMANDS)
def test_a_command_is_known_by_program_and_subcommand(line: str, family: str) -> None:
    goal = read_command(line).goal
    assert goal is not None
    assert goal.family == family


ENDS = [
    ("3 failed, 10 passed in 0.2s", False, Verdict.FAILED),
    ("12 passed in 0.2s", False, Verdict.WORKED),
    ("Tests: 1 failed, 3 total", None, Verdict.FAILED),
    ("14 tests, 0 failures", None, Verdict.WORKED),
    ("Found 2 errors in 1 file (checked 9 source files)", None, Verdict.FAILED),
    ("Success: no issues found in 9 source files", None, Verdict.WORKED),
    ("测试结果：通过 12，失败 2", None, Verdict.FAILED),
    ("全部测试通过", None, Verdict.WORKED),
    ("bash: foo: command not found", None, Verdict.FAILED),
    ("bash: foo：未找到命令", None, Verdict.FAILED),
    ("Exit code 2\nsomething", None, Verdict.FAILED),
    ("进程结束，退出码 1", None, Verdict.FAILED),
    ("error: it says so itself", False, Verdict.UNCLEAR),
    ("", False, Verdict.WORKED),
    ("anything", True, Verdict.FAILED),
]


@pytest.mark.parametrize(("result", "flag", "verdict"), ENDS)
def test_how_a_command_ended_is_told_by_flag_code_counts_and_words(
    result: str, flag: bool | None, verdict: Verdict
) -> None:
    assert of_command(result, flag=flag, masked=False, looks=False).verdict is verdict


REASONS = [
    ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n\nDuring handling of the above, "
     "another:\nTraceback (most recent call last):\nValueError: bad row 7", ("ValueError: bad row 7",), ""),
    ("src/a.rs:3:5\nerror[E0432]: unresolved import `serde`\nhelp: run `cargo add serde`",
     ("error[E0432]: unresolved import `serde`",), "help: run `cargo add serde`"),
    ("app/main.go:10:2: undefined: Foo", ("main.go: undefined: Foo",), ""),
    ("npm ERR! code ERESOLVE\nnpm ERR! could not resolve", ("npm ERR! code ERESOLVE",), ""),
    ("错误：找不到配置文件 config.yaml\n请先运行 init", ("错误：找不到配置文件 config.yaml",), "请先运行 init"),
    ("\x1b[31mfatal: not a git repository\x1b[0m", ("fatal: not a git repository",), ""),
    ("12 passed\nall good", (), ""),
]  # fmt: skip


@pytest.mark.parametrize(("result", "lines", "hint"), REASONS)
def test_the_line_that_says_why_is_found(result: str, lines: tuple[str, ...], hint: str) -> None:
    found = telling(result)
    assert (found.lines, found.hint) == (lines, hint)
