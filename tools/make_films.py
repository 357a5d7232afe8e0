"""Make the sample data of a film recommender: python tools/make_films.py.

Sixty people, eighty made-up films, what people saw before and after, and the lists of
two recommenders: one shows everybody the chart, the other goes by the kinds of films
that a person has seen. It has what real data have: films that nobody saw yet, lists
that are too short, and one person without a list.

And the clicks on a front page that shows one film, drawn by chance, the better known
ones more often; what another front page would show to everybody; and, as the world is
made up, how often people would really click that.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray as Table

FOLDER = Path(__file__).parent.parent / "src" / "rankine" / "data" / "films"
N_USERS, N_FILMS, N_COLD, N_SHOWN, N_ROUNDS = 60, 80, 4, 10, 4000
GENRES = ("comedy", "crime", "drama", "family", "history", "horror", "love", "space")
SHARES = (0.2, 0.13, 0.25, 0.1, 0.07, 0.08, 0.1, 0.07)
SMALL = 0.4
SHORTER = {"u07": 4, "u23": 7, "u41": 6, "u52": 1}
WITHOUT = "u36"
FIRST = (
    "Silent", "Last", "Golden", "Broken", "Second", "Northern", "Paper", "Late",
    "Hidden", "Borrowed",
)  # fmt: skip
SECOND = (
    "Harbour", "Letter", "Orbit", "Garden", "Winter", "Witness", "Kingdom", "Lantern",
)  # fmt: skip


def main() -> None:
    """Write what is known of films, what people saw, and two kinds of lists."""
    rng = np.random.default_rng(1997)
    films = [f"f{number:02d}" for number in range(1, N_FILMS + 1)]
    users = [f"u{number:02d}" for number in range(1, N_USERS + 1)]
    genres = _genres(rng)
    _write("films.csv", "item_id,genres", zip(films, map(_words, genres), strict=True))
    small = rng.random(N_FILMS) < SMALL
    _describe(films, small, rng)

    charm = 1 / np.arange(1, N_FILMS + 1) ** 0.8
    rng.shuffle(charm)
    charm[small] *= 0.5
    charm[-N_COLD:] = 0.01
    taste = rng.dirichlet(np.full(len(GENRES), 0.5), size=N_USERS)
    share = genres / genres.sum(axis=1, keepdims=True)
    match = taste @ share.T
    before = np.zeros((N_USERS, N_FILMS), dtype=np.bool_)
    after = np.zeros((N_USERS, N_FILMS), dtype=np.bool_)
    for user in range(N_USERS):
        wish = charm * (0.05 + match[user])
        wish[-N_COLD:] = 0
        seen = rng.choice(
            N_FILMS, size=rng.integers(8, 19), replace=False, p=wish / wish.sum()
        )
        before[user, seen] = True
        wish = (0.02 + charm) ** 0.7 * match[user] ** 1.5
        wish[seen] = 0
        later = rng.choice(
            N_FILMS, size=rng.integers(3, 8), replace=False, p=wish / wish.sum()
        )
        after[user, later] = True
    _write_pairs("train.csv", users, films, before)
    _write_pairs("test.csv", users, films, after)

    chart = np.argsort(-before.sum(axis=0), kind="stable")
    place = np.empty(N_FILMS)
    place[chart] = np.arange(N_FILMS, 0, -1)
    popular = np.where(before, -1, place)
    kinds = before @ share
    kinds /= kinds.sum(axis=1, keepdims=True)
    fame = (4 + before.sum(axis=0)) ** 0.6
    liked = fame * (0.2 + kinds @ share.T) + rng.normal(0, 0.2, before.shape)
    liked[:, ~before.any(axis=0)] += 1.2  # new films get a push
    personal = np.where(before, -np.inf, liked)
    _write_lists("popular.csv", users, films, popular, "{:.0f}")
    _write_lists("personal.csv", users, films, personal, "{:.3f}")

    rate = 0.02 + 0.5 * match * (charm / charm.max()) ** 0.25
    shown = 0.7 * fame / fame.sum() + 0.3 / N_FILMS
    _write_clicks(users, films, rate, shown, personal.argmax(axis=1))


def _write_clicks(
    users: list[str],
    films: list[str],
    rate: Table[np.float64],
    shown: Table[np.float64],
    front: Table[np.int64],
) -> None:
    """Write a log of the front page, and what another one would show."""
    rng = np.random.default_rng(2024)
    user = rng.integers(0, N_USERS, N_ROUNDS)
    film = rng.choice(N_FILMS, size=N_ROUNDS, p=shown)
    click = rng.random(N_ROUNDS) < rate[user, film]
    rows = zip(
        (users[at] for at in user),
        (films[at] for at in film),
        (str(int(one)) for one in click),
        (f"{one:.6f}" for one in shown[film]),
        strict=True,
    )
    _write("clicks.csv", "user_id,item_id,click,propensity", rows)
    true = rate[np.arange(N_USERS), front]
    # A model that is too careful, and not quite sure.
    guess = np.clip(0.75 * true + rng.normal(0.02, 0.03, N_USERS), 0.005, 1)
    names = [(users[at], films[one]) for at, one in enumerate(front)]
    pairs = zip(names, guess, true, strict=True)
    both = [(*name, f"{one:.4f}", f"{other:.4f}") for name, one, other in pairs]
    _write("front.csv", "user_id,item_id,predicted", (row[:3] for row in both))
    _write("rates.csv", "user_id,item_id,rate", ((*row[:2], row[3]) for row in both))


def _genres(rng: np.random.Generator) -> Table[np.float64]:
    """Draw one to three genres for each film."""
    genres = np.zeros((N_FILMS, len(GENRES)))
    for film in range(N_FILMS):
        n = rng.choice([1, 2, 3], p=[0.4, 0.45, 0.15])
        genres[film, rng.choice(len(GENRES), size=n, replace=False, p=SHARES)] = 1
    return genres


def _words(row: Iterable[float]) -> str:
    return "|".join(name for name, has in zip(GENRES, row, strict=True) if has)


def _describe(
    films: list[str], small: Table[np.bool_], rng: np.random.Generator
) -> None:
    """Write studios and titles, in files of their own."""
    studio = np.where(small, "small", "large")
    _write("studios.csv", "item_id,studio", zip(films, studio, strict=True))
    titles = [f"{first} {second}" for first in FIRST for second in SECOND]
    rng.shuffle(titles)
    year = rng.integers(1960, 2025, size=N_FILMS)
    rows = zip(films, titles, map(str, year), strict=True)
    _write("titles.csv", "item_id,title,year", rows)


def _write(name: str, header: str, rows: Iterable[Iterable[str]]) -> None:
    lines = [header, *(",".join(row) for row in rows)]
    (FOLDER / name).write_text("\n".join(lines) + "\n")


def _write_pairs(
    name: str, users: list[str], films: list[str], had: Table[np.bool_]
) -> None:
    pairs = [(users[user], films[film]) for user, film in np.argwhere(had)]
    _write(name, "user_id,item_id", pairs)


def _write_lists(
    name: str, users: list[str], films: list[str], score: Table[np.float64], form: str
) -> None:
    rows = []
    for at, user in enumerate(users):
        n = N_SHOWN
        if name == "personal.csv":
            n = 0 if user == WITHOUT else SHORTER.get(user, N_SHOWN)
        top = np.argsort(-score[at], kind="stable")[:n]
        rows += [(user, films[film], form.format(score[at, film])) for film in top]
    _write(name, "user_id,item_id,score", rows)


if __name__ == "__main__":
    main()
