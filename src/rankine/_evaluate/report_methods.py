"""What a result draws: charts, and a report in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike


class DrawnComparison:
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
        """Return a chart of Altair, to be shown, changed and saved.

        Args:
            kind: ``forest``, the differences of all pairs with intervals and verdicts;
                ``differences``, a bar per query, sorted; ``scatter``, a point per query
                by its values in both systems; ``curve``, the metric by its cutoff;
                ``heatmap``, the corrected p-values between systems, or with a baseline
                those of every metric.
            metric: one of the metrics; the first if not given.
            a: a system, for ``differences`` and ``scatter``; that of the first pair if
                not given.
            b: the system that is compared with it.
            ks: the cutoffs of a ``curve``; up to that of the metric if not given.

        Returns:
            A chart, which needs the extra ``report``.

        Raises:
            MissingExtraError: Altair is not installed.
            ParameterError: there is no such kind, metric or system, or what is drawn is
                not known: a curve needs the ranks of items, bars need values per query.
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
        """Write a report: one HTML file that needs nothing else, and no network.

        It has the verdicts in words, tables, charts, and the queries that moved most
        with both lists side by side. Charts need the extra ``report``; without it there
        are tables, and a sentence that says so.

        Args:
            path: the path of the file, which is replaced if it exists.
            title: what stands at the top; the names of the systems if not given.
            texts: id -> text, of queries and of items, to be shown with their ids; a
                mapping or a Series of pandas. None and nan mean no text.
            query_texts: the same of queries alone, where an item may have the same id.
            item_texts: the same of items alone.
            command: how to make the result again, to be shown at the end.
            files: files whose hashes are shown at the end.

        Raises:
            ParameterError: the texts are not a mapping.
        """
        from rankine._report.of_comparison import report  # noqa: PLC0415

        texts_of = (query_texts, item_texts)
        report(self, path, title, texts, command, tuple(files), *texts_of)  # type: ignore[arg-type]


class DrawnEvaluation:
    """The charts and the report of an evaluation."""

    def plot(
        self,
        kind: str = "forest",
        metric: str | None = None,
        *,
        ks: Iterable[int] | None = None,
    ) -> Any:
        """Return a chart of Altair, to be shown, changed and saved.

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
        """Write a report: one HTML file that needs nothing else, and no network.

        It has the numbers with their intervals, charts, and the worst queries with what
        they missed. Charts need the extra ``report``; without it there are tables, and
        a sentence that says so.

        Args:
            path: the path of the file, which is replaced if it exists.
            title: what stands at the top; the name of the run if not given.
            texts: id -> text, of queries and of items, to be shown with their ids; a
                mapping or a Series of pandas. None and nan mean no text.
            query_texts: the same of queries alone, where an item may have the same id.
            item_texts: the same of items alone.
            command: how to make the result again, to be shown at the end.
            files: files whose hashes are shown at the end.

        Raises:
            ParameterError: the texts are not a mapping.
        """
        from rankine._report.of_evaluation import report  # noqa: PLC0415

        texts_of = (query_texts, item_texts)
        report(self, path, title, texts, command, tuple(files), *texts_of)  # type: ignore[arg-type]
