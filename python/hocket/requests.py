# SPDX-License-Identifier: BSD-3-Clause
"""Collectives that have been started and not yet waited for."""

from __future__ import annotations

import collections
import types
import warnings
from typing import TYPE_CHECKING, Any, Callable, Generator, Generic, NoReturn, Optional, TypeVar

from ._api import NULL, error_of_call, fail, lib
from .errors import Error, Status, not_copied

if TYPE_CHECKING:
    from ._calls import Calls
    from .operations import Operation

Result = TypeVar("Result")

# An event loop that has nothing else to do looks so often at once, and then pauses.
_LOOKS = 200
_PAUSE_S = 0.0002
_IN_PROGRESS = int(Status.IN_PROGRESS)


def looked_at(is_over: Callable[[], bool]) -> Generator[Any, None, None]:
    """For `await`: looks until it is over, and lets an event loop do other things in between."""
    import asyncio  # pylint: disable=import-outside-toplevel

    looks = 0
    while not is_over():
        looks += 1
        if looks < _LOOKS:
            yield
        else:
            yield from asyncio.sleep(_PAUSE_S).__await__()


class Request(Generic[Result]):
    """A collective under way. Its arrays are hocket's until it is complete: neither read nor write them.

    The request keeps the arrays alive. It ends by wait(), by test(), by `await request`, or at the end of a
    `with request:`, whose body is other work; if an exception leaves that body, the communicator is given up, since
    other ranks may never come. One that is dropped before it is complete gives a ResourceWarning; its arrays live until
    the communicator has ended it.

    Requests move while their communicator is in a call, or tested, or waited for. An exception of a signal handler may
    interrupt test() and wait(); they can be called again.
    """

    __slots__ = ("__weakref__", "_box", "_communicator", "_failure", "_kept", "_operation", "_result", "_status")

    def __init__(self, communicator: Calls, box: Any, result: Result, kept: Any,
                 operation: Optional[Operation]) -> None:
        self._communicator = communicator
        self._box = box
        self._result = result
        self._kept = kept
        self._operation = operation
        self._failure: Optional[BaseException] = None
        # What the library has said last. Only once does it say more than that.
        self._status = collections.deque((_IN_PROGRESS,), 1)

    def test(self) -> bool:
        """Whether it is complete, without waiting.

        Raises:
            Error: It has failed.
        """
        return self._end(lib.hocket_test)

    def wait(self) -> Result:
        """Waits until it is complete.

        Returns:
            What the blocking form of the collective returns.

        Raises:
            Error: It has failed.
        """
        self._end(lib.hocket_wait)
        return self._result

    def _end(self, function: Any) -> bool:
        """Whether that was the end. A failure is raised again whenever somebody asks."""
        is_over = self._ask(function)
        if self._failure is not None:
            raise self._failure
        return is_over

    def _ask(self, function: Any) -> bool:
        """Asks the library, unless it has said how this ends, and does what is due at the end."""
        if self._status[0] == _IN_PROGRESS:
            # In one step for the interpreter: no signal handler can run before the answer is kept.
            self._status.extend(map(function, (self._box,)))
            if self._status[0] == _IN_PROGRESS:
                return False
        status = self._status[0]
        if self._box[0] != NULL:  # refused: it goes on
            self._status.append(_IN_PROGRESS)
            fail(status)
        if self._kept is not None:
            if status < 0 and self._failure is None:
                self._failure = error_of_call(status)
            if self._operation is not None and self._operation.failure is not None:
                self._failure = self._communicator._give_up(self._operation)
            self._kept = self._operation = None
        return True

    def _retire(self) -> None:
        """Waits, and keeps the failure for who asks."""
        if self._box[0] != NULL:
            self._ask(lib.hocket_wait)

    def __reduce__(self) -> NoReturn:
        not_copied(self)

    def __await__(self) -> Generator[Any, None, Result]:
        yield from looked_at(self.test)
        return self._result

    def __enter__(self) -> Request[Result]:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 _traceback: Optional[types.TracebackType]) -> None:
        if kind is None:
            self.wait()
            return
        if self._box[0] != NULL:
            try:
                self._communicator.abort(f"{kind.__name__}: {error}")
                self._retire()
            except Error:
                pass  # what ends the body says more

    def __del__(self) -> None:
        box = getattr(self, "_box", None)
        if box is None or box[0] == NULL and (self._operation is None or self._operation.failure is None):
            return
        # May run in any thread and at any time: nothing of the communicator is touched but this list.
        self._communicator._dropped.append((box, self._kept, self._operation))
        warnings.warn("a hocket request was dropped before it was complete; call its wait()", ResourceWarning,
                      stacklevel=2)
