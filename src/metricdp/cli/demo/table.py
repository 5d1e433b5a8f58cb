"""The tour's third part: the whole shipped table, sanitized into a folder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from metricdp.errors import MissingExtraError
from metricdp.sources.whole_files import appearing

__all__ = ["SanitizedTable", "sanitize_shipped"]

_SHOWN = {"income": "dollars a year", "doctor_visits": "visits a year", "age": "years", "general_health": "points"}


@dataclass(frozen=True)
class SanitizedTable:
    """What was made.

    Attributes:
        rows: how many there are; the number is public.
        summary: the report in a few lines.
        table: the sanitized table.
        report: the report as a page.
        picture: before and after; None where matplotlib is not installed.
    """

    rows: int
    summary: str
    table: str
    report: str
    picture: str | None


def sanitize_shipped(folder: Path) -> SanitizedTable:
    """Sanitize the health insurance table by its policy, with its report and a picture of before and after."""
    try:
        import pyarrow.csv
        import pyarrow.parquet

        from metricdp.tables import sanitize
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "pyarrow", "tables") from None
    folder.mkdir(parents=True, exist_ok=True)
    out, report, picture = (folder / name for name in ("released.parquet", "report.html", "before-and-after.png"))
    data = files("metricdp.cli.demo").joinpath("data")
    with (
        as_file(data.joinpath("health_insurance.csv")) as source,
        as_file(data.joinpath("health_insurance.toml")) as policy,
    ):
        release = sanitize(source, policy, out=out, overwrite=True)
        before = pyarrow.csv.read_csv(source, convert_options=_like_csv()).select(list(_SHOWN))
    with appearing(report, overwrite=True) as temporary:
        temporary.write_text(release.report.html(), encoding="utf-8")
    try:
        from metricdp.plots.before_after import before_and_after
        from metricdp.plots.saving import save

        after = pyarrow.parquet.read_table(out, columns=list(_SHOWN))
        columns = {
            name: (before[name].drop_null().to_numpy(), after[name].drop_null().to_numpy(), unit)
            for name, unit in _SHOWN.items()
        }
        save(before_and_after(columns, "5,630 people, before and after"), picture, overwrite=True)
        drawn: str | None = str(picture)
    except MissingExtraError:
        drawn = None
    rows = release.report.rows
    assert rows is not None
    return SanitizedTable(rows, release.report.summary(), str(out), str(report), drawn)


def _like_csv() -> object:
    import pyarrow.csv

    return pyarrow.csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
