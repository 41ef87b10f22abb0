"""The marks by which hindsight knows its own output again.

The context block stands between `FENCE_OPEN` and `FENCE_CLOSE`. An agent that quotes a block in what it writes back
must not make the memory remember itself: `without_own_output` takes such spans out.
"""

import re

FENCE_NAME = "hindsight-memory"
FENCE_OPEN = f"<{FENCE_NAME}"  # attributes and `>` follow on the same line
FENCE_CLOSE = f"</{FENCE_NAME}>"

# Escaped brackets occur when an agent passes the block through HTML or XML.
_OPEN = rf"(?:<|&lt;){FENCE_NAME}(?:\s[^>\n]*?)?(?:>|&gt;)"
_CLOSE = rf"(?:<|&lt;)/{FENCE_NAME}\s*(?:>|&gt;)"
_FENCED = re.compile(rf"{_OPEN}.*?{_CLOSE}", re.DOTALL | re.IGNORECASE)
# A block that was cut off has no end; it reaches to the first empty line, so that what follows it is not lost.
_CUT_OFF = re.compile(rf"{_OPEN}.*?(?=\n\s*\n|\Z)", re.DOTALL | re.IGNORECASE)
_STRAY = re.compile(_CLOSE, re.IGNORECASE)
# A single line of a block: it ends in a short id with importance, as the block writes them in either language.
_LINE = re.compile(
    r"^.*[（(]#[0-9a-hjkmnp-tv-z]{6,8}[，,][^（()）\n]*(?:重要性|importance)[^（()）\n]*[）)][ \t]*$\n?",
    re.MULTILINE | re.IGNORECASE,
)


def without_own_output(text: str) -> str:
    """Return `text` without the context blocks, and lines of them, that hindsight itself wrote; else unchanged."""
    if "hindsight" in text.lower():
        text = _STRAY.sub("", _CUT_OFF.sub("", _FENCED.sub("", text)))
    return _LINE.sub("", text) if "#" in text else text
