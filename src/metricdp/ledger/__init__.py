"""What has been spent, on disk: accounts with caps, charged before anything is released, and checkable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.ledger.accounts import Account
    from metricdp.ledger.advanced import advanced_epsilon, advanced_metric
    from metricdp.ledger.balances import Balance
    from metricdp.ledger.checking import Check
    from metricdp.ledger.entries import LedgerEntry, Receipt, What
    from metricdp.ledger.ledger import Ledger
    from metricdp.ledger.parallel import parallel_guarantee
    from metricdp.ledger.reader import Answered
    from metricdp.ledger.settling import Settlement
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Account": "accounts",
            "Answered": "reader",
            "Balance": "balances",
            "Check": "checking",
            "LedgerEntry": "entries",
            "Ledger": "ledger",
            "Receipt": "entries",
            "Settlement": "settling",
            "What": "entries",
            "advanced_epsilon": "advanced",
            "advanced_metric": "advanced",
            "parallel_guarantee": "parallel",
        },
    )

__all__ = [
    "Account",
    "Answered",
    "Balance",
    "Check",
    "Ledger",
    "LedgerEntry",
    "Receipt",
    "Settlement",
    "What",
    "advanced_epsilon",
    "advanced_metric",
    "parallel_guarantee",
]
