"""Experiences by situation: the same search, held to triggers."""

from __future__ import annotations

from dataclasses import replace

from hindsight.domain.memory import Kind
from hindsight.domain.query import Query


def situation(query: Query) -> Query:
    """The query, asked of experiences alone: their triggers are what the indexes hold of them.

    An experience below the floor of trust is left out unless `min_confidence` says otherwise, and one that failed comes
    with a warning; both hold in every search.
    """
    return replace(query, filters=replace(query.filters, kinds=(Kind.EXPERIENCE,), layers=(), episodes=False))
