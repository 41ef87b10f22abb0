"""Experiences out of the structure of a session: few, and each worth finding again.

Kept are: a command that failed and what then made it work; what was tried for the same failure in vain; a whole task
that a person accepted or refused. Left out are what the next session can't meet again: slips in code written in the
session itself, tests that told of them, tools that were misused, failures whose repair can't be told from other work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from hindsight.domain.episode import Role
from hindsight.domain.experience import OutcomeStatus
from hindsight.experience.reflect.draft import ASIDE, VAIN, Draft, DraftStep, Sort
from hindsight.experience.reflect.privacy import Private
from hindsight.experience.reflect.reasons import (
    ASSERTION,
    SLIP,
    cause_in,
    goal_of,
    keywords_of,
    refs_of,
    tools_of,
    worth_of,
)
from hindsight.experience.reflect.repair import (
    MAX_CHANGES,
    aside_of,
    call_of,
    does_the_same,
    given_words,
    netted,
    of_the_run,
    only_checks,
    same_call,
    same_goal,
    takes_back,
    that_tell,
    was_unwritten,
)
from hindsight.experience.reflect.signs import Verdict, plain_text, signature
from hindsight.experience.reflect.structure import (
    Kind,
    Step,
    Task,
    Trouble,
    displeased,
    files_named,
    lanes,
    pleased,
    steps_of,
    tasks_of,
    troubles,
)
from hindsight.experience.reflect.transcript import Act, Event, Said, Transcript
from hindsight.experience.reflect.trivial import is_one_off, is_told
from hindsight.experience.reflect.wording import call_text, step_text
from hindsight.language.fold import fold
from hindsight.write.vague import is_vague, sharpened

MAX_BETWEEN = 60  # calls between a failure and what worked
MAX_VAIN = MAX_CHANGES + 2  # attempts of a dead end; where more were made they were not aimed at it
MAX_WORKFLOW = 8  # steps of a task that is kept whole
WITHIN = 4  # calls after a failure in which another way to the same end is looked for
LEAST_WORTH = 0.5
NO_OUTPUT = "(no output)"
MAX_REQUEST = 240  # characters of what a person asked for, as a trigger
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


def drafts(transcript: Transcript, *, redacts: bool = True) -> tuple[Draft, ...]:
    """What a session teaches, the best first; nothing private is in it. Not capped."""
    folders = {event.cwd for event in transcript.events if isinstance(event, Act) and event.cwd}
    private = Private(folders, redacts=redacts)
    found: list[Draft] = []
    for events in lanes(transcript).values():
        found += _Lane(events).drafts()
    clean = [kept for draft in found if (kept := _kept(_cleaned(draft, private))) is not None]
    return tuple(sorted(_distinct(clean), key=lambda one: -one.worth))


def _cleaned(draft: Draft, private: Private) -> Draft:
    return replace(
        draft,
        context=private.clean(draft.context),
        steps=tuple(replace(step, text=private.clean(step.text)) for step in draft.steps),
        keywords=tuple(dict.fromkeys(private.clean(word) for word in draft.keywords)),
        shown={ref: private.clean(text) for ref, text in draft.shown.items()},
    )


def _kept(draft: Draft) -> Draft | None:
    """The draft with a trigger that can be known again, or nothing."""
    if draft.worth < LEAST_WORTH or not draft.steps:
        return None
    if not is_vague(draft.context):
        return draft
    sharp = sharpened(draft.experience)
    return None if sharp is None else replace(draft, context=sharp.trigger.context, keywords=sharp.trigger.keywords)


def _distinct(found: Iterable[Draft]) -> list[Draft]:
    """One of those that end alike for the same reason; that it came up again makes it worth more."""
    kept: list[Draft] = []
    for draft in sorted(found, key=lambda one: (-one.confidence, -one.worth, len(one.steps))):
        place = next((place for place, other in enumerate(kept) if _same_reason(draft, other)), None)
        if place is None:
            kept.append(draft)
        else:
            kept[place] = replace(kept[place], worth=min(1.0, max(kept[place].worth, draft.worth) + 0.1))
    return kept


def _same_reason(one: Draft, other: Draft) -> bool:
    if one.status is not other.status:
        return False
    if one.reasons and other.reasons:
        return not one.reasons.isdisjoint(other.reasons)
    return fold(one.context) == fold(other.context)


class _Lane:
    """What one agent did, in order."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._steps = steps_of(events)
        self._said = {id(event): place for place, event in enumerate(events)}
        self._by_ref = {ref: step for step in self._steps for ref in (step.act.ref, step.act.result_ref) if ref}
        self._words = {event.ref: event.text for event in events if isinstance(event, Said)}
        self._order: dict[str, int] = {}
        for event in events:
            self._order.setdefault(event.ref, len(self._order))
            if isinstance(event, Act) and event.result_ref:
                self._order.setdefault(event.result_ref, len(self._order))
        words = " ".join(event.text[:400] for event in events if isinstance(event, Said) and event.role is Role.USER)
        self._chinese = len(_HAN.findall(words)) * 2 > len(re.findall("[A-Za-z]+", words))

    def drafts(self) -> Iterator[Draft]:
        found = [draft for trouble in troubles(self._steps) for draft in self._of_trouble(trouble)]
        yield from found
        taught = {ref for draft in found for ref in draft.refs}
        for task in tasks_of(self._events, self._steps):
            for draft in self._of_task(task):
                new = [step for step in draft.steps if taught.isdisjoint(step.refs)]
                if len(new) * 2 > len(draft.steps):  # else it says again what the repair in it says
                    yield draft

    # Troubles -----------------------------------------------------------------------------------------------------

    def _of_trouble(self, trouble: Trouble) -> Iterator[Draft]:
        if self._is_slip(trouble):
            return
        vain, used = self._tried(trouble)
        best = None
        if trouble.fixed is not None and trouble.proven is not None:
            best = self._fix(trouble)
        elif trouble.fixed is None:
            best = self._instead(trouble)
        if best is not None:
            yield self._with_vain(best, trouble, vain, used)
        elif (dead_end := self._dead_end(trouble, vain, used)) is not None:
            yield dead_end

    def _fix(self, trouble: Trouble) -> Draft | None:
        fixed, last = trouble.fixed, trouble.last
        assert fixed is not None
        assert trouble.proven is not None
        if fixed.place - last.place > MAX_BETWEEN:
            return None
        since = self._since(trouble, fixed)
        between = self._changes(last.place + 1, fixed.place, trouble.family)
        between = [step for step in between if not takes_back(step, since)]
        near, sure = that_tell(between, last)
        again = None if any(same_call(one, fixed) for one in trouble.failures) else self._step(fixed)
        if near is None or (not near and (again is None or not same_goal(last, fixed))):
            return None
        told = [step for step in of_the_run(near, last, fixed) if not is_one_off(step, last)]
        if (near and not told) or (not told and is_one_off(fixed, last)):
            return None
        repair = [*told, *((fixed,) if again is not None else ())]
        if was_unwritten(last, told) or is_told(trouble, repair, since):
            return None
        steps = [*self._said_why(last, told[0] if told else fixed), *(self._step(step) for step in netted(told))]
        if again is not None:
            steps.append(again)
        elif told:
            steps.append(DraftStep(self._repeat(fixed), refs_of(fixed)))
        aside = [step for step in aside_of(between, near) if not is_one_off(step, last)]
        steps += (self._noted(ASIDE, step) for step in aside)
        itself = fixed is trouble.proven
        confidence = 0.3 + 0.2 * itself + 0.2 * trouble.proven.reading.plain + 0.1 * sure + 0.1 * (len(told) <= 1)
        return self._draft(Sort.FIX, trouble, steps, [*told, fixed, *aside], OutcomeStatus.SUCCESS, confidence)

    def _since(self, trouble: Trouble, end: Step) -> Sequence[Step]:
        """The calls from the first failure on, up to what worked."""
        return self._steps[trouble.failures[0].place : end.place]

    def _tried(self, trouble: Trouble) -> tuple[list[DraftStep], list[Step]]:
        """What was tried between failures for the same reason; what a run told apart was tried by itself."""
        tried: list[DraftStep] = []
        used: list[Step] = []
        for before, after in pairwise(trouble.failures):
            if after.place - before.place > MAX_BETWEEN:
                continue
            told, _ = that_tell(self._changes(before.place + 1, after.place, trouble.family), before)
            runs = [step.place for step in self._steps[before.place : after.place + 1] if step.family == trouble.family]
            apart = [
                step
                for start, end in pairwise(runs)
                for step in netted([one for one in told or () if start < one.place < end])
            ]
            otherwise = [] if any(same_call(one, after) for one in trouble.failures if one is not after) else [after]
            used += (step for step in (*apart, *otherwise) if not is_one_off(step, before))
        tried = list({step.text: step for step in map(self._step, used)}.values())
        return tried, used

    def _dead_end(self, trouble: Trouble, tried: Sequence[DraftStep], used: Sequence[Step]) -> Draft | None:
        """What did not help, where nothing did."""
        if len(trouble.failures) < 3 or not 2 <= len(tried) <= MAX_VAIN:
            return None
        confidence = 0.5 + 0.1 * min(3, len(trouble.failures) - 2)
        return self._draft(Sort.DEAD_END, trouble, tried, used, OutcomeStatus.FAILURE, confidence)

    def _with_vain(self, draft: Draft, trouble: Trouble, tried: Sequence[DraftStep], used: Sequence[Step]) -> Draft:
        """What helped, and behind it what had not: one lesson of one trigger."""
        helped = {step.text for step in draft.steps}
        vain = [DraftStep(VAIN[self._chinese] + step.text, step.refs) for step in tried if step.text not in helped]
        if not vain or len(vain) > MAX_VAIN:
            return draft
        refs = self._in_order((*draft.refs, *(ref for step in vain for ref in step.refs)))
        shown = {**self._shown(refs, used), **draft.shown}
        return replace(draft, steps=(*draft.steps, *vain), refs=refs, shown={ref: shown[ref] for ref in refs})

    def _noted(self, mark: tuple[str, str], step: Step) -> DraftStep:
        done = self._step(step)
        return DraftStep(mark[self._chinese] + done.text, done.refs)

    def _instead(self, trouble: Trouble) -> Draft | None:
        """Another call soon after that was given the same, and worked."""
        last = trouble.last
        sought = given_words(last)
        missing = re.search(r"command not found|未找到命令|not recognized as", last.told.text) is not None
        denied = re.search(r"permission denied|cannot execute|exec format|权限不够", last.told.text, re.I) is not None
        for step in self._steps[last.place + 1 : last.place + 1 + WITHIN]:
            if step.kind not in (Kind.RUN, Kind.CALL) and not missing:
                continue
            if step.verdict is not Verdict.WORKED or step.goes_for(trouble.family):
                continue
            if step.kind is Kind.RUN and not step.changes and not missing:
                continue
            if step.kind is not last.kind or not does_the_same(step):
                continue
            shared = sought & given_words(step)
            least = 1 if missing or denied or step.kind is Kind.CALL else 2
            if len(shared) >= least:
                if is_one_off(step, last) or is_told(trouble, [step], self._since(trouble, step)):
                    return None
                made = [DraftStep(step_text(step, chinese=self._chinese), refs_of(step))]
                confidence = 0.5 + 0.2 * step.reading.plain
                return self._draft(Sort.INSTEAD, trouble, made, [step], OutcomeStatus.SUCCESS, confidence)
        return None

    def _changes(self, start: int, end: int, family: str) -> list[Step]:
        """What changed something between two calls and did not fail itself."""
        found = [step for step in self._steps[start:end] if step.changes and step.verdict is not Verdict.FAILED]
        return [step for step in found if not step.goes_for(family) and not only_checks(step)]

    def _repeat(self, step: Step) -> str:
        text = goal_of(step)
        return f"再次运行 `{text}`" if self._chinese else f"Run `{text}` again"

    def _step(self, step: Step) -> DraftStep:
        return DraftStep(step_text(step, chinese=self._chinese), refs_of(step))

    def _said_why(self, failed: Step, first: Step) -> Iterator[DraftStep]:
        """The agent's own sentence on the cause, where it said one between the failure and the repair."""
        start, end = self._said[id(failed.act)], self._said[id(first.act)]
        for event in reversed(self._events[start:end]):
            if isinstance(event, Said) and event.role is Role.ASSISTANT:
                why = cause_in(event.text)
                if why:
                    yield DraftStep(f"原因：{why}" if self._chinese else f"Cause: {why}", (event.ref,))
                    return

    def _is_slip(self, trouble: Trouble) -> bool:
        """A mistake in what was written just before, which nobody makes again from memory."""
        last = trouble.last
        text = last.told.text
        if ASSERTION.search(text) and last.reading.counted:
            return True
        if not SLIP.search(text):
            return False
        named = files_named(last)
        written = (step for step in self._steps[: last.place] if step.kind is Kind.EDIT and step.path)
        return any((step.path or "").rsplit("/", 1)[-1] in named for step in written)

    def _draft(
        self,
        sort: Sort,
        trouble: Trouble,
        steps: Sequence[DraftStep],
        used: Sequence[Step],
        status: OutcomeStatus,
        confidence: float,
    ) -> Draft:
        last = trouble.last
        goal, why = goal_of(last), last.told.text
        context = f"`{goal}` 失败：{why}" if self._chinese else f"`{goal}` fails: {why}"
        own = refs_of(*trouble.failures)
        refs = self._in_order((*own, *(ref for step in steps for ref in step.refs)))
        return Draft(
            sort=sort,
            context=context,
            steps=tuple(steps),
            tools=tools_of((last, *used)),
            keywords=keywords_of(last),
            status=status,
            refs=refs,
            worth=worth_of(trouble, steps),
            confidence=round(min(1.0, confidence), 2),
            chinese=self._chinese,
            reasons=signature(last.told),
            shown=self._shown(refs, (*trouble.failures, *used)),
        )

    def _in_order(self, refs: Iterable[str]) -> tuple[str, ...]:
        """Refs once each, as they come in the session."""
        return tuple(sorted(dict.fromkeys(refs), key=lambda ref: self._order.get(ref, len(self._order))))

    def _shown(self, refs: Sequence[str], used: Sequence[Step]) -> dict[str, str]:
        """The words behind each ref, for a person who judges and a model that words it."""
        found: dict[str, str] = {}
        more = (self._by_ref.get(ref) for ref in refs)
        for step in (*used, *(one for one in more if one is not None)):
            call = call_text(step) if step.kind is Kind.CALL else step_text(step, chinese=self._chinese)
            told = step.told.text or " ".join(plain_text(step.act.result or "").split())[:200] or NO_OUTPUT
            apart = step.act.result_ref not in (None, step.act.ref)
            found.setdefault(step.act.ref, call if apart else f"{call} → {told}")
            if apart:
                found.setdefault(str(step.act.result_ref), told)
        for ref in refs:
            if ref in self._words:
                found.setdefault(ref, " ".join(self._words[ref].split())[:300])
        return {ref: found[ref] for ref in refs if ref in found}

    # Tasks --------------------------------------------------------------------------------------------------------

    def _of_task(self, task: Task) -> Iterator[Draft]:
        """A short task as a whole, where a person said how it ended."""
        if task.request is None or not 8 <= len(task.request.text) <= MAX_REQUEST * 2:
            return
        after = [said for said in task.said if said.role is Role.USER]
        judged = [
            said
            for said in (*after, *((task.reply,) if task.reply else ()))
            if pleased(said.text) or displeased(said.text)
        ]
        if not judged:
            return
        word = judged[-1]
        accepted = pleased(word.text)
        made = [
            step for step in task.steps if step.changes and step.verdict is Verdict.WORKED and not only_checks(step)
        ]
        made = [
            step
            for step in made
            if not any(other.place > step.place and call_of(other) == call_of(step) for other in made)
        ]
        edits = sum(step.kind is Kind.EDIT for step in made)
        if not (2 if accepted else 1) <= len(made) <= MAX_WORKFLOW or edits * 3 > len(made):
            return
        context = " ".join(task.request.text.split())[:MAX_REQUEST]
        steps = tuple(self._step(step) for step in made)
        refs = self._in_order((task.request.ref, *(ref for step in steps for ref in step.refs), word.ref))
        yield Draft(
            sort=Sort.TASK if accepted else Sort.REFUSED,
            context=context,
            steps=steps,
            tools=tools_of(made),
            keywords=(),
            status=OutcomeStatus.SUCCESS if accepted else OutcomeStatus.FAILURE,
            refs=refs,
            worth=0.6 if accepted else 0.55,
            confidence=0.7,
            chinese=self._chinese,
            shown=self._shown(refs, made),
        )
