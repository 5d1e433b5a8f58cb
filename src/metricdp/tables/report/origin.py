"""Where a release comes from: when, by whom, of what, and which file came out."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from metricdp.sources.digests import digest

__all__ = ["Origin"]


@dataclass(frozen=True)
class Origin:
    """When a table was released, by whom, of what, and what came out.

    Attributes:
        when: the end of the release, in UTC, as ISO 8601 writes it.
        by: who released it, as they said; None where they did not.
        source: what the table was called; None where it had no name, or is not to be named.
        source_sha256: the digest of the source, only where that was asked for: with it, whoever guesses the whole
            table can confirm the guess.
        output: what the released file is called; None where there is none.
        output_sha256: its digest; of a folder, that of the names and digests of its files in order.
    """

    when: str
    by: str | None = None
    source: str | None = None
    source_sha256: str | None = None
    output: str | None = None
    output_sha256: str | None = None

    @classmethod
    def now(
        cls,
        by: str | None = None,
        source: str | None = None,
        source_file: Path | None = None,
        output: str | None = None,
        output_file: Path | None = None,
    ) -> Origin:
        """The origin of a release that has just ended, with the digests of the files that are given."""
        when = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        return cls(
            when,
            by,
            source,
            None if source_file is None else digest(source_file),
            output,
            None if output_file is None else digest(output_file),
        )
