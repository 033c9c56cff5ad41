# SPDX-License-Identifier: BSD-3-Clause
"""Collective communication for Linux machines: MPI programs under hocket, and collectives on NumPy arrays without one.

    import hocket
    import numpy as np

    comm = hocket.world()                      # the ranks that `hocket run -n 8 python script.py` has started
    total = comm.allreduce(np.ones(3))         # array([8., 8., 8.])

What runs commands (exec_args, bench, ...) needs neither the library nor NumPy; the library is loaded when something of
it is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._library import command
from .commands import exec_args, exec_environment, run_args
from .errors import (Broken, Error, InvalidArgument, Mismatch, NoMemory, NotSupported, PeerFailed, Status, SystemFailed,
                     TimedOut)
from .results import (BenchRow, CallCounts, Statistics, bench, read_bench, read_statistics)

if TYPE_CHECKING:
    import numpy

    from ._buffers import IN_PLACE
    from .communicator import Communicator
    from .context import Context, default_context, world
    from .counting import count_calls, counter_descriptions, counters
    from .memory import empty, zeros
    from .neighbourhoods import Neighbourhood
    from .operations import Operation
    from .persistent import PersistentRequest, start_all
    from .requests import Request

    __version__: str
    SUM: Operation
    PROD: Operation
    MIN: Operation
    MAX: Operation
    LAND: Operation
    LOR: Operation
    LXOR: Operation
    BAND: Operation
    BOR: Operation
    BXOR: Operation
    MINLOC: Operation
    MAXLOC: Operation
    SUM_SATURATING: Operation
    FLOAT_INT: numpy.dtype[numpy.void]
    DOUBLE_INT: numpy.dtype[numpy.void]
    LONG_INT: numpy.dtype[numpy.void]
    TWO_INT: numpy.dtype[numpy.void]
    SHORT_INT: numpy.dtype[numpy.void]
    LONG_DOUBLE_INT: numpy.dtype[numpy.void]
    TWO_FLOAT: numpy.dtype[numpy.void]
    TWO_DOUBLE: numpy.dtype[numpy.void]
    LOGICAL4: numpy.dtype[numpy.void]

# What loads the library -> the module that has it.
_WITH_LIBRARY = {
    "Communicator": "communicator", "Context": "context", "IN_PLACE": "_buffers",
    "Neighbourhood": "neighbourhoods", "Operation": "operations", "PersistentRequest": "persistent",
    "Request": "requests", "count_calls": "counting", "counter_descriptions": "counting", "counters": "counting",
    "default_context": "context", "empty": "memory", "start_all": "persistent", "world": "context", "zeros": "memory",
}
_OPERATIONS = (
    "SUM", "PROD", "MIN", "MAX", "LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR", "MINLOC", "MAXLOC", "SUM_SATURATING",
)
_RECORDS = (
    "FLOAT_INT", "DOUBLE_INT", "LONG_INT", "TWO_INT", "SHORT_INT", "LONG_DOUBLE_INT", "TWO_FLOAT", "TWO_DOUBLE",
    "LOGICAL4",
)

# Written out for type checkers.
__all__ = [
    "BenchRow", "Broken", "CallCounts", "Error", "InvalidArgument", "Mismatch", "NoMemory", "NotSupported",
    "PeerFailed", "Statistics", "Status", "SystemFailed", "TimedOut", "bench", "command", "exec_args",
    "exec_environment", "read_bench", "read_statistics", "run_args", "version",
    "Communicator", "Context", "IN_PLACE", "Neighbourhood", "Operation", "PersistentRequest", "Request",
    "count_calls", "counter_descriptions", "counters", "default_context", "empty", "start_all", "world", "zeros",
    "SUM", "PROD", "MIN", "MAX", "LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR", "MINLOC", "MAXLOC", "SUM_SATURATING",
    "FLOAT_INT", "DOUBLE_INT", "LONG_INT", "TWO_INT", "SHORT_INT", "LONG_DOUBLE_INT", "TWO_FLOAT", "TWO_DOUBLE",
    "LOGICAL4",
]


def version() -> str:
    """The version of the library that runs, which may be newer than this package.

    Raises:
        ImportError: The library can't be loaded; the message names the places that were searched.
    """
    from ._api import ffi, lib  # pylint: disable=import-outside-toplevel
    return str(ffi.string(lib.hocket_version()).decode())


def __getattr__(name: str) -> Any:
    found: Any
    if name in _WITH_LIBRARY:
        found = getattr(importlib.import_module(f".{_WITH_LIBRARY[name]}", __name__), name)
    elif name in _OPERATIONS:
        found = importlib.import_module(".operations", __name__).PREDEFINED[name]
    elif name in _RECORDS:
        found = importlib.import_module("._types", __name__).record(name)
    elif name == "__version__":
        found = importlib.import_module("._cdef", __name__).VERSION
    else:
        raise AttributeError(f"module 'hocket' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
