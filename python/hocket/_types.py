# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's dtypes as hocket's element types. The tables are filled when the first array comes: a program that passes
none needs no NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._api import lib
from ._cdef import OPAQUE
from .errors import refusal

if TYPE_CHECKING:
    import numpy

# Types that predefined operations know, by dtype.
COMBINED: dict[Any, int] = {}
# The same, and whatever else has come by: elements that are moved as so many bytes.
MOVED: dict[Any, int] = {}

# Classes whose elements are all there is to an array; of others, as masked arrays, somebody has to look.
PLAIN: set[type] = set()

_LONGEST = 2**31 - 1
# Strings have a dtype for each length: so many others are remembered in MOVED.
_MOST_OTHERS = 256
_NUMBERS = {
    "i1": "INT8", "i2": "INT16", "i4": "INT32", "i8": "INT64",
    "u1": "UINT8", "u2": "UINT16", "u4": "UINT32", "u8": "UINT64",
    "f": "FLOAT", "d": "DOUBLE", "g": "LONG_DOUBLE",
    "F": "COMPLEX_FLOAT", "D": "COMPLEX_DOUBLE", "G": "COMPLEX_LONG_DOUBLE",
    "?": "BOOL", "V1": "BYTE",
}
# Name here -> name in C, and what its fields are.
_RECORDS = {
    "FLOAT_INT": ("FLOAT_INT", ("f", "i")),
    "DOUBLE_INT": ("DOUBLE_INT", ("d", "i")),
    "LONG_INT": ("LONG_INT", ("l", "i")),
    "TWO_INT": ("2INT", ("i", "i")),
    "SHORT_INT": ("SHORT_INT", ("h", "i")),
    "LONG_DOUBLE_INT": ("LONG_DOUBLE_INT", ("g", "i")),
    "TWO_FLOAT": ("2FLOAT", ("f", "f")),
    "TWO_DOUBLE": ("2DOUBLE", ("d", "d")),
}
RECORDS = (*_RECORDS, "LOGICAL4")
_records: dict[str, Any] = {}


_numpy: Any = None


def numpy_module() -> Any:
    """NumPy, or an error that says what to do."""
    global _numpy  # pylint: disable=global-statement
    if _numpy is None:
        try:
            import numpy  # pylint: disable=import-outside-toplevel
        except ImportError as missing:
            raise ImportError("hocket: arrays need NumPy: pip install 'hocket[numpy]'") from missing
        _numpy = numpy
    return _numpy


def fill() -> None:
    """Fills the tables, once."""
    if COMBINED:
        return
    np = numpy_module()
    table = {np.dtype(code): _constant(name) for code, name in _NUMBERS.items()}
    for name, (constant, fields) in _RECORDS.items():
        _records[name] = np.dtype(list(zip(("value", "index"), fields)), align=True)
        table[_records[name]] = _constant(constant)
    _records["LOGICAL4"] = np.dtype([("logical", "i4")])
    table[_records["LOGICAL4"]] = _constant("LOGICAL4")
    PLAIN.add(np.ndarray)
    MOVED.update(table)
    COMBINED.update(table)


def _constant(name: str) -> int:
    return int(getattr(lib, f"HOCKET_{name}"))


def record(name: str) -> Any:
    """The dtype of a pair, or of LOGICAL4."""
    fill()
    return _records[name]


def moved(call: str, name: str, dtype: numpy.dtype[Any]) -> int:
    """The type of elements that are only moved."""
    kind = MOVED.get(dtype)
    if kind is None:
        fill()
        kind = MOVED.get(dtype)
    if kind is None:
        if dtype.hasobject:
            raise refusal(f"{call}: `{name}` is of Python objects ({dtype}), which other processes can't use")
        if not 0 < dtype.itemsize <= _LONGEST:
            raise refusal(f"{call}: `{name}` has elements of {dtype.itemsize} bytes ({dtype}); 1 to 2^31-1 are served")
        kind = OPAQUE | dtype.itemsize
        if len(MOVED) < len(COMBINED) + _MOST_OTHERS:
            MOVED[dtype] = kind
    return kind


def combined(call: str, name: str, dtype: numpy.dtype[Any], operation: str) -> int:
    """The type of elements that a predefined operation combines."""
    kind = COMBINED.get(dtype)
    if kind is not None:
        return kind
    moved(call, name, dtype)
    kind = COMBINED.get(dtype)
    if kind is not None:
        return kind
    if not dtype.isnative:
        remedy = "put their bytes into this machine's order by astype(dtype.newbyteorder('='))"
    else:
        remedy = "convert them by astype(), or pass an operation of your own, hocket.Operation"
    raise refusal(f"{call}: hocket.{operation} is not defined for elements of dtype {dtype} in `{name}`; {remedy}")
