"""One table with a column of every kind, and the law that each of them has after a release, on any engine."""

import datetime as dt
import math

import numpy as np
import pyarrow as pa
from scipy import stats

from metricdp.policies import Policy
from tests.statistical.harness import QUANTILES, check_scale, check_table, half_cells, plausible

ROWS = 100_000
POLICY = """
format = 2
[columns]
row = "keep"
name = "drop"
[columns.place]
type = "place"
columns = ["lat", "lon"]
within = "200 m"
[columns.pay]
type = "number"
within = 1000
[columns.grade]
type = "number"
within = 10
bounds = [0, 100]
[columns.visits]
type = "integer"
within = 2
[columns.day]
type = "time"
within = "5 days"
[columns.at]
type = "time"
within = "1 hour"
[columns.health]
type = "category"
values = ["good", "fair", "poor"]
epsilon = 1
[columns.ill]
type = "category"
parents = {flu = "lungs", cough = "lungs", lungs = "any", burn = "skin", itch = "skin", skin = "any"}
epsilon = 0.5
missing = "refuse"
[columns.smoker]
type = "boolean"
factor = 3
missing = "refuse"
[columns.hobbies]
type = "set"
values = ["chess", "golf", "jazz"]
factor = 3
[columns.load]
type = "series"
length = 4
within = 2
"""
LATITUDE, LONGITUDE = 48.8566, 2.3522
DAY, MOMENT = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)


def policy(rest="", order="public"):
    return Policy.parse(POLICY + rest + f'\n[rows]\norder = "{order}"\n')


def table(rows=ROWS):
    """The same secrets in every row, so that the noise is a sample."""

    def every(value, arrow):
        return pa.array([value], arrow).take(pa.array(np.zeros(rows, dtype=np.int64)))

    return pa.table(
        {
            "row": np.arange(rows),
            "name": every("SECRET", pa.string()),
            "lat": every(LATITUDE, pa.float64()),
            "lon": every(LONGITUDE, pa.float64()),
            "pay": every(5000.5, pa.float64()),
            "grade": every(40.0, pa.float64()),
            "visits": every(7, pa.int32()),
            "day": every(DAY, pa.date32()),
            "at": every(MOMENT, pa.timestamp("us", "UTC")),
            "health": every("good", pa.string()),
            "ill": every("flu", pa.string()),
            "smoker": every(True, pa.bool_()),
            "hobbies": every(["golf"], pa.list_(pa.string())),
            "load": every([1.0, 2.0, 3.0, 4.0], pa.list_(pa.float64())),
        }
    )


def check_laws(released):
    """Every column of the release against its law, from closed forms; a scale 10% off would be noticed."""
    assert released.column_names == [name for name in table(0).column_names if name != "name"]
    _numbers(released)
    _moments(released)
    _finite(released)
    _places(released)


def _laplace(scale):
    return lambda factor: stats.laplace(scale=scale * factor)


def _numbers(released):
    check_scale(np.asarray(released["pay"]) - 5000.5, _laplace(1000 / math.log(2)))
    grades = released["grade"].combine_chunks()
    distance, half = 10 * math.log(2), 5 * math.log(2)  # from null to a number, and from the middle to a bound
    missing = math.expm1(distance - half) / math.expm1(2 * distance - half)
    assert plausible(grades.null_count, len(grades), missing)
    noise = np.asarray(grades.drop_null()) - 40.0
    check_scale(noise, _laplace(10 / math.log(2)), [-39, -20, -10, -4, 0, 4, 10, 20, 40])
    visits = np.clip(np.asarray(released["visits"]) - 7, -9, 9)
    check_table(visits.tolist(), lambda factor: _two_sided(2 ** (-1 / (2 * factor)), 9))
    readings = np.asarray(released["load"].combine_chunks().flatten()).reshape(-1, 4) - [1, 2, 3, 4]
    check_scale(np.abs(readings).max(axis=1), lambda factor: stats.gamma(4, scale=factor * 2 / math.log(2)))


def _two_sided(a, most):
    inner = {k: (1 - a) / (1 + a) * a ** abs(k) for k in range(-most + 1, most)}
    return inner | dict.fromkeys((-most, most), a**most / (1 + a))


def _moments(released):
    law = _laplace(5 / math.log(2))
    days = np.asarray(released["day"].combine_chunks().cast(pa.int32())) - (DAY - dt.date(1970, 1, 1)).days
    check_scale(days, law, half_cells(law(1).ppf(QUANTILES), 1))
    micros = (
        np.asarray(released["at"].combine_chunks().cast(pa.timestamp("us")).cast(pa.int64()))
        - int(MOMENT.timestamp()) * 10**6
    )
    law = _laplace(3600 / math.log(2))
    check_scale(micros / 1e6, law, half_cells(law(1).ppf(QUANTILES), 1))


def _finite(released):
    def response(values, truth, level):
        def law(factor):
            lie = 1 / (len(values) - 1 + math.exp(level / factor))
            return {value: 1 - (len(values) - 1) * lie if value == truth else lie for value in values}

        return law

    check_table(released["health"].to_pylist(), response(["good", "fair", "poor", None], "good", 1))
    check_table(released["smoker"].to_pylist(), response([True, False], True, math.log(3)))
    sets = np.array([[word in row for word in ("chess", "golf", "jazz")] for row in released["hobbies"].to_pylist()])
    check_table(
        (sets ^ [False, True, False]).ravel().tolist(),
        lambda f: {True: 1 / (1 + 3 ** (1 / f)), False: 3 ** (1 / f) / (1 + 3 ** (1 / f))},
    )
    _taxonomy(released["ill"].to_pylist())


def _taxonomy(outcomes):
    """Leaves under one parent lie 2 apart and others 4; all rows of the table are alike, so the weights are its law."""

    def law(factor):
        apart = {"flu": 0, "cough": 2, "burn": 4, "itch": 4}
        rate = EXPONENT * 0.5 / factor
        total = sum(math.exp(-rate * d) for d in apart.values())
        return {leaf: math.exp(-rate * d) / total for leaf, d in apart.items()}

    check_table(outcomes, law)


EXPONENT = 1.0
"""By symmetry every row of the matrix has one sum, so that no half of the level is lost to norming."""


def _places(released):
    radius = 6_371_008.8
    north = np.radians(np.asarray(released["lat"]) - LATITUDE) * radius
    east = np.radians(np.asarray(released["lon"]) - LONGITUDE) * radius * math.cos(math.radians(LATITUDE))
    check_scale(np.hypot(north, east), lambda factor: stats.gamma(2, scale=factor * 200 / math.log(2)))
    assert plausible([(north > 0).sum(), (east > 0).sum(), (north > east).sum()], len(north), [0.5] * 3)
