"""English stems, so that «cats» finds «cat» and «moved» finds «moving»."""

from functools import lru_cache


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the Snowball English stem of a folded word.

    Cached: conversation repeats few words.
    """
    import snowballstemmer  # noqa: PLC0415 (25 languages are imported with it: not before the first word)

    # A stemmer keeps the word it works on in itself, so threads must not share one; a new one costs little.
    return str(snowballstemmer.stemmer("english").stemWord(word))
