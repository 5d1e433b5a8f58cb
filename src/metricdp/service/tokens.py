"""Those who may ask: names, roles, and digests of their tokens."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from metricdp.errors import ArgumentError, FileError
from metricdp.exact.bits import secure
from metricdp.sources.whole_files import appearing

__all__ = ["ROLES", "Token", "Tokens"]

ROLES = {
    "curator": frozenset({"release", "ask", "sanitize", "preview", "balance", "every balance", "verify", "metrics"}),
    "analyst": frozenset({"release", "ask", "sanitize", "preview", "balance", "verify"}),
    "auditor": frozenset({"preview", "balance", "every balance", "verify", "metrics", "check"}),
}
"""What each role may do."""

_FORMAT = 1


@dataclass(frozen=True)
class Token:
    """Somebody who may ask.

    Attributes:
        name: who it is.
        role: curator, analyst or auditor.
        account: of the ledger, which their questions are charged to; empty for those who ask none.
        sha256: the digest of the token, which itself is stored nowhere.
    """

    name: str
    role: str
    account: str
    sha256: str

    @property
    def is_sound(self) -> bool:
        """Whether it is what `Tokens.add` writes."""
        texts = all(isinstance(part, str) for part in (self.name, self.role, self.account, self.sha256))
        return texts and self.role in ROLES and bool(self.name)

    def may(self, what: str) -> bool:
        """Whether their role allows it."""
        return what in ROLES[self.role]


class Tokens:
    """The file of all tokens, read again whenever it has changed: one that is taken back is good for nothing at once.

    A token is 256 random bits, so its plain SHA-256 is as good as any slower digest: there is nothing to guess.

    Args:
        path: of the file; an empty one where there is none.

    Raises:
        FileError: it is no file of tokens.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._known: dict[str, Token] = {}
        self._read: tuple[int, int, int] | None = None
        self._look()

    def _look(self) -> None:
        """Read the file, unless it is the one that was read last."""
        try:
            found = self.path.stat()
            there = found.st_mtime_ns, found.st_size, found.st_ino
        except FileNotFoundError:
            there = None
        except OSError as error:
            raise FileError(f"{self.path.name} cannot be read: {error.strerror}") from None
        if there != self._read:
            self._known = {} if there is None else {one.sha256: one for one in _tokens_in(self.path)}
            self._read = there

    def __iter__(self) -> Iterator[Token]:
        return iter(self._known.values())

    def find(self, token: str) -> Token | None:
        """Whose token this is; None where it is nobody's.

        What is compared is a digest of what was sent, so the time it takes tells nothing of a token.

        Raises:
            FileError: the file has become something else.
        """
        self._look()
        sent = digest(token)
        found = self._known.get(sent)
        return found if found is not None and hmac.compare_digest(found.sha256, sent) else None

    def add(self, name: str, role: str, account: str = "") -> str:
        """A new token, which is shown this once.

        Raises:
            ArgumentError: there is no such role, or the name is taken.
        """
        if role not in ROLES:
            raise ArgumentError(f"a role is one of {', '.join(ROLES)}, not {role!r}")
        if not name or len(name) > 100 or not name.isprintable() or ":" in name:
            raise ArgumentError("a name has 1 to 100 characters that can be shown, and no colon")
        if any(one.name == name for one in self._known.values()):
            raise ArgumentError(f"there is a token of {name!r} already: remove it first")
        token = f"mdp_{secure().integer(256):064x}"
        made = Token(name, role, account, digest(token))
        self._store([*self._known.values(), made])
        return token

    def remove(self, name: str) -> None:
        """Take a token back; a service that runs lets it in no more.

        Raises:
            ArgumentError: nobody has that name.
        """
        left = [one for one in self._known.values() if one.name != name]
        if len(left) == len(self._known):
            raise ArgumentError(f"there is no token of {name!r}")
        self._store(left)

    def _store(self, tokens: list[Token]) -> None:
        with appearing(self.path, overwrite=True) as temporary:
            temporary.touch(mode=0o600)
            document = {"format": _FORMAT, "tokens": [asdict(one) for one in tokens]}
            temporary.write_text(json.dumps(document, indent=1), encoding="utf-8")
        self._look()


def _tokens_in(path: Path) -> list[Token]:
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        found = [Token(**one) for one in tree["tokens"]]
        if tree["format"] != _FORMAT or not all(one.is_sound for one in found):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise FileError(f"{path.name} is no file of tokens, or a damaged one") from None
    return found


def digest(token: str) -> str:
    """What is stored of a token.

    >>> digest("mdp_1") == hashlib.sha256(b"mdp_1").hexdigest()
    True
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
