"""Two rankings of one question compared: what has another place, and which part of the score moved it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight.domain.memory import short_id
from hindsight.domain.replay import Cause, Move, Place
from hindsight.search.explain import TELLING, View
from hindsight.search.record import TRACED
from hindsight.search.recorded import REST

SHOWN_CAUSES = 6


class Comparison:
    """A ranking as its trace has it, `before`, and as it came out `after`."""

    def __init__(self, before: View, after: View) -> None:
        self._before, self._after = before, after
        self._was = {row.id: place for place, row in enumerate(before.rows, 1)}
        self._is = {row.id: place for place, row in enumerate(after.rows, 1)}
        self.depth = max(TRACED, len(before.rows), *(self._is.get(one, 0) for one in after.given), 0)
        self._partial = len(before.rows) >= TRACED  # then what stands below it in the trace is not known

    def moves(self) -> list[Move]:
        """Those whose place is another, in the order of now; then those that are gone. Contents are left empty."""
        compared = [row.id for row in self._after.rows[: self.depth]]
        gone = [row.id for row in self._before.rows if row.id not in self._is or self._is[row.id] > self.depth]
        found = [self._move(one) for one in (*compared, *gone)]
        return [move for move in found if move is not None]

    def _move(self, entry_id: str) -> Move | None:
        before, after = self._place(self._before, self._was, entry_id), self._place(self._after, self._is, entry_id)
        if before is None or after is None:
            return None if after is None and before is None else self._came_or_went(entry_id, before, after)
        if before.place == after.place and before.given == after.given:
            return None
        if before.place == after.place:
            reason = "same place, and given now" if after.given else "same place, and not given now"
            return Move(entry_id, "", before, after, reason)
        other = self._passed(entry_id, rose=after.place < before.place)
        if other is None:
            reason = "closed up behind what is gone" if after.place < before.place else "made room for what came"
            return Move(entry_id, "", before, after, reason)
        causes = self._causes(entry_id, other, rose=after.place < before.place)
        return Move(entry_id, "", before, after, _reason(after.place < before.place, other, causes), other, causes)

    def _came_or_went(self, entry_id: str, before: Place | None, after: Place | None) -> Move:
        if after is None:
            return Move(entry_id, "", before, None, "gone")
        if self._partial:
            return Move(
                entry_id, "", None, after, f"came up from below the {len(self._before.rows)} places of the trace"
            )
        return Move(entry_id, "", None, after, "new")

    def _place(self, view: View, places: Mapping[str, int], entry_id: str) -> Place | None:
        place = places.get(entry_id)
        return None if place is None else Place(place, view.rows[place - 1].score, entry_id in view.given)

    def _passed(self, entry_id: str, *, rose: bool) -> str | None:
        """The one next to it now that stood on its other side before."""
        was, now = self._was[entry_id], self._is[entry_id]
        if rose:
            below = self._after.rows[now:]
            return next((row.id for row in below if self._was.get(row.id, was) < was), None)
        above = self._after.rows[: now - 1]
        return next((row.id for row in reversed(above) if self._was.get(row.id, 0) > was), None)

    def _causes(self, entry_id: str, other: str, *, rose: bool) -> tuple[Cause, ...]:
        old, new = self._before.scoring, self._after.scoring
        was = [self._before.rows[self._was[one] - 1].parts(old) for one in (entry_id, other)]
        now = [self._after.rows[self._is[one] - 1].parts(new) for one in (entry_id, other)]
        causes = []
        for part in dict.fromkeys(name for parts in (*was, *now) for name in parts):
            values = (was[0].get(part, 0.0), now[0].get(part, 0.0))
            against = (was[1].get(part, 0.0), now[1].get(part, 0.0))
            weights = (old.weight_of(part), new.weight_of(part))
            ahead = (values[0] - against[0], values[1] - against[1])
            effect = weights[1] * ahead[1] - weights[0] * ahead[0]
            causes.append(Cause(part, effect, (weights[1] - weights[0]) * ahead[1], weights, values, against))
        towards = 1.0 if rose else -1.0
        causes.sort(key=lambda cause: -towards * cause.effect)
        return tuple(cause for cause in causes if towards * cause.effect > TELLING)[:SHOWN_CAUSES]


def _reason(rose: bool, other: str, causes: Sequence[Cause]) -> str:
    verb = f"passed #{short_id(other)}" if rose else f"fell behind #{short_id(other)}"
    if not causes:
        return f"{verb}: their scores are nearly the same"
    return f"{verb} by {' and '.join(_told(cause) for cause in causes[:2])}"


def _told(cause: Cause) -> str:
    if cause.part == REST:
        return "the score of the turn that it stands for"
    if abs(cause.by_weight) >= abs(cause.effect) / 2:
        before, after = cause.weight
        own, other = cause.value[1], cause.against[1]
        return f"{cause.part}, whose weight went from {before:.3f} to {after:.3f} ({own:.2f} against {other:.2f})"
    if cause.value[0] != cause.value[1]:
        return f"{cause.part}, which went from {cause.value[0]:.2f} to {cause.value[1]:.2f}"
    return f"{cause.part}, which of the other went from {cause.against[0]:.2f} to {cause.against[1]:.2f}"
