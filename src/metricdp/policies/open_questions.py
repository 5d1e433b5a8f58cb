"""What somebody has to decide about a column, as a draft of a policy asks it."""

from __future__ import annotations

from dataclasses import dataclass

from metricdp.policies.quantities import example

__all__ = ["BOUNDS", "FACTOR", "MISSING", "OpenQuestion", "listed", "within"]


@dataclass(frozen=True)
class OpenQuestion:
    """A decision.

    Attributes:
        key: what the answer is written under.
        words: the question.
        optional: whether the line may be left out.
    """

    key: str
    words: str
    optional: bool = False

    @property
    def on_its_line(self) -> str:
        """The question where its line stands in a draft."""
        return f"{self.words} or delete the line" if self.optional else self.words

    @property
    def by_itself(self) -> str:
        """The question where it is asked, and the answer typed."""
        return f"{self.words} or nothing" if self.optional else self.words


BOUNDS = OpenQuestion("bounds", "between which bounds do all values lie, [least, greatest]?", True)
FACTOR = OpenQuestion("factor", "by which factor may the odds between two values move at most? such as 3")
MISSING = OpenQuestion("missing", 'a missing value: "refuse" the table, "public", or "secret" (with bounds or values)?')


def within(unit: str) -> OpenQuestion:
    """The question how near two values must be to look alike, in a unit."""
    shown = example(unit)
    return OpenQuestion(
        "within", f"how near must two values be to look alike (odds within a factor 2)? such as {shown}"
    )


def listed(words: str) -> OpenQuestion:
    """The question what there can be."""
    return OpenQuestion("values", f'{words} such as ["a", "b"]')
