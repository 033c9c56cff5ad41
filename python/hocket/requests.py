# SPDX-License-Identifier: BSD-3-Clause
"""Collectives that have been started and not yet waited for."""

from __future__ import annotations

import types
import warnings
from typing import TYPE_CHECKING, Any, Generator, Generic, Optional, TypeVar

from ._api import NULL, error_of_call, lib

if TYPE_CHECKING:
    from ._calls import Calls
    from .operations import Operation

Result = TypeVar("Result")

# An event loop that has nothing else to do looks so often at once, and then pauses.
_LOOKS = 200
_PAUSE_S = 0.0002


class Request(Generic[Result]):
    """A collective under way. Its arrays are hocket's until it is complete: neither read nor write them.

    The request keeps the arrays alive. It ends by wait(), by test(), by `await request`, or at the end of a
    `with request:`, whose body is other work; if an exception leaves that body, the communicator is given up, since
    other ranks may never come. One that is dropped before it is complete gives a ResourceWarning; its arrays live until
    the communicator has ended it.

    Requests move while their communicator is in a call, or tested, or waited for.
    """

    __slots__ = ("_box", "_communicator", "_failure", "_kept", "_operation", "_result")

    def __init__(self, communicator: Calls, box: Any, result: Result, kept: Any,
                 operation: Optional[Operation]) -> None:
        self._communicator = communicator
        self._box = box
        self._result = result
        self._kept = kept
        self._operation = operation
        self._failure: Optional[BaseException] = None

    def test(self) -> bool:
        """Whether it is complete, without waiting.

        Raises:
            Error: It has failed.
        """
        return self._end(lib.hocket_test(self._box))

    def wait(self) -> Result:
        """Waits until it is complete.

        Returns:
            What the blocking form of the collective returns.

        Raises:
            Error: It has failed.
        """
        self._end(lib.hocket_wait(self._box))
        return self._result

    def _end(self, status: int) -> bool:
        """Whether that was the end. A failure is raised again whenever somebody asks."""
        if self._failure is None and status != 1:
            if status < 0:
                self._failure = error_of_call(status)
            if self._operation is not None and self._operation.failure is not None:
                self._failure = self._communicator._give_up(self._operation)
            self._kept = self._operation = None
        if self._failure is not None:
            raise self._failure
        return status == 0

    def __await__(self) -> Generator[Any, None, Result]:
        import asyncio  # pylint: disable=import-outside-toplevel

        looks = 0
        while not self.test():
            looks += 1
            if looks < _LOOKS:
                yield
            else:
                yield from asyncio.sleep(_PAUSE_S).__await__()
        return self._result

    def __enter__(self) -> Request[Result]:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 _traceback: Optional[types.TracebackType]) -> None:
        if kind is None:
            self.wait()
            return
        if self._box[0] != NULL:
            self._communicator.abort(f"{kind.__name__}: {error}")
            lib.hocket_wait(self._box)

    def __del__(self) -> None:
        box = getattr(self, "_box", None)
        if box is None or box[0] == NULL:
            return
        # May run in any thread and at any time: nothing of the communicator is touched but this list.
        self._communicator._dropped.append((box, self._kept, self._operation))
        warnings.warn("a hocket request was dropped before it was complete; call its wait()", ResourceWarning,
                      stacklevel=2)
