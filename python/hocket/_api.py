# SPDX-License-Identifier: BSD-3-Clause
"""The library itself, loaded when this module is: `ffi` and `lib` of cffi, and what a negative status becomes.

cffi releases the interpreter's lock during each call of `lib`."""

from __future__ import annotations

import os
import re
from typing import Any, NoReturn

from . import _library
from .errors import Error, error_of

try:
    from ._cdef import IN_PLACE as _IN_PLACE
    from ._cdef import VERSION
    from ._cdef import ffi as ffi  # for other modules
except ModuleNotFoundError as missing:
    raise ImportError("hocket needs cffi: pip install 'cffi>=1.15'") from missing


def _load() -> Any:
    reasons = []
    for path in _library.libraries():
        try:
            # For good: what the library has left for the process's end would else be called when it is unloaded.
            loaded = ffi.dlopen(path, os.RTLD_NOW | os.RTLD_NODELETE)
            version = ffi.string(loaded.hocket_version()).decode()
        except (OSError, AttributeError) as error:
            reasons.append(f"{path}: {error}")
            continue
        if _numbers(version) < _numbers(VERSION) or _numbers(version)[0] != _numbers(VERSION)[0]:
            raise ImportError(f"hocket: {path} is version {version}, this package is made for {VERSION}: "
                              "install both from one release")
        return loaded
    if os.environ.get(_library.SETTING):
        raise ImportError(f"hocket: {_library.SETTING} names a library that can't be loaded: {reasons[0]}")
    raise ImportError(f"hocket: {_library.LIBRARY} can't be loaded. Searched " + ", ".join(_library.places()) + ": " +
                      "; ".join(reasons) +
                      f". Install hocket, build it (./dev build), or name it by {_library.SETTING}")


def _numbers(version: str) -> list[int]:
    """Of "0.2.0-rc1" those of 0.2.0."""
    return [int(part) for part in re.findall(r"\d+", version)[:3]]


lib = _load()
NULL = ffi.NULL
# What the C API takes in a buffer's place.
IN_PLACE_ADDRESS = ffi.cast("void *", int(_IN_PLACE))


# What ranks exchange when their programs end: of a length that no other call is likely to have.
FAREWELL = b"this rank has come to its program's end"
_FAREWELL_CALL = f"allgather({len(FAREWELL)} bytes)"


def error_of_call(status: int) -> Error:
    """What the calling thread's last call has ended with."""
    text = ffi.string(lib.hocket_error_text()).decode(errors="replace")
    return error_of(status, text.replace(_FAREWELL_CALL, f"{_FAREWELL_CALL} (its program has ended)"))


def fail(status: int) -> NoReturn:
    raise error_of_call(status)


def check(status: int) -> None:
    if status < 0:
        fail(status)
