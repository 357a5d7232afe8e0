"""Sample data: cooking questions with three systems, and a film recommender.

`rankine demo` uses the first. The second are in the folder `FILMS`: the films that
sixty people saw before (train.csv) and after (test.csv), the genres and studios of
eighty films (films.csv, studios.csv, and titles.csv for people to read), and the lists
of two recommenders (popular.csv, personal.csv). All data are made up.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
QRELS = FOLDER / "qrels.txt"
RUNS = tuple(FOLDER / f"{system}.run" for system in ("keyword", "vector", "hybrid"))
FILMS = FOLDER / "films"
