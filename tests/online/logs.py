"""Small logs, written as lines of text."""

from __future__ import annotations

import polars as pl


def log(text: str) -> pl.DataFrame:
    """Read `user variant minute event [page]` lines; - is nothing."""
    rows = [line.split() for line in text.strip().splitlines()]
    return pl.DataFrame(
        {
            "user_id": [row[0] for row in rows],
            "variant": [None if row[1] == "-" else row[1] for row in rows],
            "timestamp": [1_700_000_000 + round(60 * float(row[2])) for row in rows],
            "event": [row[3] for row in rows],
            "page": [row[4] if len(row) > 4 else None for row in rows],
        },
        schema_overrides={"variant": pl.String, "page": pl.String},
    )
