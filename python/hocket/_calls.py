# SPDX-License-Identifier: BSD-3-Clause
"""What all collectives of a communicator have in common: how the C function is called and its end is dealt with."""

from __future__ import annotations

import operator
import weakref
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union

from ._api import NULL, fail, ffi, lib
from .errors import Status, refusal
from .operations import Operation
from .persistent import PersistentRequest
from .requests import Request

Result = TypeVar("Result")

if TYPE_CHECKING:
    from .context import Context

    Prepared = tuple[Result, tuple[Any, ...], Optional[Operation]]


class Calls:
    """A communicator's handle. Prepared calls are (result, arguments of the C function behind the communicator,
    operation of the program's own or None)."""

    __slots__ = ("__weakref__", "_children", "_comm", "_context", "_dropped", "_key", "_rank", "_requests", "_size")

    _comm: Any
    _context: Context
    _rank: int
    _size: int
    # Requests that nobody has any more: the C request, its arrays, its operation.
    _dropped: list[tuple[Any, Any, Optional[Operation]]]
    # All that somebody has; a reference that has died takes itself out.
    _requests: set[Union[weakref.ref[Request[Any]], weakref.ref[PersistentRequest[Any]]]]
    # Where it comes from, the same on all its ranks: the parent's key and how many children that had before.
    _key: tuple[int, ...]
    _children: int

    def _block(self, function: Any, prepared: Prepared[Result]) -> Result:
        if self._dropped:
            self._look_after_dropped()
        result, arguments, operation = prepared
        if operation is None:
            status = function(self._comm, *arguments)
        else:
            status = self._block_with_own(function, arguments, operation)
        if status < 0:
            fail(status)
        return result

    def _block_with_own(self, function: Any, arguments: tuple[Any, ...], operation: Operation) -> int:
        """By an operation of the program's own. When it has failed, other ranks have to know."""
        try:
            status = function(self._comm, *arguments)
        except BaseException:  # a signal handler's
            if operation.failure is not None:
                self._give_up(operation)
            raise
        if operation.failure is not None:
            raise self._give_up(operation)
        return int(status)

    def _start(self, function: Any, prepared: Prepared[Result]) -> Request[Result]:
        if self._dropped:
            self._look_after_dropped()
        result, arguments, operation = prepared
        box = ffi.new("hocket_request_t **")
        # Made before: whatever is raised after the C function has returned, somebody holds the arrays. In a list, which
        # is empty then: an exception in the operation holds this frame.
        made = [Request(self, box, result, arguments, operation)]
        self._requests.add(weakref.ref(made[0], self._requests.discard))
        status = function(self._comm, *arguments, box)
        if status < 0:
            fail(status)
        return made.pop()

    def _plan(self, function: Any, prepared: Prepared[Result]) -> PersistentRequest[Result]:
        if self._dropped:
            self._look_after_dropped()
        result, arguments, operation = prepared
        box = ffi.new("hocket_request_t **")
        # As in _start().
        made = [PersistentRequest(self, box, result, arguments, operation)]
        self._requests.add(weakref.ref(made[0], self._requests.discard))
        status = function(self._comm, *arguments, box)
        if status < 0:
            fail(status)
        return made.pop()

    def _give_up(self, operation: Operation) -> BaseException:
        """After its function has raised; what it has raised."""
        failure = operation.failure
        assert failure is not None
        if self._comm != NULL:
            self.abort(f"the operation by {operation.name} has raised {type(failure).__name__}: {failure}")
        return failure

    def _look_after_dropped(self) -> None:
        for each in list(self._dropped):
            if lib.hocket_test(each[0]) != Status.IN_PROGRESS:
                lib.hocket_request_free(each[0])  # one that could be started again
            if each[0][0] == NULL:
                self._end_dropped(each)

    def _end_dropped(self, dropped: tuple[Any, Any, Optional[Operation]]) -> None:
        operation = dropped[2]
        if operation is not None and operation.failure is not None:
            self._give_up(operation)
        self._dropped.remove(dropped)

    def _retire_requests(self) -> None:
        """Waits for all that are under way. Those that somebody has keep what they have ended with."""
        for reference in list(self._requests):
            request = reference()
            if request is not None:
                request._retire()
        self._retire_dropped()

    def _retire_dropped(self) -> None:
        while self._dropped:  # where threads and the collection of cycles may append at any time
            first = self._dropped[0]
            status = lib.hocket_wait(first[0])
            lib.hocket_request_free(first[0])
            if first[0][0] != NULL:
                fail(status)
            self._end_dropped(first)

    def abort(self, reason: str) -> None:
        """Breaks the communicator for all its ranks: their calls on it, running and to come, end with an error. For a
        rank that can't take part in what its peers have started. Not collective.

        Args:
            reason: For the log.
        """
        status = lib.hocket_comm_abort(self._comm, reason.encode(errors="replace"))
        if status < 0:
            fail(status)

    def _check_root(self, call: str, root: int) -> bool:
        """Whether this rank is the root."""
        if self._comm == NULL:
            raise refusal(f"{call}: the communicator is freed")
        try:
            root = operator.index(root)
        except TypeError:
            raise TypeError(f"{call}: `root` is {root!r}; pass a rank's number") from None
        if not 0 <= root < self._size:
            raise refusal(f"{call}: `root` is {root}; the communicator has ranks 0 to {self._size - 1}")
        return root == self._rank
