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
        example: of an answer.
        choices: all answers that there are, each with what it means; nothing where there are too many to list.
    """

    key: str
    words: str
    optional: bool = False
    example: str = ""
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def on_its_line(self) -> str:
        """The question where its line stands in a draft."""
        return f"{self._asked} or delete the line" if self.optional else self._asked

    @property
    def by_itself(self) -> str:
        """The question where it is asked, and the answer typed."""
        return f"{self._asked} or nothing" if self.optional else self._asked

    @property
    def _asked(self) -> str:
        return f"{self.words} such as {self.example}" if self.example else self.words


BOUNDS = OpenQuestion("bounds", "between which bounds do all values lie?", True, "[least, greatest]")
FACTOR = OpenQuestion("factor", "by which factor may the odds between two values move at most?", example="3")
MISSING = OpenQuestion(
    "missing",
    'a missing value: "refuse" the table, "public", or "secret" (with bounds or values)?',
    choices=(
        ("refuse", "a table that lacks one is refused"),
        ("public", "everybody sees which are missing"),
        ("secret", "hidden, with bounds or values"),
    ),
)


def within(unit: str) -> OpenQuestion:
    """The question how near two values must be to look alike, in a unit."""
    words = "how near must two values be to look alike (odds within a factor 2)?"
    return OpenQuestion("within", words, example=example(unit))


def listed(words: str) -> OpenQuestion:
    """The question what there can be."""
    return OpenQuestion("values", words, example='["a", "b"]')
