# SPDX-License-Identifier: BSD-3-Clause
"""Collectives that are made ready once and started again and again."""

from __future__ import annotations

import collections
import types
import warnings
from typing import TYPE_CHECKING, Any, Generator, Generic, NoReturn, Optional, TypeVar

from ._api import NULL, check, error_of_call, ffi, lib
from .errors import Error, Status, not_copied, refusal
from .requests import looked_at

if TYPE_CHECKING:
    from ._calls import Calls
    from .operations import Operation

Result = TypeVar("Result")

_IN_PROGRESS = int(Status.IN_PROGRESS)
_FREED = "the call has been freed; make it ready anew"


class PersistentRequest(Generic[Result]):
    """A collective that a loop calls in each round, with the same arrays: `comm.allreduce_init(mine, total)`.

    start() begins it, and wait() or test() ends it; then it may be started again. Between a start and its end the
    arrays are hocket's; at other times they are the program's, which fills them in place (`mine[:] = ...`), for an
    array that it puts in their stead is not looked at. All ranks start the same calls in the same order, between the
    communicator's other collectives; those that have been started may be waited for in any order. There may be any
    number of them.

    free() gives it up, also at the end of a `with request:`, which waits for it before; if an exception leaves that
    body while it is under way, the communicator is given up, since other ranks may never come. One that is dropped is
    freed by a later call of its communicator; if it is under way, that gives a ResourceWarning. A communicator is freed
    when none of its calls is under way; they can't be started then.

    Requests move while their communicator is in a call, or tested, or waited for. An exception of a signal handler may
    interrupt test() and wait(); they can be called again.
    """

    __slots__ = ("__weakref__", "_box", "_communicator", "_kept", "_may_be_under_way", "_operation", "_result", "_said")

    def __init__(self, communicator: Calls, box: Any, result: Result, kept: Any,
                 operation: Optional[Operation]) -> None:
        self._communicator = communicator
        self._box = box
        self._result = result
        self._kept = kept
        self._operation = operation
        self._may_be_under_way = False
        # What the library has said last. It says only once how a call has failed.
        self._said = collections.deque((0,), 1)

    def start(self) -> PersistentRequest[Result]:
        """Begins the call.

        Returns:
            The request itself.

        Raises:
            InvalidArgument: It is under way, or has been freed, or its communicator has.
            Error: The communicator is of no use any more.
        """
        if self._box[0] == NULL:
            raise refusal(f"start: {_FREED}")
        was_under_way, self._may_be_under_way = self._may_be_under_way, True
        status = lib.hocket_start(self._box[0])
        if status < 0:
            self._may_be_under_way = was_under_way
            check(status)
        return self

    def test(self) -> bool:
        """Whether it is complete, without waiting. One that has not been started is.

        Raises:
            Error: The call has failed.
        """
        return self._end(lib.hocket_test)

    def wait(self) -> Result:
        """Waits until the call is complete.

        Returns:
            What the blocking form of the collective returns, the same array each time.

        Raises:
            Error: The call has failed.
        """
        self._end(lib.hocket_wait)
        return self._result

    def free(self) -> None:
        """Gives it up. Not collective. A freed one may be freed again.

        Raises:
            InvalidArgument: It is under way.
        """
        check(lib.hocket_request_free(self._box))
        self._kept = None

    @property
    def is_freed(self) -> bool:
        """Whether free() has given it up."""
        return bool(self._box[0] == NULL)

    def _end(self, function: Any) -> bool:
        """Whether that was the end of what has been started."""
        if self._said[0] >= 0:
            # In one step for the interpreter: no signal handler can run before the answer is kept.
            self._said.extend(map(function, (self._box,)))
        status = self._said[0]
        if status == _IN_PROGRESS:
            return False
        failure: Optional[BaseException] = error_of_call(status) if status < 0 else None
        self._may_be_under_way = False
        self._said.append(0)
        if self._operation is not None and self._operation.failure is not None:
            failure = self._communicator._give_up(self._operation)
        if failure is not None:
            raise failure
        return True

    def _retire(self) -> None:
        """Waits, and is freed: its communicator ends. A failure is kept for who asks."""
        if self._box[0] == NULL:
            return
        if self._said[0] >= 0:
            self._said.extend(map(lib.hocket_wait, (self._box,)))
        self._may_be_under_way = False
        lib.hocket_request_free(self._box)

    def __reduce__(self) -> NoReturn:
        not_copied(self)

    def __await__(self) -> Generator[Any, None, Result]:
        yield from looked_at(self.test)
        return self._result

    def __enter__(self) -> PersistentRequest[Result]:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 _traceback: Optional[types.TracebackType]) -> None:
        if self._box[0] == NULL:
            return
        if kind is None:
            self.wait()
            self.free()
            return
        try:
            if self._may_be_under_way and lib.hocket_test(self._box) == _IN_PROGRESS:
                self._communicator.abort(f"{kind.__name__}: {error}")
            self._retire()
        except Error:
            pass  # what ends the body says more

    def __del__(self) -> None:
        box = getattr(self, "_box", None)
        if box is None or box[0] == NULL:
            return
        if self._communicator._comm == NULL:
            lib.hocket_request_free(box)
            return
        # May run in any thread and at any time: nothing of the communicator is touched but this list.
        self._communicator._dropped.append((box, self._kept, self._operation))
        if self._may_be_under_way:
            warnings.warn("a hocket request was dropped before it was complete; call its wait()", ResourceWarning,
                          stacklevel=2)


def start_all(*requests: PersistentRequest[Any]) -> None:
    """Starts them one after the other, in this order, which is the same on all ranks.

    Raises:
        InvalidArgument: One of them can't be started, or is there twice: none has been.
        Error: A communicator is of no use any more.
    """
    for number, request in enumerate(requests):
        if not isinstance(request, PersistentRequest):
            raise refusal(f"start_all: argument {number} is of type {type(request).__name__}, and none was started; "
                          "pass persistent requests, start_all(*requests)")
        if request._box[0] == NULL:
            raise refusal(f"start_all: request {number} can't be started, and none was: {_FREED}")
    handles = ffi.new("hocket_request_t *[]", [request._box[0] for request in requests])
    before = [request._may_be_under_way for request in requests]
    for request in requests:
        request._may_be_under_way = True
    status = lib.hocket_start_all(len(requests), handles)
    if status == Status.INVALID_ARGUMENT:
        for request, was_under_way in zip(requests, before):
            request._may_be_under_way = was_under_way
    check(status)
