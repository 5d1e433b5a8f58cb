"""An audit under way: search pairs and events on past releases, test what was chosen on new ones."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

from metricdp.audit.betting import PLANNED
from metricdp.audit.boxes.box import Batch, Box
from metricdp.audit.closer import look_closer
from metricdp.audit.coins import WHOLE, coins, weight_for
from metricdp.audit.conclusion import conclude
from metricdp.audit.events.candidate import Candidate
from metricdp.audit.events.linear import Linear
from metricdp.audit.events.search import FAMILIES, MOST_LEARNED, Hunt
from metricdp.audit.events.threshold import Goal
from metricdp.audit.evidence import Evidence
from metricdp.audit.pace import keep_memory
from metricdp.audit.pairs import Apart
from metricdp.audit.plan import Plan, spent
from metricdp.audit.probe import probe
from metricdp.audit.rungs import promising, share_of
from metricdp.audit.trial import Trial, scale_of
from metricdp.audit.zoom import zoom
from metricdp.exact.arrays import Booleans
from metricdp.metrics import Guarantee

__all__ = ["Progress", "Rounds"]

Progress = Callable[[int, int, float], object]

_REFINED = 3
_FOR_A_PAIR, _MOST_FOR_SEARCH = 0.025, 0.4  # shares of all calls
_QUICK = 60_000  # releases to learn from, while there are many pairs
_FEWEST = 200  # releases of a pair to learn from at least
_AGAIN = 4  # a test of several looks that has used 1/2^4 of its calls waits for another search
_LAST = 3  # times as many releases as before, when few pairs are left
_ERROR = 0.02  # of a logarithm, that it takes to choose a threshold
_MOST_REFINE, _MOST_COUNTED = 3_000_000, 10_000_000
_ZOOM, _LEVELS = 0.06, 4  # the share of the calls that are left, for each look inside an event, and how many looks


class _Stop(Exception):
    """The audit ends here; its evidence stands."""


@dataclass
class Rounds:
    """An audit under way."""

    box: Box
    pairs: list[Apart]
    promise: Guarantee
    confidence: float
    samples: int | None
    time_limit: float | None
    events: Sequence[Any]
    progress: Progress | None
    plan: Plan
    calls: int = 0
    bound: float = 0.0
    trials: list[Trial] = field(default_factory=list)
    hunts: list[Hunt] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ended: str = "all samples were drawn"

    def run(self) -> Evidence:
        """Search, test, and say what was found."""
        keep_memory()
        self.start = time.perf_counter()
        self.pace, self.largest, self.learning, self.overhead = 1e-6, 0, 0.0, 0.0
        self.hunts = self._hunts()
        try:
            probe(self)
            for number in range(self.plan.rounds):
                self._search(number)
                if number == 0 and self._chosen() is None:
                    self._search_on()
                self._refine(number)
                self._zoom(number)
                candidate = self._chosen()
                if candidate is None:
                    self.notes.append("No event was found that tells two secrets apart.")
                    self.ended = "there was no event to test"
                    break
                if not self._test(number, candidate):
                    if self.samples is None or self.calls < self.samples:
                        self.ended = "the time was up"
                    break
        except _Stop as stop:
            self.ended = str(stop)
        except KeyboardInterrupt:
            self.ended = "Ctrl-C"
        return conclude(self)

    def _hunts(self) -> list[Hunt]:
        """A search for every pair, which has seen nothing yet."""
        timed = "time" in self.events
        given = [event for event in self.events if not (isinstance(event, str) and event == "time")]
        return [Hunt(pair, distance, self.promise, given, timed, self.plan.machine) for pair, distance in self.pairs]

    # Draws

    def left(self) -> int:
        """How many calls are left, by number and by time."""
        left = 10**12 if self.samples is None else self.samples - self.calls
        if self.time_limit is not None and self.calls:
            left = min(left, int(self.seconds_left() / (self.pace + self.overhead)))
        return max(0, left)

    def _past(self, share: float) -> bool:
        """Whether so much of the time is over."""
        return self.time_limit is not None and self.seconds_left() < (1 - share) * self.time_limit

    def seconds_left(self) -> float:
        """How much of the time is left; infinite without a limit."""
        return math.inf if self.time_limit is None else self.time_limit - (time.perf_counter() - self.start)

    def draw(self, pair: tuple[Any, Any], count: int, weight: int) -> tuple[Batch, Booleans]:
        """Releases in random order, and which had the first secret."""
        labels = coins(count, weight)
        begin = time.perf_counter()
        batch = self.box.draw(pair, labels)
        self.calls += len(batch)
        if len(batch) >= self.largest:  # small batches say little about how quick large ones are
            pace = (time.perf_counter() - begin) / max(len(batch), 1)
            self.pace = pace if len(batch) > 2 * self.largest else 0.9 * self.pace + 0.1 * pace
            self.largest = max(self.largest, len(batch))
        if len(batch) == 0 or batch.interrupted or batch.exhausted:
            self.after = "Ctrl-C" if batch.interrupted else "the samples were used up"
            if len(batch) == 0:
                raise _Stop(self.after)
        return batch, labels[: len(batch)]

    after: str | None = None
    _recent: Batch | None = None

    def go_on(self) -> None:
        """Say how far things are; end where it is time."""
        if self.after is not None:
            raise _Stop(self.after)
        planned = self.calls + self.left()
        if self.progress is not None and self.progress(self.calls, planned, self.bound) is True:
            raise _Stop("progress said so")
        if self.seconds_left() <= 0:
            raise _Stop("the time was up")

    # Search

    def _search(self, number: int) -> None:
        """Draw releases of every pair, learn, and go on with the better half of the pairs."""
        share = self.plan.search / self.plan.rounds if self.plan.even else self._search_share()
        budget = int(self._aim(self.left()) * share) if number == 0 or self.plan.even else 0
        alive = [hunt for hunt in self.hunts if not hunt.given_up]
        if number and not self.plan.even:
            return
        alive = alive[: max(1, budget // (2 * _FEWEST))]  # few samples are no use for many pairs
        rungs = 1 if number else math.ceil(math.log2(len(alive))) + 1
        if self.time_limit is not None and not number:
            rungs = max(rungs, 2)  # the first is small, to see how long it takes to learn
        final = max(1, int(self.left() * (1 - share - self.plan.refine)))
        for rung in range(rungs):
            last = rung == rungs - 1
            limit = self.plan.most_search * (_LAST if last else 1) if rung or self.time_limit is None else 8000
            each = min(max(_FEWEST, int(budget * share_of(rung, rungs)) // len(alive)), limit)
            if self.time_limit is not None and self.learning:
                each = min(each, int(0.25 * self.time_limit / rungs / len(alive) / self.learning))
            most = MOST_LEARNED if last else _QUICK if rung else _QUICK // 3
            families = FAMILIES if last or not rung else promising(alive)
            for hunt in alive:
                few = hunt.counts_all  # then all that were drawn are looked at
                self._learn(hunt, each if few else min(each, 2 * most), final, most, families)
                if hunt.counts_all and not few and each > 2 * most:
                    self._learn(hunt, each - 2 * most, final, most, families)
                elif 2 * len(alive) <= len(self.hunts) + 1 and rung and each > 4 * most and "rules" in families:
                    zoom(self, hunt, self._goal(final, 3.2), (each - 2 * most) // 2, 2, most // 2)
                if self._past(0.35):
                    return
            best = max(hunt.promise for hunt in alive)
            alive = [hunt for hunt in alive if hunt.may_promise >= best]
            if rung or number:
                alive = sorted(alive, key=lambda hunt: -hunt.promise)[: max(1, (len(alive) + 1) // 2)]

    def _search_on(self) -> None:
        """Where nothing was found, what tells the secrets apart may be rare: half of what is left looks for it."""
        count = self.left() // 2
        for hunt in self.hunts[: max(1, count // _FEWEST)]:
            most = _LAST * self.plan.most_search if hunt.counts_all else 2 * MOST_LEARNED
            self._learn(hunt, min(count // len(self.hunts), most), count, MOST_LEARNED, FAMILIES)

    def _search_again(self) -> None:
        """All over again: a search that was led astray by luck is not led there twice."""
        before, self.hunts = self.hunts, self._hunts()
        for old, new in zip(before, self.hunts, strict=True):
            new.looked_at = old.looked_at
        self._search(0)
        self._refine(0)
        self._zoom(0)

    def _learn(self, hunt: Hunt, calls: int, final: int, most: int, families: Collection[str]) -> None:
        """Draw releases of one pair, and learn from all it has."""
        for batch, labels in self.batches(hunt, min(calls, self.left()), WHOLE // 2):
            hunt.add(batch, labels)
        begin = time.perf_counter()
        hunt.learn(self._goal(final, 3.2), most, families)
        self.learning = (time.perf_counter() - begin) / max(hunt.calls, 1)
        self.go_on()

    def _search_share(self) -> float:
        return min(self.plan.search + _FOR_A_PAIR * (len(self.hunts) - 1), max(self.plan.search, _MOST_FOR_SEARCH))

    def _worth(self, most: int) -> list[Candidate]:
        """The best event of each of the best pairs."""
        best = [c for hunt in self.hunts if (c := hunt.best_open()) is not None and not hunt.constant]
        best = sorted(best, key=lambda candidate: -candidate.preference)[:most]
        return [c for c in best if c.preference > 0.4 * best[0].preference] or best

    def _chosen(self) -> Candidate | None:
        """The best event that was not tested yet."""
        open_ones = [c for hunt in self.hunts for c in hunt.candidates if not c.used and not hunt.constant]
        best = max(open_ones, key=lambda candidate: candidate.preference, default=None)
        return None if best is None else best.hunt.best_open()

    # Test

    def _refine(self, number: int) -> None:
        """Choose the thresholds of the best pairs again, on new releases, with more of the less likely secret."""
        worth = self._worth(1 if number or self.plan.even else _REFINED)
        if not worth:
            return
        cheap = all(candidate.hunt.counts_all for candidate in worth)  # to draw and to count is all there is to do
        left = self.left() // (self.plan.rounds - number) if self.plan.even else self.left()
        left = left if cheap else self._aim(left)
        best = worth
        cut = best[0].cut
        ratio = max(math.log(max(cut.chance, 1e-9) / max(cut.other, 1e-9)), 0.01)
        known = (1 / max(cut.chance, 1e-9) + 1 / max(cut.other, 1e-9)) / (_ERROR * ratio) ** 2
        sums = [c for c in best[0].hunt.candidates if isinstance(c.score, Linear) and not c.used]
        taught = any(2 * c.promise - c.safe > best[0].promise for c in sums)  # by two standard errors
        most = self.plan.teach if taught else 2 * self.plan.refine
        share = min(max(known * len(worth) / max(left, 1), self.plan.refine / 2), most)
        if len(worth) == 1 and best[0].score.hints is not None:
            share = self.plan.refine / 2  # its thresholds are known
        count = min(int(left * share / len(worth)), _MOST_COUNTED if cheap else _MOST_REFINE)
        if self.time_limit is not None:
            count = min(count, int(0.1 * self.time_limit / len(worth) / 1e-6))
        if count < 500:
            return
        for number_of, candidate in enumerate(worth, start=1):
            hunt, weight = candidate.hunt, self._weight(candidate)
            pair = (hunt.pair[1], hunt.pair[0]) if candidate.cut.swapped else hunt.pair
            rivals = hunt.rivals()
            rest = count
            while rest > 0:
                batch, labels = self.draw(pair, min(rest, self.box.block), weight)
                rest -= len(batch)
                firsts = ~labels if candidate.cut.swapped else labels
                if 2 * rest > count:
                    for rival in rivals:
                        rival.teach(batch, firsts)
                else:
                    for rival in rivals:
                        rival.taught()
                        rival.add(batch, firsts)
                self._recent = batch
                self.go_on()
                if self._past(0.35 + 0.15 * number_of / len(worth)):
                    break
            for rival in rivals:
                rival.taught()
            goal = replace(self._goal(max(1, left - count if self.plan.even else self.left()), 3.6), cells=160)
            hunt.candidates = [c for c in hunt.candidates if c not in rivals] + [
                replace(rival.again(goal), refined=True) for rival in rivals
            ]

    def _zoom(self, number: int) -> None:
        """Look inside the events that promise most, and at the threshold of the best once more."""
        if number or self.plan.even or self._past(0.5):
            return
        goal, calls = self._goal(max(1, self.left()), 3.6), int(_ZOOM * self._aim(self.left()))
        for candidate in self._worth(_REFINED):
            zoom(self, candidate.hunt, goal, calls, _LEVELS, _QUICK)
        if (chosen := self._chosen()) is not None:
            look_closer(self, chosen, replace(goal, cells=160), self._weight(chosen))

    def batches(self, hunt: Hunt, count: int, weight: int) -> Iterator[tuple[Batch, Booleans]]:
        """So many releases of a pair, in parts; fewer where it is time to end."""
        while count > 0:
            batch, labels = self.draw(hunt.pair, min(count, self.box.block), weight)
            count -= len(batch)
            yield batch, labels
            self.go_on()

    def _goal(self, calls: int, doubt: float) -> Goal:
        middle = max(1, calls >> self.plan.looks // 2)  # of the looks that are planned
        return Goal(middle, self._delta, doubt, 0.3 + self._errors(0))

    def _aim(self, calls: int) -> int:
        """The calls that a search is sized for: of several looks that are planned, those of an early one."""
        return max(1, calls >> self.plan.looks // 2 + 1) if self.plan.looks > 1 and not self.plan.even else calls

    def _errors(self, number: int) -> float:
        """How many standard errors the bound of a test lies below what it looks like."""
        return -NormalDist().inv_cdf(PLANNED / self.plan.looks * self._alpha(number))

    def _weight(self, candidate: Candidate) -> int:
        if candidate.cut.mirror is not None:
            return WHOLE // 2
        factor = math.exp(min(candidate.hunt.distance, 30.0)) if self.promise.delta else None
        return weight_for(candidate.cut.chance, candidate.cut.other, factor)

    def _test(self, number: int, candidate: Candidate) -> bool:
        """Test an event on new releases; True where another test may follow."""
        candidate.used = True
        weight = self._weight(candidate)
        if self.time_limit is not None and self._recent is not None:
            begin = time.perf_counter()
            candidate.event.among(Batch(self._recent.releases, self._recent.seconds))
            self.overhead = (time.perf_counter() - begin) / len(self._recent)
        planned = self.left() // (self.plan.rounds - number) if self.plan.even else self.left()
        if planned < 20:
            return False
        trials = self._on_trial(number, candidate, weight, planned * (0.85 if self.time_limit is not None else 1.0))
        self.trials += trials
        trial = trials[0]
        again = planned >> _AGAIN if self.plan.looks > 1 and not self.plan.even else planned
        while trial.calls < planned:
            count = min(planned - trial.calls, self.box.block)
            if trial.calls == 0:
                count = min(count, max(1000, self.box.block // 8))
            batch, labels = self.draw(trial.pair, count, weight)
            due = [each.take(batch, labels) for each in trials]
            if any(due):
                self.bound = max(self.bound, *(each.scale_at_least() for each in trials))
                if (
                    not self.plan.even
                    and trial.calls > planned >> max(2, self.plan.looks - 1)
                    and self._disappoints(number, trial, planned)
                ):
                    return True
            self.go_on()
            if trial.calls > again:  # and it has not shown enough
                again *= 8
                self._search_again()
            possible = trial.calls + self.left()
            planned = min(planned, possible) if self.plan.even else possible
        self.bound = max(self.bound, *(each.scale_at_least() for each in trials))
        return self.plan.even

    def _on_trial(self, number: int, chosen: Candidate, weight: int, calls: float) -> list[Trial]:
        """The chosen event, and the safest other one on the same releases, since luck may have chosen the first."""
        hunt, swapped = chosen.hunt, chosen.cut.swapped
        pair = (hunt.pair[1], hunt.pair[0]) if swapped else hunt.pair
        tests = [(chosen.event, chosen.mirror, chosen.cut)]
        others = sorted((c for c in hunt.candidates if c is not chosen and c.safe > 0), key=lambda c: -c.safe)
        if others and weight == WHOLE // 2 and others[0].cut.mirror is not None:
            tests.append((others[0].event, others[0].mirror, others[0].cut))
        elif beside := next((found for c in others if (found := c.beside(swapped)) is not None), None):
            tests.append((beside[0], None, beside[1]))
        return [
            Trial(
                pair,
                hunt.distance,
                event,
                mirror,
                cut,
                weight,
                self._alpha(number, place > 0),
                self._delta,
                calls,
                self.plan.looks,
            )
            for place, (event, mirror, cut) in enumerate(tests)
        ]

    def _alpha(self, number: int, standby: bool = False) -> float:
        return (1 - self.confidence) * spent(number, self.plan.rounds, standby)

    @property
    def _delta(self) -> float:
        return float(self.promise.delta)

    def _disappoints(self, number: int, trial: Trial, planned: int) -> bool:
        """Whether another event promises more than this one can still give."""
        if number + 1 == self.plan.rounds:
            return False
        errors, first, later = (self._errors(each) for each in (number, 0, number + 1))
        hoped = trial.estimate() + trial.error() * (1 - errors * math.sqrt(trial.calls / planned))
        best = -math.inf
        for hunt in self.hunts:
            for other in hunt.candidates:
                if other.refined and not other.used:  # a test that begins now has fewer calls and less confidence
                    left = later / math.sqrt(max(planned - trial.calls, 1)) - first / math.sqrt(planned)
                    luck = other.cut.noise * left + 2 * other.cut.error
                    best = max(best, other.promise - scale_of(luck, hunt.distance))
        return best > hoped
