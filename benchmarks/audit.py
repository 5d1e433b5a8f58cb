"""The audit beside DP-Sniper's published numbers, on its own gallery, and on the mechanisms of peers.

    make bench-audit                                # all of it, an hour
    python benchmarks/audit.py sniper               # the twenty mechanisms of DP-Sniper
    python benchmarks/audit.py gallery              # every broken mechanism
    python benchmarks/audit.py sound --samples 1e6  # sound mechanisms, with fewer releases
    python benchmarks/audit.py sharp                # how near the bound comes to the truth
    python benchmarks/audit.py peers                # other libraries, as installed

DP-Sniper's numbers are those of its authors' reference results (logistic regression, confidence 0.9, 2 * 10^8 final
draws on all cores of their machine): the lower bound, and the seconds of search and final estimate together. They are
printed, not measured here. Ours are measured here, search included, with one process: how long it takes until the bound
is theirs. One may look at any moment, since our bounds stand whenever an audit stops. The bounds at 0.9 and 0.999 leave
bits and digits of floats out of sight, as DP-Sniper's features do; --machine looks at them too.

What is said of peers is what was found by this program with the version that is named: the claim, the pair, the event.
privkit and mldp-text ask for numpy before 2, and privkit for deep learning besides, so they go into environments of
their own: pip install metricdp privkit --no-deps, and what `import privkit` asks for.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import json
import platform
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import metricdp as mdp
from metricdp.audit import Evidence, rows
from metricdp.audit.audit import run
from metricdp.audit.gallery import DP_SNIPER, broken, sound
from metricdp.audit.plan import Plan

m = mdp.metrics

# eth-sri/dp-sniper, eval_sp2021/reference-results/dd_search_reg_data.log: eps_lcb, and the seconds of both of its steps
PUBLISHED = {
    "LaplaceMechanism": (0.096804, 21.41),
    "TruncatedGeometricMechanism": (0.115564, 19.47),
    "NoisyHist1": (0.097794, 37.66),
    "NoisyHist2": (4.602022, 40.62),
    "ReportNoisyMax1": (0.092254, 61.82),
    "ReportNoisyMax2": (0.097503, 58.42),
    "ReportNoisyMax3": (0.247816, 62.39),
    "ReportNoisyMax4": (0.346343, 62.89),
    "SparseVectorTechnique1": (0.085798, 125.98),
    "SparseVectorTechnique2": (0.085934, 159.92),
    "SparseVectorTechnique3": (0.171572, 160.34),
    "SparseVectorTechnique4": (0.168683, 130.49),
    "SparseVectorTechnique5": (1.761185, 58.89),
    "SparseVectorTechnique6": (0.272041, 95.52),
    "Rappor": (0.292985, 144.85),
    "OneTimeRappor": (0.597778, 89.11),
    "LaplaceParallel": (0.034953, 104.45),
    "SVT34Parallel": (0.261038, 363.92),
    "PrefixSum": (0.504012, 96.98),
    "NumericalSVT": (0.034324, 151.69),
}
MOST_RELEASES = 1_600_000_000
"""Releases that each of the twenty has at most, search included; the audit ends as soon as its bound is the published
one, or where it has used as many processor seconds as DP-Sniper's printed ones. One rule for all of them."""

LOOKS = 7
"""Moments that a test plans its bound for, each after twice as many releases as the one before it."""


def sniper(only: list[str], quick: bool, bits: bool, through: int | None) -> Iterator[dict[str, Any]]:
    """The twenty, at confidence 0.9 and 0.999 on paper, and where ``bits``, at 0.999 with the machine's bits.

    With ``through``, an audit takes so many releases, whatever it has shown before.
    """
    for exhibit in DP_SNIPER:
        if only and exhibit.name not in only:
            continue
        bound, seconds = PUBLISHED[exhibit.name]
        level = float(exhibit.claim.metric.level)
        row: dict[str, Any] = {"mechanism": exhibit.name, "theirs": bound, "their seconds": seconds}
        runs = (("0.9", 0.9, False), ("0.999", 0.999, False), ("machine", 0.999, True))
        for name, confidence, machine in runs[: 1 if quick else 3 if bits else 2]:
            begin = time.process_time()

            def enough(done: int, planned: int, shown: float, begin: float = begin) -> bool:
                return shown * level >= bound or time.process_time() - begin > seconds  # noqa: B023

            evidence = run(
                exhibit.box(),
                exhibit.pairs,
                exhibit.claim,
                confidence,
                through or MOST_RELEASES,
                None,
                (),
                None if through else enough,
                Plan(machine=machine, looks=1 if through else LOOKS),
            )
            row[name] = round(evidence.scale_at_least * level, 4)
            row[f"{name} seconds"] = round(evidence.seconds, 1)
            row[f"{name} processor seconds"] = round(time.process_time() - begin, 1)
            row[f"{name} releases"] = evidence.samples
            row[f"{name} event"] = (evidence.event or "")[:60]
            row[f"{name} at or above"] = evidence.scale_at_least * level >= bound
        yield row


def gallery(only: list[str]) -> Iterator[dict[str, Any]]:
    """Every broken mechanism."""
    for exhibit in broken():
        if not only or exhibit.name in only:
            yield row_of(exhibit.name, exhibit.fault, exhibit.audit(time_limit=55))


def innocent(only: list[str], samples: int) -> Iterator[dict[str, Any]]:
    """Every sound mechanism."""
    for exhibit in sound():
        if not only or exhibit.name in only:
            yield row_of(exhibit.name, str(exhibit.claim), exhibit.audit(samples))


def row_of(name: str, about: str, evidence: Evidence) -> dict[str, Any]:
    return {
        "mechanism": name,
        "about": about,
        "scale at least": round(evidence.scale_at_least, 4),
        "holds": evidence.holds,
        "draws": evidence.samples,
        "seconds": round(evidence.seconds, 1),
        "event": (evidence.event or "")[:80],
    }


def sharp(only: list[str], samples: int) -> Iterator[dict[str, Any]]:
    """How near the bound comes to 1 on mechanisms whose promise is tight; ``samples`` of both secrets together."""
    cases: list[tuple[str, Callable[[float], tuple[Any, tuple[Any, Any]]]]] = [
        ("laplace", lambda d: (mdp.laplace(m.absolute()), (0.0, d))),
        ("geometric", lambda d: (mdp.geometric("0.1" * m.absolute()), (0, round(10 * d)))),
        ("response", lambda d: (mdp.randomized_response([0, 1], d), (0, 1))),
        ("plane", lambda d: (mdp.laplace(m.euclidean(), dim=2), ((0.0, 0.0), (d, 0.0)))),
        ("sphere", lambda d: (mdp.laplace(m.great_circle() / 1000), ((0.0, 0.0), (0.0, d / 111.19492664)))),
    ]
    for name, make in cases:
        if only and name not in only:
            continue
        for distance in (0.1, 0.3, 1.0, 3.0, 10.0):
            mechanism, pair = make(distance)
            row: dict[str, Any] = {"mechanism": name, "distance": distance}
            for confidence in (0.9, 0.99, 0.999):
                begin = time.process_time()
                evidence = mdp.audit.audit(mechanism, [pair], samples=samples, confidence=confidence)
                row[str(confidence)] = round(evidence.scale_at_least, 4)
                row[f"{confidence} seconds"] = round(evidence.seconds, 1)
                row[f"{confidence} processor seconds"] = round(time.process_time() - begin, 1)
            yield row


# Peers


def opendp_boxes(dp: Any) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    """Its Laplace measurement on floats and on integers, scale 1, on vectors of one record each."""
    dp.enable_features("contrib")
    for name, kind, domain in (
        ("make_laplace, float", float, dp.atom_domain(T=float, nan=False)),
        ("make_laplace, int", int, dp.atom_domain(T=int)),
    ):
        measure = dp.m.make_laplace(dp.vector_domain(domain), dp.l1_distance(T=kind), scale=1.0)

        def release(secrets: Any, measure: Any = measure, kind: type = kind) -> Any:
            return np.array(measure([kind(secret) for secret in secrets.tolist()]))

        yield name, rows(release, block=1 << 13), m.absolute(), [(kind(0), kind(1))]


def diffprivlib_boxes(_: Any) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    """Its mechanisms for one number, epsilon 1, sensitivity 1."""
    mechanisms = importlib.import_module("diffprivlib.mechanisms")
    yield "Laplace", mechanisms.Laplace(epsilon=1, sensitivity=1).randomise, m.absolute(), [(0.0, 1.0)]
    yield "Geometric", mechanisms.Geometric(epsilon=1, sensitivity=1).randomise, m.absolute(), [(0, 1)]
    bounded = mechanisms.LaplaceBoundedDomain(epsilon=1, sensitivity=1, lower=0, upper=1)
    yield "LaplaceBoundedDomain", bounded.randomise, m.absolute(), [(0.0, 1.0), (0.0, 0.5)]
    truncated = mechanisms.GeometricTruncated(epsilon=1, sensitivity=1, lower=0, upper=5)
    yield "GeometricTruncated", truncated.randomise, m.absolute(), [(0, 1)]
    yield "Binary", mechanisms.Binary(epsilon=1, value0="a", value1="b").randomise, m.discrete(), [("a", "b")]
    staircase = mechanisms.Staircase(epsilon=1, sensitivity=1)
    yield "Staircase", staircase.randomise, m.absolute(), [(0.0, 1.0)]
    snapping = mechanisms.Snapping(epsilon=1, sensitivity=1, lower=-10, upper=10)
    yield "Snapping", snapping.randomise, m.absolute(), [(0.0, 1.0)]


def qif_boxes(qif: Any) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    """Its planar Laplace noise, epsilon 1, and its geometric channel."""

    def release(secret: Any) -> Any:
        noise = qif.mechanism.geo_ind.planar_laplace_sample(1.0)
        return secret[0] + noise.x, secret[1] + noise.y

    yield "planar_laplace_sample", release, m.euclidean(), [((0.0, 0.0), (1.0, 0.0))]


def ours(_: Any) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    """Ours, beside them."""
    yield "laplace", mdp.laplace(m.absolute()), None, [(0.0, 1.0)]
    yield "geometric", mdp.geometric(m.absolute()), None, [(0, 1)]
    yield "laplace in the plane", mdp.laplace(m.euclidean(), dim=2), None, [((0.0, 0.0), (1.0, 0.0))]
    yield "randomized_response", mdp.randomized_response("ab", 1), None, [("a", "b")]


def mldp_boxes(library: Any) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    """Its mechanisms for words, epsilon 1, on 21 words that lie on a line, 2 apart."""
    words = [f"word{number}" for number in range(21)]
    vectors = importlib.import_module("gensim.models").KeyedVectors(2)
    vectors.add_vectors(words, np.array([[2 * number, 0] for number in range(21)], dtype=np.float32))
    claim = m.matrix(words, [[2 * abs(one - two) for two in range(21)] for one in range(21)])
    pairs = [("word0", "word1"), ("word10", "word11")]
    for name in ("multivariate_calibrated", "vickrey", "tem", "mahalanobis"):
        mechanism = library.get_mechanism(
            name, epsilon=1.0, embedding_matrix=vectors, dim=2, use_faiss=False, vocab=set(words)
        )
        yield name, mechanism.replace_word, claim, pairs


def privkit_boxes(library: Any) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    """Its planar Laplace noise, epsilon 0.01 for a metre, at three places, for secrets 0.0009 degrees apart."""
    noise = library.PlanarLaplace(epsilon=0.01)

    def release(secret: Any) -> Any:
        return noise.get_obfuscated_point(*secret)[:2]

    step = 0.0009
    for where, pair in (
        ("60° N, a pair north and south", ((60.0, 10.0), (60.0 + step, 10.0))),
        ("48° N, a pair east and west", ((48.0, 2.0), (48.0, 2.0 + step))),
        ("0.1° N, a pair north and south", ((0.1, 10.0), (0.1 + step, 10.0))),
    ):
        yield f"PlanarLaplace at {where}", release, m.great_circle() / 100, [pair]


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Empty modules in place of packages that are not installed.

    A peer may import face detectors and tensor libraries which its noise does not call and which do not install here.
    """

    NAMES = (
        "deepface",
        "open3d",
        "osmnx",
        "pyproj",
        "retinaface",
        "skimage",
        "torch",
        "tf_keras",
        "keras",
        "tensorflow",
        "cv2",
    )

    def __enter__(self) -> Absent:
        sys.meta_path.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Last in the row: nobody else has it."""
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in self.NAMES else None

    def create_module(self, spec: Any) -> types.ModuleType:
        """A module whose every name is an empty class."""
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda name: type(name, (), {})  # type: ignore[method-assign]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


PEERS: dict[str, tuple[str, Callable[[Any], Iterator[tuple[str, Any, Any, list[Any]]]]]] = {
    "metricdp": ("metricdp", ours),
    "opendp": ("opendp.prelude", opendp_boxes),
    "diffprivlib": ("diffprivlib", diffprivlib_boxes),
    "qif": ("qif", qif_boxes),
    "mldp-text": ("mldp_text", mldp_boxes),
    "privkit": ("privkit", privkit_boxes),
}


def peers(only: list[str], seconds: float) -> Iterator[dict[str, Any]]:
    """What each claims, what was found, in how long."""
    for distribution, (module, boxes) in PEERS.items():
        if only and distribution not in only:
            continue
        try:
            version = importlib.metadata.version(distribution)
            with Absent() if distribution == "privkit" else contextlib.nullcontext():
                library = importlib.import_module(module)
        except Exception as error:
            yield {"library": distribution, "version": "", "mechanism": f"not here: {error!r}"[:90]}
            continue
        for name, box, metric, pairs in boxes(library):
            try:
                evidence = mdp.audit.audit(box, pairs, metric, time_limit=seconds)
            except Exception as error:
                yield {"library": distribution, "version": version, "mechanism": name, "found": repr(error)[:80]}
                continue
            yield {
                "library": distribution,
                "version": version,
                "mechanism": name,
                "claims": f"{evidence.metric}-private",
                "scale at least": round(evidence.scale_at_least, 3),
                "found": "nothing against it" if evidence.holds else (evidence.event or "")[:70],
                "pair": str(evidence.pair),
                "draws": evidence.samples,
                "seconds": round(evidence.seconds, 1),
            }


def show(title: str, table: Iterator[dict[str, Any]], as_json: bool) -> list[dict[str, Any]]:
    """Print rows as they come."""
    if not as_json:
        print(f"\n{title}")
    found = []
    for row in table:
        found.append(row)
        text = json.dumps(row) if as_json else "  ".join(f"{key}: {value}" for key, value in row.items())
        print(text, flush=True)
    return found


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["sniper", "gallery", "sound", "sharp", "peers"])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--samples", type=float, default=1e7)
    parser.add_argument("--quick", action="store_true", help="DP-Sniper's confidence of 0.9 alone")
    parser.add_argument("--machine", action="store_true", help="DP-Sniper's mechanisms once more, bits of floats too")
    parser.add_argument(
        "--through", type=float, help="DP-Sniper's mechanisms with so many releases, whatever was shown"
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="for each peer's mechanism")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    begin = time.perf_counter()
    if not options.json:
        print(f"metricdp {mdp.__version__}, numpy {np.__version__}, Python {platform.python_version()}")
    if options.what in (None, "sniper"):
        rows_ = show(
            "The twenty mechanisms of DP-Sniper",
            sniper(options.only, options.quick, options.machine, int(options.through) if options.through else None),
            options.json,
        )
        for name in ("0.9", "0.999", "machine"):
            if any(f"{name} at or above" not in row for row in rows_):
                continue
            ratios = [row[f"{name} seconds"] / row["their seconds"] for row in rows_]
            busy = [row[f"{name} processor seconds"] / row["their seconds"] for row in rows_]
            print(
                f"{name}: at or above on {sum(row[f'{name} at or above'] for row in rows_)} of {len(rows_)}; ", end=""
            )
            print(f"seconds, ours over theirs, on average {sum(ratios) / max(len(ratios), 1):.3f}; ", end="")
            print(f"processor seconds over theirs {sum(busy) / max(len(busy), 1):.3f}")
    if options.what in (None, "gallery"):
        rows_ = show("Broken mechanisms", gallery(options.only), options.json)
        slowest = max((row["seconds"] for row in rows_), default=0)
        print(f"caught: {sum(not row['holds'] for row in rows_)} of {len(rows_)}; slowest {slowest} s")
    if options.what in (None, "sound"):
        rows_ = show("Sound mechanisms", innocent(options.only, int(options.samples)), options.json)
        print(f"accused: {sum(not row['holds'] for row in rows_)} of {len(rows_)}")
    if options.what in (None, "sharp"):
        show("How near to the truth", sharp(options.only, int(2 * options.samples)), options.json)
    if options.what in (None, "peers"):
        show("Peers", peers(options.only, options.seconds), options.json)
    if not options.json:
        print(f"\n{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
