"""Does a statement deny? «我不喜欢吃辣» and «我喜欢吃辣» are all but one text, and opposite."""

import re

from hindsight.language.fold import fold

# Words with a negating character that deny nothing, and questions of the form A-not-A; cut out before counting.
_HARMLESS_ZH = re.compile(
    "不错|不仅|不但|不只|不光|不断|不久|不同|不少|不管|不论|不如|不妨|不愧|不禁|不由|不停|不时|不好意思|不客气|对不起|差不多|"
    "忍不住|了不起|不得了|不一会|不过(?![敏去来来度期时夜年])|要不(?!要)|没错|没关系|没准|没收|没落|沉没|淹没|埋没|"
    "特别|别人|别的|别墅|别名|区别|级别|性别|分别|差别|告别|离别|类别|辨别|识别|个别|鉴别|派别|国别|"
    "非常|非洲|除非|未来|未婚|未免|无论|无锡|无数|无非|无疑|无限|无线|无人机|勿忘|"
    r"(?P<asked>[\u4e00-\u9fff])[不没](?P=asked)|有没有"
)
_DOUBLE_ZH = re.compile("不得不|不能不|不会不|不可不|没有不|无不|无一不|非[^不]{1,6}不可|不是不|并非不|未必不|不无")
_NEGATION_ZH = re.compile("不|没|無|无|未|别|勿|莫|非(?=[\u4e00-\u9fff])|否认|拒绝|戒了|戒掉|从来没")

_HARMLESS_EN = re.compile(
    r"\b(?:not only|no doubt|no wonder|no matter|no problem|no\.? ?\d+|not to mention|why not|whether or not|or not|"
    r"can'?t wait|couldn'?t agree more|nothing but|if not|no sooner)\b"
)
_NEGATION_EN = re.compile(
    r"n't\b|\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|dont|doesnt|didnt|isnt|wasnt|arent|"
    r"wont|cant|hardly|barely|scarcely|rarely|seldom|stopped|quit|no longer|refuse[sd]?|denie[sd]|deny|lacks?|"
    r"unable|gave up|given up)\b"
)


def negated(text: str) -> bool:
    """Return whether `text` denies: holds an odd number of negations, Chinese and English counted together.

    Set phrases that only look like one («不错», "not only") do not count, and double negations («不得不») cancel out. A
    word-level rule: it tells a statement from its denial, not what in a long sentence is denied.
    """
    folded = fold(text).replace("’", "'")
    folded = _HARMLESS_EN.sub(" ", _HARMLESS_ZH.sub(" ", _DOUBLE_ZH.sub(" ", folded)))
    count = len(_NEGATION_ZH.findall(folded)) + len(_NEGATION_EN.findall(folded))
    return count % 2 == 1
