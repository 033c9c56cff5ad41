# SPDX-License-Identifier: BSD-3-Clause
"""How communicators end with the program: ranks wait for each other, unless an exception ends one."""

from __future__ import annotations

import atexit
import os
import sys
import types
from typing import TYPE_CHECKING, Any, Optional

from ._api import FAREWELL, error_of_call, ffi, lib
from ._cdef import OPAQUE
from .errors import Error, Status

if TYPE_CHECKING:
    from .communicator import Communicator
    from .context import Context

_contexts: list[Context] = []
_ended_by: Optional[type[BaseException]] = None


def add(context: Context) -> None:
    """Sees to it at the program's end."""
    if not _contexts:
        atexit.unregister(_leave)
        atexit.register(_leave)
        _watch_for_the_end()
    _contexts.append(context)


def remove(context: Context) -> None:
    _contexts.remove(context)


def _watch_for_the_end() -> None:
    """Notes the exception that ends the program. sys.last_type is no help: whoever prints an exception and goes on, as
    test runners and interactive shells do, leaves it, too."""
    shown = sys.excepthook
    if getattr(shown, "is_of_hocket", False):
        return

    def show(kind: type[BaseException], error: BaseException, trace: Optional[types.TracebackType]) -> Any:
        global _ended_by  # pylint: disable=global-statement
        # Nobody has called this function but the interpreter, which has no more lines to run.
        if sys._getframe().f_back is None and not hasattr(sys, "ps1"):
            _ended_by = kind
        return shown(kind, error, trace)

    setattr(show, "is_of_hocket", True)
    sys.excepthook = show


def _leave() -> None:
    """At the program's end: waits for peers that still need what this rank has, and frees its communicators in an order
    that is the same on all their ranks. A program that ends by an exception gives them up instead."""
    failures = []
    here = [context for context in _contexts if context._owner == os.getpid()]
    for communicator in sorted((each for context in here for each in context._communicators),
                               key=lambda each: each._key):
        try:
            if _ended_by is not None:
                communicator.abort(f"its program ends by {_ended_by.__name__}")
            elif communicator.size > 1:
                failure = _say_farewell(communicator)
                if failure is not None:
                    failures.append(f"rank {communicator.rank} of {communicator.size}, at its program's end: {failure}")
            communicator._retire_requests()
            communicator.free()
        except Exception as error:  # pylint: disable=broad-exception-caught
            communicator.abort(f"its program has ended: {error}")
    if failures:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        print(*(f"hocket: {failure}" for failure in failures), sep="\n", file=sys.stderr, flush=True)
        _end_badly()


def _say_farewell(communicator: Communicator) -> Optional[Error]:
    """A call that no program makes: a rank that still waits for this one in a collective gets an error that names both.
    Started and blocking calls meet only their like, so there is one of each.

    Returns:
        What has gone wrong that no call of the program has told it."""
    length = len(FAREWELL)
    received = [ffi.new("char[]", communicator.size * length) for _ in range(2)]
    request = ffi.new("hocket_request_t **")
    kind = OPAQUE | length
    status = lib.hocket_allgather_start(communicator._comm, FAREWELL, received[0], 1, kind, request)
    if status < 0:
        return error_of_call(status) if status != Status.BROKEN else None
    status = lib.hocket_allgather(communicator._comm, FAREWELL, received[1], 1, kind)
    failure = error_of_call(status) if status < 0 else None
    status = lib.hocket_wait(request)
    return failure or (error_of_call(status) if status < 0 else None)


class _BadEnd:
    """Stands for stdout while the interpreter ends. When that can't be flushed, Python's exit status is 120; that is
    the one way from here to an exit status other than 0 that leaves out nobody's functions of atexit."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def flush(self) -> None:
        if self._stream is not None:
            self._stream.flush()
        if sys._getframe().f_back is None:  # the interpreter itself, after all functions of atexit
            sys.unraisablehook = lambda _: None  # it has been told
            raise SystemExit(1)

    closed = False


def _end_badly() -> None:
    sys.stdout = _BadEnd(sys.stdout)
