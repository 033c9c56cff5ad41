# SPDX-License-Identifier: BSD-3-Clause
"""What all collectives of a communicator have in common: how the C function is called and its end is dealt with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, TypeVar

from ._api import NULL, fail, ffi, lib
from .errors import refusal
from .operations import Operation
from .requests import Request

Result = TypeVar("Result")

if TYPE_CHECKING:
    from .context import Context

    Prepared = tuple[Result, tuple[Any, ...], Optional[Operation]]


class Calls:
    """A communicator's handle. Prepared calls are (result, arguments of the C function behind the communicator,
    operation of the program's own or None)."""

    __slots__ = ("__weakref__", "_comm", "_context", "_dropped", "_rank", "_size")

    _comm: Any
    _context: Context
    _rank: int
    _size: int
    _dropped: list[tuple[Any, Any, Optional[Operation]]]

    def _block(self, function: Any, prepared: Prepared[Result]) -> Result:
        result, arguments, operation = prepared
        status = function(self._comm, *arguments)
        if operation is not None and operation.failure is not None:
            raise self._give_up(operation)
        if status < 0:
            fail(status)
        return result

    def _start(self, function: Any, prepared: Prepared[Result]) -> Request[Result]:
        if self._dropped:
            self._look_after_dropped()
        result, arguments, operation = prepared
        box = ffi.new("hocket_request_t **")
        status = function(self._comm, *arguments, box)
        if status < 0:
            fail(status)
        return Request(self, box, result, arguments, operation)

    def _give_up(self, operation: Operation) -> BaseException:
        """After its function has raised; what it has raised."""
        failure = operation.failure
        assert failure is not None
        self.abort(f"the operation by {operation.name} has raised {type(failure).__name__}: {failure}")
        return failure

    def _look_after_dropped(self) -> None:
        for each in list(self._dropped):
            if lib.hocket_test(each[0]) != 1:
                self._dropped.remove(each)

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
        if not 0 <= root < self._size:
            raise refusal(f"{call}: `root` is {root}; the communicator has ranks 0 to {self._size - 1}")
        return root == self._rank
