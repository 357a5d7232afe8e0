"""Findings that are not mended yet: what they raise, and where.

A property passes over them, so that it finds others; test_known.py has cases of each,
which fail as expected. Once one is mended its case passes, which is reported as a
failure: then take the mark off the case, and the finding out of this table.
"""

from __future__ import annotations

OPEN: dict[str, tuple[tuple[str, str], ...]] = {
    "A3 grades is passed over": (),
    "A6 a line too long and one too short": (),
    "A7 a table that is cut inside quotes": (),
    "A8 a short row of which the rest is not used": (),
    "A9 lists of numbers in a Parquet file": (),
    "B0 a damaged Parquet file ends the process": (),
    "B12 odd matrices": (
        ("OverflowError", "from_scores"),
        ("TypeError", "_axis"),
        ("AttributeError", "_axis"),
        ("TypeError", "_is_pad"),
        ("ValueError", "_is_pad"),
        ("OverflowError", "_is_pad"),
    ),
    "B14 a row of two columns": (("IndexError", "_third"),),
    "B15 a lone quote at the end": (("PanicException", "_parse"),),
    "B17 a number for the list of a query that is not judged": (
        ("TypeError", "types_differ"),
        ("ValueError", "types_differ"),
    ),
    "B18 bytes that are no text in a table with quotes": (
        ("UnicodeDecodeError", "_refuse_lines"),
    ),
    "B19 a grade beyond measure": (("RuntimeWarning", ""),),
    "B20 a query that is missing in pandas": (("TypeError", "refuse_missing"),),
    "B21 a decimal that is no number": (("PanicException", "_series"),),
    "B22 a zip with an empty name": (("IndexError", "_is_member"),),
    "B23 rows that begin as packed data do": (
        ("OSError", "_parse"),
        ("ComputeError", "_parse"),
    ),
    "C1 numbers beyond a float": (("OverflowError", "auc"),),
    "C10 columns of lists": (("TypeError", "resolve"),),
    "C11 an encoding that is empty": (
        ("LookupError", "_is_utf8"),
        ("UnicodeEncodeError", "_is_utf8"),
    ),
    "D11 a parameter that is None": (),
    "C12 escapes that are unknown": (("DeprecationWarning", ""),),
    "D12 a last line without a tag": (),
    "C9 options without a truth": (),
}

SIGNATURES = {
    signature: finding
    for finding, signatures in OPEN.items()
    for signature in signatures
}


def is_open(number: str) -> bool:
    """Say whether a finding is not mended yet."""
    return any(finding.split()[0] == number for finding in OPEN)
