"""What LLMs send is read loosely and refused exactly."""

import pytest

from hindsight.domain.memory import Kind
from hindsight.errors import InvalidInput
from hindsight.interfaces.schemas import Arguments


def arguments(**raw: object) -> Arguments:
    return Arguments(raw, list(raw))


@pytest.mark.parametrize("value", [8, "8", 8.0, " 8 "])
def test_a_whole_number_may_come_as_text(value: object) -> None:
    assert arguments(top_k=value).whole("top_k", 1, 50) == 8


@pytest.mark.parametrize("value", [-1, 0, 51, "abc", 10**9, 2.5, True, [8], "1e400", "nan", {}])
def test_a_number_out_of_bounds_is_refused_by_name_value_and_range(value: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        arguments(top_k=value).whole("top_k", 1, 50)
    assert caught.value.field == "top_k"
    assert caught.value.value == repr(value)
    assert "number" in caught.value.allowed


@pytest.mark.parametrize("value", [None, ""])
def test_null_and_empty_text_mean_not_given(value: object) -> None:
    given = arguments(field=value)
    assert given.text("field") is None
    assert given.whole("field", 1, 2) is None
    assert given.texts("field") == ()
    assert given.mapping("field") == {}


@pytest.mark.parametrize("value", [["a", "b"], '["a", "b"]', ("a", "b"), ["a", " ", "b "]])
def test_a_list_may_come_as_json_in_a_string(value: object) -> None:
    assert arguments(tags=value).texts("tags") == ("a", "b")


def test_one_bare_string_is_a_list_of_one() -> None:
    assert arguments(tags="花生, 过敏").texts("tags") == ("花生, 过敏",)


@pytest.mark.parametrize("value", [3, [1], {"a": 1}, [["a"]], "[1, 2]"])
def test_a_list_of_other_things_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="list of strings"):
        arguments(tags=value).texts("tags")


@pytest.mark.parametrize("value", [{"tags": ["x"]}, '{"tags": ["x"]}'])
def test_an_object_may_come_as_json_in_a_string(value: object) -> None:
    assert arguments(filters=value).nested("filters", ["tags"]).texts("tags") == ("x",)


@pytest.mark.parametrize("value", [3, "x", "{broken", "[]", ["x"]])
def test_what_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="an object"):
        arguments(filters=value).mapping("filters")


def test_an_unknown_field_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"filters\.colour: 'red' .*tags, types"):
        arguments(filters={"colour": "red"}).nested("filters", ["tags", "types"])


def test_a_word_outside_its_list_is_refused_with_the_list() -> None:
    with pytest.raises(InvalidInput, match="fact, preference, constraint"):
        arguments(type="opinion").choice("type", Kind)
    assert arguments(type=" Fact ").choice("type", Kind) is Kind.FACT


@pytest.mark.parametrize("value", [1.5, "-0.1", "high"])
def test_a_fraction_lies_between_0_and_1(value: object) -> None:
    with pytest.raises(InvalidInput, match="number"):
        arguments(importance=value).fraction("importance")


@pytest.mark.parametrize("value", [None, "", "  ", 3.0, True])
def test_required_text_must_hold_something(value: object) -> None:
    given = arguments(content=value)
    if value == 3.0 and value is not True:
        assert given.required_text("content") == "3.0"
        return
    with pytest.raises(InvalidInput, match="content"):
        given.required_text("content")
