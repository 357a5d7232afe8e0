"""ship: the package on executors that do not have it."""

from __future__ import annotations

import atexit
import shutil
import zipfile
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import rankine
from rankine._engines.frames import functions
from rankine._engines.jobs import executors_lack, refuse_stopped, run_job

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NEEDED = ("numpy", "polars", "pyarrow", "rankine")
"""What executors must be able to import."""


def ship(spark: Any) -> None:
    """Send this package to executors that do not have it.

    Its code is pure Python and is sent as a zip. Executors must have NumPy, polars and
    pyarrow, which are compiled and cannot be sent like this. A few tasks check whether
    everything can be imported.

    Args:
        spark: the session, classic or Connect. Call it once, before `evaluate`.

    Raises:
        MissingExtraError: something is missing on an executor; the message says what.
    """
    functions()  # says what to install if pyspark is missing
    refuse_stopped(spark, "the Spark session")
    folder = mkdtemp(prefix="rankine-")
    # Until the end: an executor that starts later, in place of another, fetches it.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / f"rankine-{rankine.__version__}.zip"
    _pack(path)
    spark.addArtifacts(str(path), pyfile=True)
    n_tasks = 2 * int(spark.conf.get("spark.default.parallelism", "4"))
    frame = spark.range(n_tasks, numPartitions=n_tasks)
    missing = run_job(frame.mapInArrow(_missing, "name string").distinct())
    if missing:
        raise executors_lack(*sorted(row.name for row in missing))


def _pack(path: Path) -> None:
    """Put the code of the package into a zip."""
    home = Path(rankine.__file__).parent
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(home.rglob("*.py")):
            packed.write(file, file.relative_to(home.parent))


def _probe(names: tuple[str, ...]) -> Any:
    """Return a function that executors can run whether they have us or not.

    It is sent as it is, being made here; of one with a name of its own, only the name
    would be, which executors then look for in this package.
    """

    def missing(batches: Iterable[Any]) -> Iterator[Any]:
        from importlib import import_module  # noqa: PLC0415 - this runs elsewhere

        import pyarrow as pa  # noqa: PLC0415

        absent = []
        for name in names:
            try:
                import_module(name)
            except ImportError:
                absent.append(name)
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"name": pa.array(absent, pa.string())})

    return missing


_missing = _probe(_NEEDED)
