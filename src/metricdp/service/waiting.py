"""Releases of all who wait, drawn together and paid for in one trip to the disk."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

__all__ = ["Waiting"]

Given = TypeVar("Given")
Made = TypeVar("Made")


class Waiting(Generic[Given, Made]):
    """Runs a function over whatever waits, in a thread of its own: while it runs, others gather for its next run.

    Under load, a run takes many requests with it, and what costs the same for one as for a hundred of them (a draw of
    noise, a commit) is paid once. A single request waits for nobody.

    Args:
        work: makes a result of each thing that waits, or an error for it; an error that it raises is everybody's.
        size: of a thing.
        most: the sizes of one run together, so that no run is long; what is larger has a run to itself.

    >>> async def twice():
    ...     waiting = Waiting(lambda numbers: [2 * number for number in numbers], lambda number: 1, 100)
    ...     return await asyncio.gather(*(waiting.run(number) for number in range(4)))
    >>> asyncio.run(twice())
    [0, 2, 4, 6]
    """

    def __init__(
        self, work: Callable[[Sequence[Given]], Sequence[Made | Exception]], size: Callable[[Given], int], most: int
    ) -> None:
        self._work, self._size, self._most = work, size, most
        self._queue: deque[tuple[Given, asyncio.Future[Made]]] = deque()
        self._thread = ThreadPoolExecutor(1, "metricdp release")
        self._running: asyncio.Task[None] | None = None

    async def run(self, given: Given) -> Made:
        """The result of this one, with others or alone."""
        future: asyncio.Future[Made] = asyncio.get_running_loop().create_future()
        self._queue.append((given, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run_all())
        return await future

    def close(self) -> None:
        """Wait for what runs, and end the thread."""
        self._thread.shutdown()

    async def _run_all(self) -> None:
        try:
            while self._queue:
                taken = self._next()
                done = await asyncio.get_running_loop().run_in_executor(
                    self._thread, self._made, [given for given, _ in taken]
                )
                for (_, future), result in zip(taken, done, strict=True):
                    if future.done():  # whoever waited has gone
                        continue
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            self._running = None

    def _next(self) -> list[tuple[Given, asyncio.Future[Made]]]:
        taken = [self._queue.popleft()]
        room = self._most - self._size(taken[0][0])
        while self._queue and (size := self._size(self._queue[0][0])) <= room:
            room -= size
            taken.append(self._queue.popleft())
        return taken

    def _made(self, given: list[Given]) -> Sequence[Made | Exception]:
        try:
            return self._work(given)
        except Exception as error:
            return [error] * len(given)
