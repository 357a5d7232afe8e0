"""Methods that draw results: charts, a report in one file, and a log of MLflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike


class Logged:
    """What can be logged to MLflow."""

    def log_mlflow(
        self,
        prefix: str = "",
        *,
        step: int | None = None,
        intervals: bool = False,
        report: bool = True,
    ) -> str:
        """Log the numbers to MLflow, and the report as an artifact.

        They go to the active run. If there is none, a run is started for them, and
        ended; `mlflow.set_tracking_uri` and `mlflow.set_experiment` say where.

        Args:
            prefix: what stands before the names of metrics, which are those of
                `scalars`, and before that of the report: with ``val/``, it is
                ``val/report.html``.
            step: the step of the numbers, such as the epoch.
            intervals: whether to log the bounds of intervals, too.
            report: whether to log the report. In a training loop, each one replaces
                that of the step before; leave it out there to save time.

        Returns:
            The id of the run.

        Raises:
            MissingExtraError: MLflow is not installed; the extra is ``mlflow``.
            ParameterError: MLflow would refuse the prefix.
        """
        from rankine._report.tracking import log_mlflow  # noqa: PLC0415

        return log_mlflow(self, prefix, step, intervals=intervals, report=report)  # type: ignore[arg-type]


class DrawnComparison(Logged):
    """The charts and the report of a comparison."""

    def plot(
        self,
        kind: str = "forest",
        metric: str | None = None,
        a: str | None = None,
        b: str | None = None,
        *,
        ks: Iterable[int] | None = None,
    ) -> Any:
        """Return an Altair chart, which can be shown, changed and saved.

        Args:
            kind: ``forest``, the differences of all pairs with intervals and verdicts;
                ``differences``, a bar per query, sorted; ``scatter``, a point per query
                by its values in both systems; ``curve``, the metric by its cutoff;
                ``heatmap``, the corrected p-values between systems, or with a baseline
                those of every metric.
            metric: one of the metrics; the first if not given.
            a: a system, for ``differences`` and ``scatter``; that of the first pair if
                not given.
            b: the system compared with it.
            ks: the cutoffs of a ``curve``; up to that of the metric if not given.

        Returns:
            A chart, which needs the extra ``report``.

        Raises:
            MissingExtraError: Altair is not installed.
            ParameterError: there is no such kind, metric or system, or the data for it
                are missing: a curve needs the ranks of items, bars need values per
                query.
        """
        from rankine._report.charts import plot  # noqa: PLC0415

        return plot(self, kind, metric, (a, b), ks)  # type: ignore[arg-type]

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        texts: Mapping[Any, Any] | None = None,
        query_texts: Mapping[Any, Any] | None = None,
        item_texts: Mapping[Any, Any] | None = None,
        command: str | None = None,
        files: Iterable[str | PathLike[str]] = (),
    ) -> None:
        """Write a report: one HTML file that needs no other files and no network.

        It has the verdicts in words, tables, charts, and the queries that moved most
        with both lists side by side. Charts need the extra ``report``; without it, the
        report has only tables, and says so.

        Args:
            path: the path of the file, which is replaced if it exists.
            title: the title; made from the names of the systems if not given.
            texts: id -> text, for queries and items, shown with their ids; a mapping or
                a pandas Series. None and nan mean no text.
            query_texts: the same for queries only, if an item may have the same id.
            item_texts: the same for items only.
            command: how to reproduce the result, shown at the end.
            files: files whose hashes are shown at the end.

        Raises:
            ParameterError: the texts are not a mapping.
        """
        from rankine._report.of_comparison import report  # noqa: PLC0415

        texts_of = (query_texts, item_texts)
        report(self, path, title, texts, command, tuple(files), *texts_of)  # type: ignore[arg-type]


class DrawnEvaluation(Logged):
    """The charts and the report of an evaluation."""

    def plot(
        self,
        kind: str = "forest",
        metric: str | None = None,
        *,
        ks: Iterable[int] | None = None,
    ) -> Any:
        """Return an Altair chart, which can be shown, changed and saved.

        Args:
            kind: ``forest``, the mean of every metric with its interval; ``histogram``,
                how many queries have which value; ``curve``, the metric by its cutoff.
            metric: one of the metrics; the first if not given.
            ks: the cutoffs of a ``curve``; up to that of the metric if not given.

        Returns:
            A chart, which needs the extra ``report``.

        Raises:
            MissingExtraError: Altair is not installed.
            ParameterError: there is no such kind or metric, or a curve cannot be drawn.
        """
        from rankine._report.charts import plot  # noqa: PLC0415

        return plot(self, kind, metric, ks=ks)  # type: ignore[arg-type]

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        texts: Mapping[Any, Any] | None = None,
        query_texts: Mapping[Any, Any] | None = None,
        item_texts: Mapping[Any, Any] | None = None,
        command: str | None = None,
        files: Iterable[str | PathLike[str]] = (),
    ) -> None:
        """Write a report: one HTML file that needs no other files and no network.

        It has the numbers with their intervals, charts, and the worst queries with the
        items they missed. Charts need the extra ``report``; without it, the report has
        only tables, and says so.

        Args:
            path: the path of the file, which is replaced if it exists.
            title: the title; made from the name of the run if not given.
            texts: id -> text, for queries and items, shown with their ids; a mapping or
                a pandas Series. None and nan mean no text.
            query_texts: the same for queries only, if an item may have the same id.
            item_texts: the same for items only.
            command: how to reproduce the result, shown at the end.
            files: files whose hashes are shown at the end.

        Raises:
            ParameterError: the texts are not a mapping.
        """
        from rankine._report.of_evaluation import report  # noqa: PLC0415

        texts_of = (query_texts, item_texts)
        report(self, path, title, texts, command, tuple(files), *texts_of)  # type: ignore[arg-type]
