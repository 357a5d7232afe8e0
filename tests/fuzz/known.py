"""Findings that are not fixed yet: what they raise, and where.

A property passes over them, so that it finds others; the modules known_*.py have cases
of each, which fail as expected. Once one is fixed, its case passes, which is reported
as a failure: then remove the mark from the case, and the finding from this table.
"""

from __future__ import annotations

OPEN: dict[str, tuple[tuple[str, str], ...]] = {
    "B0 a damaged Parquet file ends the process": (),
}

SIGNATURES = {
    signature: finding
    for finding, signatures in OPEN.items()
    for signature in signatures
}


def is_open(number: str) -> bool:
    """Say whether a finding is not fixed yet."""
    return any(finding.split()[0] == number for finding in OPEN)
