"""Whether two claims speak of the same person or thing."""

from __future__ import annotations

from enum import StrEnum

from hindsight.language.statement.claim import Claim


class Subjects(StrEnum):
    EQUAL = "equal"
    LOOSE = "loose"  # one says less than the other, or nothing
    OTHER = "other"


def subjects_of(a: Claim, b: Claim) -> Subjects:
    if a.owner or b.owner:
        return owners(a, b)
    mine, theirs = plain(a.subject), plain(b.subject)
    if a.kin != b.kin and mine and theirs:
        return Subjects.OTHER
    if a.names != b.names and mine and theirs:
        return Subjects.OTHER
    if mine == theirs:
        return Subjects.EQUAL if _things(a) == _things(b) else Subjects.LOOSE
    if not mine or not theirs:
        return Subjects.LOOSE if not _said(a) or not _said(b) or _said(a) & _said(b) else Subjects.OTHER
    if mine <= theirs or theirs <= mine:
        return (
            Subjects.OTHER
            if has_figures(mine ^ theirs) and has_figures(mine) and has_figures(theirs)
            else Subjects.LOOSE
        )
    return Subjects.OTHER


def owners(a: Claim, b: Claim) -> Subjects:
    if a.owner == b.owner:
        return Subjects.EQUAL
    if a.owner and b.owner:
        mine, theirs = a.owner.split("/"), b.owner.split("/")
        alike = len(mine) == len(theirs) and all(
            x == y or x == y.split(":")[0] or y == x.split(":")[0] for x, y in zip(mine, theirs, strict=True)
        )
        return Subjects.EQUAL if alike else Subjects.OTHER
    other = b if a.owner else a
    owner = a.owner or b.owner
    spoken = plain(other.subject)
    if not spoken or (owner == "user" and "user" in other.subject):
        return Subjects.LOOSE
    return Subjects.LOOSE if owner == "user" and spoken & plain((a if a.owner else b).value) else Subjects.OTHER


def plain(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for word in words if word not in ("user", "company", "team", "project", "date", "number"))


def _said(claim: Claim) -> frozenset[str]:
    return frozenset(claim.subject) - {"user"}


def _things(claim: Claim) -> frozenset[str]:
    """All words of the subject; whose it is only where nothing else is said."""
    return frozenset(claim.subject) - {"user"} or frozenset(claim.subject)


def has_figures(words: frozenset[str]) -> bool:
    return any(any(letter.isdigit() for letter in word) for word in words)
