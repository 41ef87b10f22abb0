"""The page of context blocks shows what an agent really gets."""

from tools import context_blocks


def test_the_page_of_context_blocks_is_the_one_that_real_writes_make() -> None:
    written = context_blocks.PAGE.read_text(encoding="utf-8")
    assert written == context_blocks.page(), "run: .venv-test/bin/python tools/context_blocks.py"
