"""The ledger against a short reference: whatever is opened, charged and answered, in any order, by two connections.

The reference adds up Fractions in lists. Levels are rationals, so that it needs no more than that.
"""

import json
import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from metricdp.errors import ArgumentError, BudgetError
from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee, attributes

COLUMNS = ("age", "sex", "town")
levels = st.dictionaries(
    st.sampled_from(COLUMNS), st.fractions(Fraction(1, 12), 3, max_denominator=12), min_size=1, max_size=3
)
deltas = st.sampled_from([Fraction(0), Fraction(1, 1000), Fraction(1, 3000)])


class Reference:
    """What a ledger should say, as short as it can be put."""

    def __init__(self):
        self.caps, self.parents, self.charges, self.keys, self.answers = {}, {}, [], {}, {}

    def line(self, name):
        return [] if name is None else [name, *self.line(self.parents[name])]

    def spent(self, name):
        mine = [(levels, delta) for account, levels, delta in self.charges if name in self.line(account)]
        columns = {column: sum((one.get(column, 0) for one, _ in mine), Fraction(0)) for column in COLUMNS}
        return columns, sum((delta for _, delta in mine), Fraction(0))

    def fits(self, name, levels, delta):
        for account in self.line(name):
            (columns, deltas), (cap, most) = self.spent(account), self.caps[account]
            over = [c for c in COLUMNS if columns[c] + levels.get(c, 0) > cap.get(c, 0)]
            if over or deltas + delta > most:
                return False
        return True


class Model(RuleBasedStateMachine):
    accounts = Bundle("accounts")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "l.db"
        self.ledgers = [Ledger.create(path), Ledger(path)]
        self.reference, self.receipts, self.turn = Reference(), [], 0

    @property
    def ledger(self):
        """One of two connections, in turns: neither may rely on what it remembers."""
        self.turn += 1
        return self.ledgers[self.turn % 2]

    def teardown(self):
        for ledger in self.ledgers:
            ledger.close()
        self.folder.cleanup()

    @rule(target=accounts, cap=levels, delta=deltas, parent=st.none())
    def open_top(self, cap, delta, parent):
        return self._open(cap, delta, parent)

    @rule(target=accounts, parent=accounts, delta=deltas)
    def open_below(self, parent, delta):
        return self._open(self.reference.caps[parent][0], delta, parent)

    def _open(self, cap, delta, parent):
        name = f"account {len(self.reference.caps)}"
        self.ledger.open_account(name, Guarantee(attributes(cap), delta), parent=parent)
        self.reference.caps[name], self.reference.parents[name] = (cap, delta), parent
        return name

    @rule(account=accounts, levels=levels, delta=deltas)
    def charge(self, account, levels, delta):
        fits = self.reference.fits(account, levels, delta)
        try:
            self.receipts.append(self.ledger.charge(account, Guarantee(attributes(levels), delta), "x"))
        except BudgetError:
            assert not fits
        else:
            assert fits
            self.reference.charges.append((account, levels, delta))

    @rule(account=accounts, levels=levels, key=st.sampled_from("abc"), number=st.integers(0, 3))
    def release(self, account, levels, key, number):
        request = (account, sorted(levels.items()), number)
        known = self.reference.keys.get((account, key))
        fits = self.reference.fits(account, levels, Fraction(0))
        computed = []

        def compute():
            computed.append(len(self.reference.answers))
            return computed[0]

        guarantee = Guarantee(attributes(dict(sorted(levels.items()))))
        try:
            found = self.ledger.release(account, guarantee, "x", compute, key=key, request=number)
        except BudgetError:
            assert known is None
            assert not fits
        except ArgumentError:
            assert known is not None
            assert known != request
        else:
            if known is None:
                assert fits
                self.reference.charges.append((account, levels, Fraction(0)))
                self.reference.keys[account, key] = request
                self.reference.answers[account, key] = found.answer
                assert computed == [found.answer]
            else:
                assert known == request
                assert not computed
            assert found.answer == self.reference.answers[account, key]
            self.receipts.append(found.receipt)

    @invariant()
    def balances_agree(self):
        for name, (cap, most) in self.reference.caps.items():
            balance = self.ledger.balance(name)
            columns, deltas = self.reference.spent(name)
            left = {part.name: part.left for part in balance.parts}
            assert left == {column: cap[column] - columns[column] for column in cap}
            assert balance.delta_left == most - deltas
            assert json.dumps(balance.to_json())

    @invariant()
    def it_checks(self):
        assert self.ledger.check(self.receipts)


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)
