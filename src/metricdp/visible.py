"""Text that somebody else wrote, as it may be shown: on a terminal, in a report, in a message.

Names of columns, labels of categories and names of files come from outside. A control character among them can clear
a screen, colour it, reverse a line or hide a part of it. So they are shown as they would be written in Python, and
only where they are shown: tables, policies and JSON keep them as they are.
"""

from __future__ import annotations

import re

__all__ = ["LONGEST_NAME", "visible", "visible_name"]

LONGEST_NAME = 120
"""How many characters of a name are shown."""

# Letters and marks that leave no trace on the screen, although Python calls them printable: fillers, joiners and
# variation selectors (Unicode's property Default_Ignorable_Code_Point).
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str, most: int | None = None) -> str:
    r"""The text in one line, with every character that steers a terminal or leaves no trace written as an escape.

    Args:
        text: anything.
        most: shorten what is longer than this, and say how long it is.

    >>> print(visible("pay\x1b[31m\nroll\u202e"))
    pay\x1b[31m\nroll\u202e
    >>> visible("a" * 1000, 10)
    'aaaaaaaaaa... (1,000 characters)'
    """
    if most is not None and len(text) > most:
        return f"{visible(text[:most])}... ({len(text):,} characters)"
    if text.isascii():
        return text if text.isprintable() else "".join(map(_escaped, text))
    if text.isprintable() and not _UNSEEN.search(text):
        return text
    return "".join(map(_escaped, text))


def visible_name(name: str) -> str:
    """A name in one line and of bearable length.

    >>> visible_name("x" * 10**6) == "x" * 120 + "... (1,000,000 characters)"
    True
    """
    return visible(name, LONGEST_NAME)


def _escaped(sign: str) -> str:
    if sign.isprintable() and not _UNSEEN.match(sign):
        return sign
    return sign.encode("unicode_escape").decode("ascii")
