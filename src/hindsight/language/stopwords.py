"""Words that carry no content of their own, English and Chinese, as data for `segment`.

English words stand as they are after folding and cutting off «'s» and the like. In Chinese only words are listed that
can be cut out of a question without tearing another word apart; the weights of bigrams take care of the rest.
"""

_FUNCTION_WORDS = """
    a about above after again against all also am an and any are aren as at be because been before being below between
    both but by can cannot could couldn d did didn do does doesn doing don done down during each else ever few for from
    further gonna had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn
    it its itself just let ll m me more most mustn my myself needn no nor not now of off on once only or other our ours
    ourselves out over own re s same shan she should shouldn so some such t than that the their theirs them themselves
    then there these they this those through to too under until up ve very was wasn we were weren what when where which
    while who whom whose why will with won would wouldn you your yours yourself yourselves http https www
"""
# Words that are content in a statement («please», «tell») but not in a question.
_ASKING_WORDS = """
    please tell know many much might may shall anything something someone anyone somebody anybody everything kind sort
    give show remember remind
"""
ENGLISH = frozenset(_FUNCTION_WORDS.split())
ENGLISH_ASKED = ENGLISH | frozenset(_ASKING_WORDS.split())

# Only words of asking: with possessives and «关于» cut out as well, recall fell by up to a point, since the bigrams
# across the cuts are lost too.
_QUESTION_WORDS = """
    请问 请告诉我 告诉我 你知道 你还记得 还记得 记不记得 为什么 为何 为啥 什么时候 什么样 什么 啥时候 怎么样
    怎么办 怎么 怎样 如何 哪里 哪儿 哪些 哪个 哪种 哪家 哪位 哪天 哪年 哪一 多少 多久 多大 多长 几点 几次 几个
    是不是 有没有 能不能 会不会 可不可以 要不要 是否 是谁 有谁 有哪 谁的 怎 啥 哪 谁
"""
CHINESE_QUESTION = frozenset(_QUESTION_WORDS.split())

# Cut at the ends of a run only: «吗» asks at the end of a sentence, but «吗啡» is a drug.
CHINESE_PARTICLES = "吗呢吧啊呀嘛么哦啦的了"

# Characters never indexed alone: no one looks for them, and they are a quarter of all text.
CHINESE_FUNCTION_CHARACTERS = frozenset(
    "的了是在我你他它们这那和与就也都不有个上一吗呢吧啊呀嘛么哦啦说去到会要很还对给让把被她"
)
