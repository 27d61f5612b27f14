import tomllib

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fadeout import _toml

characters = st.characters(exclude_categories=["Cs"])
keys = st.text(characters, max_size=8)
scalars = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(characters, max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(keys, values))
def test_what_is_written_reads_back_the_same(document):
    assert tomllib.loads(_toml.dumps(document)) == document


def test_none_leaves_a_key_out():
    assert _toml.dumps({"a": None, "b": 1}) == "b = 1\n"


def test_numbers_of_polars_are_numbers():
    assert _toml.value(pl.Series([7]).to_numpy()[0]) == "7"


def test_what_toml_cannot_hold_is_an_error_that_names_it():
    with pytest.raises(TypeError, match="object"):
        _toml.dumps({"a": object()})
