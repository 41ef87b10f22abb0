"""Write docs/settings.md from the settings themselves: `.venv-test/bin/python tools/settings_page.py`.

A test fails while the page says something else than the code.
"""

import sys
from enum import StrEnum
from pathlib import Path

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from hindsight.config import NOT_YET, PREFIX, Settings

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
HEAD = """\
# Settings

Made by `tools/settings_page.py` from `src/hindsight/config.py`; change it there.

Each setting can be given in the environment, by the names below, or in a file `hindsight.toml`. The first that has it
counts: the environment, the file in the config folder, the file in the data folder, the default. In the file a setting
is called as in the environment, in lower case and without `HINDSIGHT_`. A name that is no setting and a value that is
not accepted stop the start, with an error that names them. `hindsight doctor` shows every setting in force and where it
came from.

| environment | default | meaning |
|---|---|---|
"""
TAIL = """
{names} belong to later releases: setting one changes nothing yet,
and the server and `hindsight doctor` say so.

A `hindsight.toml`:

```toml
namespace = "me"
timezone = "Asia/Shanghai"
port = 9000
```
"""
# Where the default depends on the system, in the words of the page.
BY_SYSTEM = {
    "data_dir": "`~/.local/share/hindsight` (Linux), `~/Library/Application Support/hindsight` (macOS), "
    "`%LOCALAPPDATA%\\hindsight` (Windows)",
    "config_dir": "`~/.config/hindsight` (Linux), else as `HINDSIGHT_DATA_DIR`",
}


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    return 0


def page() -> str:
    """The whole page."""
    rows = [row(name, field) for name, field in Settings.model_fields.items()]
    return HEAD + "".join(rows) + TAIL.format(names=", ".join(f"`{name}`" for name in NOT_YET))


def row(name: str, field: FieldInfo) -> str:
    variables = ", ".join(f"`{variable}`" for variable in variables_of(name, field))
    return f"| {variables} | {BY_SYSTEM.get(name) or default_of(name, field)} | {field.description} |\n"


def variables_of(name: str, field: FieldInfo) -> list[str]:
    """Every environment variable that a setting can be given by."""
    alias = field.validation_alias
    return [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else [PREFIX + name.upper()]


def default_of(name: str, field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        raise SystemExit(f"{name}: its default is computed; say it in BY_SYSTEM")
    match field.default:
        case None:
            return "not set"
        case bool() as value:
            return f"`{str(value).lower()}`"
        case StrEnum() as value:
            return f"`{value.value}`"
        case tuple() as values:
            return f"`{','.join(str(value) for value in values)}`" if values else "none"
        case dict() as pairs:
            return f"`{','.join(f'{name}={value}' for name, value in pairs.items())}`" if pairs else "as built in"
        case value:
            return f"`{value}`"


if __name__ == "__main__":
    sys.exit(main())
