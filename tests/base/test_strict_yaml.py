"""YAML is read as YAML 1.2 says, without tags, aliases or keys that appear twice."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._base.strict_yaml import Place, read_yaml
from rankine.errors import FormatError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("1e3", 1000.0),
        ("1e-3", 0.001),
        ("-.5", -0.5),
        ("+12", 12),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("12:30", "12:30"),
        ("12:30:45", "12:30:45"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("-.inf", -math.inf),
        ("'1'", "1"),
        ('"true"', "true"),
        ("0b11", "0b11"),
        ("=", "="),
    ],
)
def test_scalars_mean_what_they_should(text: str, value: Any) -> None:
    read = read_yaml(b"a: " + text.encode(), "x.yaml").data["a"]

    assert read == value
    assert type(read) is type(value)


def test_nan_is_a_number() -> None:
    assert math.isnan(read_yaml(b"a: .nan", "x.yaml").data["a"])


def test_keys_are_texts_as_they_are_written() -> None:
    assert read_yaml(b"no: 1\n1: 2\nnull: 3\n", "x.yaml").data == {
        "no": 1,
        "1": 2,
        "null": 3,
    }


DEEP = "a: " + "[" * 60 + "]" * 60
BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n"
    for n in range(20)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: !!python/object/apply:os.system [ls]",
         "x.yaml:1:4: tag:yaml.org,2002:python/object/apply:os.system is a tag"),
        ("a: !!str 1", "is a tag; write a plain value"),
        ("a: !mine 1", "!mine is a tag"),
        (BOMB, "x.yaml:2:8: *a is an alias; write the value out"),
        ("a: &x [*x]", "*x is an alias"),
        (DEEP, "nested more than 50 levels deep"),
        ("a: " + "[" * 5000, "nested more than 50 levels deep"),
        ("a: 1\nb: 2\na: 3", "x.yaml:3:1: 'a' appears twice; it is also in line 1"),
        ("<<: {a: 1}", "<< merges keys"),
        ("? [a]\n: 1", "a key must be plain text"),
        ("a: {{ 7*7 }}", "a key must be plain text"),
        ("a: 1\n---\nb: 2", "a second document begins"),
        ("a:\n\t- b", "x.yaml:2:1: is not YAML"),
        ("a: [", "is not YAML"),
        ("a: " + "9" * 5000, "a number has 5000 digits"),
        ("a: \x07", "is not YAML"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_yaml(text.encode(), "x.yaml")

    assert said in str(caught.value)


def test_other_encodings_and_large_files_are_refused() -> None:
    with pytest.raises(FormatError, match=r"x.yaml:2: is not UTF-8 text"):
        read_yaml(b"a: 1\nb: \xff", "x.yaml")
    with pytest.raises(FormatError, match="has 1,048,577 bytes; at most 1,048,576"):
        read_yaml(b" " * ((1 << 20) + 1), "x.yaml")
    assert read_yaml(b"\xef\xbb\xbfa: 1", "x.yaml").data == {"a": 1}


def test_places_of_keys_and_values() -> None:
    document = read_yaml(b"a:\n  b: [1, {c: x}]\n", "x.yaml")

    assert document.place(("a", "b", 1, "c")) == Place(2, 14)
    assert document.place(("a", "b", 1, "c"), key=True) == Place(2, 11)
    assert document.place(("a", "z")) == Place(2, 3)
    assert read_yaml(b"", "x.yaml").place(("a",)) == Place(1, 1)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp", "Co"))),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abcdef ", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_json_is_read_as_it_is(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False).replace("Infinity", ".inf")
    read = read_yaml(text.encode(), "x.yaml").data

    assert read == value


@given(st.text(max_size=60))
def test_no_text_crashes_the_reader(text: str) -> None:
    content = text.encode("utf-8", "surrogatepass")
    with suppress(FormatError):
        document = read_yaml(content, "x.yaml")
        assert not set(document.keys) - set(document.values)
