"""Those who wait are served together, in order, and nobody gets what is another's."""

import asyncio
import threading

from metricdp.service.waiting import Waiting


def gathered(waiting, numbers):
    async def all_of_them():
        return await asyncio.gather(*(waiting.run(number) for number in numbers), return_exceptions=True)

    try:
        return asyncio.run(all_of_them())
    finally:
        waiting.close()


def test_whoever_comes_while_a_run_is_under_way_is_in_the_next_one():
    runs, gate = [], threading.Event()

    def work(numbers):
        runs.append(list(numbers))
        assert gate.wait(60)
        return [number * 10 for number in numbers]

    async def story():
        first = asyncio.create_task(waiting.run(0))
        while not runs:
            await asyncio.sleep(0.001)
        rest = [asyncio.create_task(waiting.run(number)) for number in range(1, 8)]
        await asyncio.sleep(0)
        gate.set()
        return [await one for one in (first, *rest)]

    waiting = Waiting(work, lambda number: 2, 6)
    try:
        assert asyncio.run(story()) == [number * 10 for number in range(8)]
    finally:
        waiting.close()
    assert runs == [[0], [1, 2, 3], [4, 5, 6], [7]]


def test_what_is_larger_than_a_run_has_one_to_itself():
    runs = []

    def work(numbers):
        runs.append(list(numbers))
        return numbers

    assert gathered(Waiting(work, lambda number: number, 10), [3, 50, 4, 5]) == [3, 50, 4, 5]
    assert runs == [[3], [50], [4, 5]]


def test_an_error_is_its_own_and_a_failed_run_is_everybodys():
    def some(numbers):
        return [ValueError(str(number)) if number % 2 else number for number in numbers]

    def fails(numbers):
        raise RuntimeError("all")

    found = gathered(Waiting(some, lambda number: 1, 10), range(4))
    assert [str(one) for one in found] == ["0", "1", "2", "3"]
    assert [type(one) for one in found] == [int, ValueError, int, ValueError]
    assert {type(one) for one in gathered(Waiting(fails, lambda number: 1, 10), range(4))} == {RuntimeError}


def test_whoever_has_gone_keeps_nobody_waiting():
    async def story():
        tasks = [asyncio.create_task(waiting.run(number)) for number in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    waiting = Waiting(lambda numbers: numbers, lambda number: 1, 10)
    try:
        found = asyncio.run(story())
    finally:
        waiting.close()
    assert (found[0], found[2]) == (0, 2)
    assert isinstance(found[1], asyncio.CancelledError)
