"""Everything the core needs from outside, as protocols: the one place that lists every extension point.

All calls are safe from several tasks at once. Every method that touches data takes its namespace first. Adapters raise
only errors of `hindsight.errors`; a driver's own error is the `__cause__`.
"""

from hindsight.ports.archive import Archive, Report
from hindsight.ports.index import Cache, Index, LexicalIndex, VectorIndex
from hindsight.ports.models import Embedder, LanguageModel, Reranker
from hindsight.ports.process import Clock, Ids
from hindsight.ports.store import Keyring, Store

__all__ = [
    "Archive",
    "Cache",
    "Clock",
    "Embedder",
    "Ids",
    "Index",
    "Keyring",
    "LanguageModel",
    "LexicalIndex",
    "Report",
    "Reranker",
    "Store",
    "VectorIndex",
]
