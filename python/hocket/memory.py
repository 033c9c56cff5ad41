# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory that other ranks map: collectives read and write them in place, without a copy."""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any, Optional, Sequence, SupportsIndex, Union

from ._api import NULL, check, ffi, lib
from ._types import numpy_module
from .context import Context, default_context
from .errors import Status, error_of, refusal

if TYPE_CHECKING:
    import numpy.typing

    from ._buffers import Array

    Shape = Union[SupportsIndex, Sequence[int]]


def empty(shape: Shape, dtype: numpy.typing.DTypeLike = float, *, context: Optional[Context] = None) -> Array:
    """An array in memory that peers map, its elements not initialised: long collectives need no copy of it.

    The memory is given back when the array and all its views are gone. After fork() parent and child share it, unlike
    other memory: what one writes the other reads.

    Args:
        shape: As in numpy.empty.
        dtype: Of the elements; not of Python objects.
        context: In whose memory; None: that of hocket.world().

    Returns:
        The array, in C order; it begins at a multiple of 64 bytes.

    Raises:
        NoMemory: There is no room among what this rank may share (HOCKET_MEMORY).
        InvalidArgument: `shape` has a negative length, or `dtype` is of objects.
        TypeError: `shape` has something that is no whole number.
    """
    np = numpy_module()
    kind = np.dtype(dtype)
    lengths = _lengths(shape)
    if min(lengths, default=0) < 0:
        raise refusal(f"empty: `shape` is {shape}; lengths are 0 or more")
    if kind.hasobject:
        raise refusal(f"empty: `dtype` is {kind}; Python objects can't be shared")
    lengths, kind = (*lengths, *kind.shape), kind.base  # of a dtype that is an array itself, as numpy.empty does
    size = math.prod(lengths) * kind.itemsize
    if size > sys.maxsize:
        raise error_of(Status.NO_MEMORY, f"empty: an array of shape {shape} and dtype {kind} has {size} bytes; no "
                       "machine has so many")
    made = np.frombuffer(_allocated(default_context() if context is None else context, max(size, 1)), "u1")
    array: Array = made[:size].view(kind).reshape(lengths) if kind.itemsize else np.empty(lengths, kind)
    return array


def zeros(shape: Shape, dtype: numpy.typing.DTypeLike = float, *, context: Optional[Context] = None) -> Array:
    """As empty(), its elements zero."""
    made = empty(shape, dtype, context=context)
    made[...] = numpy_module().zeros((), made.dtype)
    return made


def _lengths(shape: Any) -> tuple[int, ...]:
    try:
        return (operator.index(shape),)
    except TypeError:
        pass
    try:
        return tuple(map(operator.index, shape))
    except TypeError:
        raise TypeError(f"empty: `shape` is {shape!r}; pass a whole number, or a sequence of them") from None


def _allocated(context: Context, size: int) -> Any:
    """A buffer of so many bytes that gives them back when nothing refers to it any more."""
    if context._context == NULL:
        raise refusal("empty: the context is closed")
    box = ffi.new("void **")
    check(lib.hocket_alloc(context._context, size, box))
    where = int(ffi.cast("intptr_t", box[0]))
    context._arrays.add(where)

    def free(memory: Any) -> None:
        # In any thread, at any time. Before the memory is another array's; refused in the child of a fork.
        context._arrays.discard(where)
        lib.hocket_free(context._context, memory)

    return ffi.buffer(ffi.gc(ffi.cast("char *", box[0]), free, size), size)
