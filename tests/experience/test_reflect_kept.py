"""Few and right: what the message itself says, scripts of one moment and what has no tie to a repair are not kept."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight.domain.episode import JsonValue
from hindsight.domain.experience import OutcomeStatus
from hindsight.experience.reflect.commands import read_command
from hindsight.experience.reflect.draft import Draft, Sort, is_note
from hindsight.experience.reflect.propose import drafts
from hindsight.experience.reflect.reading import read_bytes
from hindsight.experience.reflect.signs import Reading, Verdict
from hindsight.experience.reflect.structure import Kind, Step
from hindsight.experience.reflect.transcript import Act
from hindsight.experience.reflect.trivial import is_one_off
from hindsight.experience.reflect.wording import edit_text, step_text
from hindsight.experience.reflect.words import Worded, held
from tests.experience import sessions as made

FORMS = [made.claude, made.openai, made.anthropic]


def taught(*pieces: made.Piece, form: Any = made.claude) -> tuple[Draft, ...]:
    return drafts(read_bytes(made.lines(form(pieces))))


def ran(command: str) -> Step:
    act = Act("1", "Bash", {"command": command}, None, None, "main")
    return Step(act, 0, Kind.RUN, "", Reading(Verdict.WORKED), read_command(command))


# What the message says itself -------------------------------------------------------------------------------------

SAID = [
    (made.user("Push it"),
     made.run("git push", "fatal: The current branch has no upstream branch.\nTo push the current branch, use\n\n"
              "    git push --set-upstream origin feature\n", failed=True),
     made.run("git push --set-upstream origin feature", "branch set up")),
    (made.user("Lint the styles"),
     made.run("stylelint src", "Error: cache is stale. Run `stylecache rebuild` first.", failed=True),
     made.run("stylecache rebuild", ""),
     made.run("stylelint src", "ok")),
    (made.user("Start it"),
     made.run("docker compose up web", "ERROR: unknown option user_ns, did you mean userns_mode?", failed=True),
     made.edit("compose.yaml", "user_ns: host", "userns_mode: host"),
     made.run("docker compose up web", "web started")),
    (made.user("看一下状态"),
     made.run("git comit -m x", "git：'comit' 不是一个 git 命令。错误：您想要输入的可能是：commit", failed=True),
     made.run("git commit -m x", "[main 1234567] x")),
    (made.user("启动服务"),
     made.run("shopctl start", "错误：数据库尚未初始化，请先运行 dbinit --all", failed=True),
     made.run("dbinit --all", ""),
     made.run("shopctl start", "已启动")),
    (made.user("换算一下单位"),
     made.Call("convert_units", {"value": 3, "unit": "lbs"}, '{"error": "无效的单位 lbs，请使用 pound"}'),
     made.Call("convert_units", {"value": 3, "unit": "pound"}, '{"status": "ok", "value": 1.36}')),
    (made.user("Convert it"),
     made.Call("convert_units", {"value": 3, "unit": "lbs"}, '{"error": "invalid unit lbs, did you mean pound?"}'),
     made.Call("convert_units", {"value": 3, "unit": "pound"}, '{"status": "ok", "value": 1.36}')),
    (made.user("Count"),
     made.run("pyhton scripts/count_words.py notes.txt",
              "Command 'pyhton' not found, did you mean: 'python'\nbash: pyhton: command not found", failed=True),
     made.run("python scripts/count_words.py notes.txt", "12 words")),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pieces", SAID)
def test_a_repair_that_the_message_itself_names_is_not_kept(pieces: tuple[made.Piece, ...], form: Any) -> None:
    assert not [draft for draft in taught(*pieces, form=form) if draft.sort is not Sort.TASK]


STALE = "Error: cache is stale. Run `stylecache rebuild` first."
ADVICE_NOT_ENOUGH = [
    (made.user("Lint the styles"),
     made.run("stylelint src", STALE, failed=True),
     made.run("stylecache rebuild", "Error: cannot write .stylecache: Permission denied", failed=True),
     made.run("chmod u+w .stylecache", ""),
     made.run("stylecache rebuild", ""),
     made.run("stylelint src", "ok")),
    (made.user("检查样式"),
     made.run("stylelint src", "错误：缓存已过期，请先运行 stylecache rebuild", failed=True),
     made.run("stylecache rebuild", ""),
     made.run("stylelint src", "错误：缓存已过期，请先运行 stylecache rebuild", failed=True),
     made.run("stylecache rebuild --all", ""),
     made.run("stylelint src", "好")),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pieces", ADVICE_NOT_ENOUGH)
def test_advice_that_failed_first_is_worth_keeping(pieces: tuple[made.Piece, ...], form: Any) -> None:
    assert any("stylecache rebuild" in step.text for draft in taught(*pieces, form=form) for step in draft.steps)


def test_a_repair_that_goes_beyond_the_advice_is_kept() -> None:
    (draft,) = taught(
        made.user("Lint the styles"),
        made.run("stylelint src", "Error: cache is stale (limit_mb 10). Run `stylecache rebuild` first.", failed=True),
        made.edit("style.toml", "limit_mb = 10", "limit_mb = 200"),
        made.run("stylelint src", "ok"),
    )
    assert "limit_mb = 200" in draft.steps[0].text


# Scripts of one moment --------------------------------------------------------------------------------------------

ONE_OFF = [
    "python -c 'import shop; print(shop.orders(7).total)'",
    "python3 - <<'EOF'\nimport shop\nif shop.a > shop.b:\n    print(shop.orders(7))\nEOF",
    "node -e 'console.log(require(\"./shop\").total(7))'",
    "bash -c 'source lib/ids.sh; x=$(new_id 16); [[ $x =~ ^[0-9a-f]+$ ]] && echo fine'",
    "for f in a b c d e f g h; do\n  x=$(total_of $f)\n  y=$(total_of $x)\n  z=$(total_of $y)\n  "
    "check_total $x $y $z && show_total $f $x $y $z\n  echo total of $f is $x and $y and $z\ndone",
    "psql shop <<SQL\nselect 1;\nSQL",
]
LASTING = [
    "python -c \"import nltk; nltk.download('punkt')\"",
    "python - <<'EOF'\nopen('settings.ini', 'w').write('a = 1')\nEOF",
    "cat > settings.ini <<'EOF'\na = 1\nEOF",
    "bash -c 'ulimit -n 4096'",
    "psql shop <<SQL\nalter table a add b int;\nSQL",
    "pip install openpyxl",
    "bash scripts/run.sh --all",
    "git commit -m \"$(cat <<'EOF'\nWhat was done\nEOF\n)\"",
]


@pytest.mark.parametrize("command", ONE_OFF)
def test_a_script_in_the_command_line_is_of_one_moment(command: str) -> None:
    assert is_one_off(ran(command), ran("make report"))


@pytest.mark.parametrize("command", LASTING)
def test_what_leaves_a_file_a_setting_or_a_program_is_not(command: str) -> None:
    assert not is_one_off(ran(command), ran("make report"))


def test_the_same_code_under_another_program_is_a_change_of_tool() -> None:
    code = "'import shop; print(shop.orders(7).total)'"
    assert not is_one_off(ran(f"python3 -c {code}"), ran(f"python -c {code}"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("ask", "why"), [("Try the ids", "permission denied: lib/ids.sh"), ("试一下", "权限不够")])
def test_a_script_of_one_moment_that_worked_is_not_kept(ask: str, why: str, form: Any) -> None:
    failed = made.run("source lib/ids.sh && new_id_hex 16", f"bash: {why}", failed=True)
    again = "bash -c 'source lib/ids.sh; x=$(new_id_hex 16); [[ $x =~ ^[0-9a-f]+$ ]] && echo fine'"
    assert taught(made.user(ask), failed, made.run(again, "fine"), form=form) == ()


# What has no tie to the repair ------------------------------------------------------------------------------------

REFUSED = "kombu.exceptions.OperationalError: [Errno 111] Connection refused broker_url"


def repaired(*between: made.Piece, ask: str = "Make the worker read", run: str = "celery inspect ping") -> Draft:
    fixed = made.edit("worker.toml", 'broker_url = "amqp://old"', 'broker_url = "redis://queue:6379/1"')
    found = taught(made.user(ask), made.run(run, REFUSED, failed=True), fixed, *between, made.run(run, "pong"))
    return next(draft for draft in found if draft.sort is Sort.FIX)


@pytest.mark.parametrize("ask", ["Make the worker read", "让任务进程读新队列"])
def test_an_edit_of_something_else_is_left_out(ask: str) -> None:
    draft = repaired(made.edit("docs/guide.md", "old words", "new words"), ask=ask)
    assert len(draft.steps) == 2
    assert "guide.md" not in " ".join(step.text for step in draft.steps)


@pytest.mark.parametrize(("ask", "mark"), [("Make the worker read", "Also done"), ("让任务进程读新队列", "另外做过")])
def test_a_command_without_a_tie_is_put_last(ask: str, mark: str) -> None:
    draft = repaired(made.run("touch notes.txt", ""), ask=ask)
    assert "touch" not in " ".join(step.text for step in draft.steps[:-1])
    assert draft.steps[-1].text.startswith(mark)
    assert "touch notes.txt" in draft.steps[-1].text


def test_what_brings_a_change_into_force_stays_in_its_place() -> None:
    draft = repaired(made.run("systemctl restart worker", ""))
    assert "systemctl restart worker" in draft.steps[1].text


def test_an_edit_of_the_same_name_elsewhere_stays() -> None:
    draft = repaired(made.edit("beat.toml", 'broker_url = "amqp://old"', 'broker_url = "redis://queue:6379/1"'))
    assert "beat.toml" in draft.steps[1].text


ELSEWHERE = [
    made.edit("worker.prod.toml", 'broker_url = "amqp://old"', 'broker_url = "redis://prod:6379/1"'),
    made.edit("settings.py", 'if STAGE == "production":\n    broker_url = "a"',
              'if STAGE == "production":\n    broker_url = "b"'),
    made.edit("all.toml", '[production]\nbroker_url = "a"', '[production]\nbroker_url = "b"'),
]  # fmt: skip


@pytest.mark.parametrize("other", ELSEWHERE)
def test_what_holds_in_another_environment_than_the_run_is_left_out(other: made.Call) -> None:
    for command in ("pytest tests/worker", "APP_ENV=test celery inspect ping"):
        assert len(repaired(other, run=command).steps) == 2
    assert len(repaired(other).steps) == 3  # no word of the environment of the run


def test_what_the_failure_names_is_told_in_whatever_environment_it_holds() -> None:
    failed = made.run("pytest tests/worker", f"{REFUSED}\nread from worker.prod.toml:1", failed=True)
    change = made.edit("worker.prod.toml", 'broker_url = "amqp://old"', 'broker_url = "redis://queue:6379/1"')
    (draft,) = taught(made.user("Test it"), failed, change, made.run("pytest tests/worker", "3 passed in 0.1s"))
    assert "worker.prod.toml" in draft.steps[0].text


def test_an_attempt_that_is_taken_back_is_no_part_of_the_repair() -> None:
    found = taught(
        made.user("Make the worker read"),
        made.run("celery inspect ping", REFUSED, failed=True),
        made.edit(".brokerrc", "", "broker_url=amqp://other"),
        made.run("celery inspect ping", REFUSED, failed=True),
        made.edit("worker.toml", 'broker_url = "amqp://old"', 'broker_url = "redis://queue:6379/1"'),
        made.run("rm .brokerrc", ""),
        made.run("celery inspect ping", "pong"),
    )
    (draft,) = found
    assert not [step for step in draft.steps if "rm " in step.text]


# What did not help ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_what_did_not_help_stands_behind_what_did_in_one_proposal(form: Any) -> None:
    (draft,) = taught(*made.STALE_LOCK, form=form)
    assert (draft.sort, draft.status) == (Sort.FIX, OutcomeStatus.SUCCESS)
    assert [is_note(step.text) for step in draft.steps] == [False, False, True, True]
    assert [step.text for step in draft.steps[2:]] == [
        '没有用：运行 `git commit -m "…" --no-verify`',
        "没有用：运行 `git config core.filelock false`",
    ]
    assert all(step.refs and set(step.refs) <= set(draft.refs) for step in draft.steps)
    assert all(draft.shown[ref] for ref in draft.refs)


def test_a_language_model_makes_no_step_of_what_did_not_help() -> None:
    (draft,) = taught(*made.STALE_LOCK)
    first, *_, vain = draft.steps
    told = [{"text": "删除 `.git/index.lock`", "evidence": list(first.refs)},
            {"text": "运行 `git config core.filelock false`", "evidence": list(vain.refs)}]  # fmt: skip
    worded = held(draft, Worded(lesson=1, trigger=draft.context, steps=[*told]))
    assert [step.text for step in worded.steps] == ["删除 `.git/index.lock`", *(one.text for one in draft.steps[2:])]


def test_each_attempt_that_a_run_told_apart_is_named() -> None:
    other = "[SPELLING] A word is unknown in notes.txt"
    (draft,) = [
        one
        for one in taught(
            made.user("Commit it"),
            made.run("git commit -m x", "[LICENSE] main.rs:1 The header is missing", failed=True),
            made.edit("main.rs", "fn main", "// Header: one\nfn main"),
            made.run("git commit -m x", other, failed=True),
            made.edit("main.rs", "// Header: one\nfn main", "/// Header: two\nfn main"),
            made.run("git commit -m x", "[LICENSE] main.rs:1 The header is missing", failed=True),
            made.run("add_license_header main.rs", ""),
            made.run("git commit -m x", "[main 1234567] x"),
        )
        if "LICENSE" in one.context
    ]
    vain = [step.text for step in draft.steps if is_note(step.text)]
    assert len(vain) == 2
    assert "one" in vain[0]
    assert "two" in vain[1]


# Edits ------------------------------------------------------------------------------------------------------------


def edited(old: str, new: str, *, chinese: bool = False) -> str:
    given: dict[str, JsonValue] = {"file_path": "a.ex", "old_string": old, "new_string": new}
    act = Act("1", "Edit", given, None, None, "main")
    return edit_text(Step(act, 0, Kind.EDIT, "Edit", Reading(Verdict.WORKED)), chinese=chinese)


def test_each_place_of_an_edit_is_told_by_itself() -> None:
    old = "case fetch(x) do\n  {:ok, y} -> y\nend\nrescue\n  _error -> :error"
    new = "case fetch(x) do\n  y -> y\nend\nrescue\n  _error -> nil"
    assert edited(old, new) == (
        "In a.ex replace `{:ok, y} -> y` by `y -> y`; replace `_error -> :error` by `_error -> nil` after `rescue`"
    )
    assert edited(old, new, chinese=True) == (
        "在 a.ex 中把 `{:ok, y} -> y` 改为 `y -> y`；在 `rescue` 之后把 `_error -> :error` 改为 `_error -> nil`"
    )


def test_an_added_line_says_behind_which_it_stands() -> None:
    assert edited("[db]\nhost = a", "[db]\nport = 5\nhost = a") == "In a.ex add `port = 5` after `[db]`"
    assert (
        edited("[db]\nhost = a", "[db]\nport = 5\nhost = a", chinese=True) == "在 a.ex 中在 `[db]` 之后加入 `port = 5`"
    )
    assert edited("[db]\nport = 5", "[db]") == "In a.ex remove `port = 5`"


def test_every_quotation_of_a_long_edit_is_closed() -> None:
    lines = [f"keep_{n}\nvalue_{n} = {'a' * 90}" for n in range(6)]
    text = edited("\n".join(lines), "\n".join(lines).replace("aaa", "bbbb"))
    assert text.count("`") % 2 == 0
    assert text.endswith("…")
    assert len(text) < 600


def test_a_step_of_a_command_is_told_as_before() -> None:
    assert step_text(ran("make all"), chinese=False) == "Run `make all`"
