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

    def may(self, what: str) -> bool:
        """Whether their role allows it."""
        return what in ROLES[self.role]


class Tokens:
    """The file of all tokens.

    A token is 256 random bits, so its plain SHA-256 is as good as any slower digest: there is nothing to guess.

    Args:
        path: of the file; an empty one where there is none.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._known: dict[str, Token] = {}
        if self.path.exists():
            try:
                tree = json.loads(self.path.read_text(encoding="utf-8"))
                found = [Token(**one) for one in tree["tokens"]]
                if tree["format"] != _FORMAT or any(one.role not in ROLES for one in found):
                    raise ValueError
            except (OSError, ValueError, KeyError, TypeError):
                raise FileError(f"{self.path.name} is no file of tokens, or a damaged one") from None
            self._known = {one.sha256: one for one in found}

    def __iter__(self) -> Iterator[Token]:
        return iter(self._known.values())

    def find(self, token: str) -> Token | None:
        """Whose token this is; None where it is nobody's.

        What is compared is a digest of what was sent, so the time it takes tells nothing of a token.
        """
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
        """Take a token back; it is good for nothing from the next start of the service on.

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
        self._known = {one.sha256: one for one in tokens}


def digest(token: str) -> str:
    """What is stored of a token.

    >>> digest("mdp_1") == hashlib.sha256(b"mdp_1").hexdigest()
    True
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
