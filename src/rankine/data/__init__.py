"""Sample data: questions to a cookbook with three systems, and a film recommender.

The first are those of `rankine demo`. The second are in the folder `FILMS`: what sixty
people saw before (train.csv) and after (test.csv), the genres and studios of eighty
films (films.csv, studios.csv, and titles.csv for people to read), and the lists of two
recommenders (popular.csv, personal.csv). All of it is made up.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
QRELS = FOLDER / "qrels.txt"
RUNS = tuple(FOLDER / f"{system}.run" for system in ("keyword", "vector", "hybrid"))
FILMS = FOLDER / "films"
