# SPDX-License-Identifier: BSD-3-Clause
"""Arrays as the buffers, counts and displacements of the C API; what doesn't fit is refused in a sentence."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Sequence, Union

from ._api import NULL, ffi
from ._types import numpy_module
from .errors import Error, refusal

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, numpy.dtype[Any]]
    Counts = Union[Sequence[int], numpy.ndarray[Any, numpy.dtype[numpy.integer[Any]]]]


class InPlace(enum.Enum):
    """What stands in a buffer's place where the data already are where the result will be."""

    IN_PLACE = "IN_PLACE"

    def __repr__(self) -> str:
        return "hocket.IN_PLACE"


IN_PLACE = InPlace.IN_PLACE
_from_buffer, _CHARS = ffi.from_buffer, ffi.typeof("char[]")


def check_array(call: str, name: str, array: object) -> None:
    """It is an array, or one of NumPy's scalars, whose elements follow each other in memory."""
    if array is None:
        raise TypeError(f"{call}: `{name}` is missing; pass a NumPy array")
    if array is IN_PLACE:
        raise TypeError(f"{call}: `{name}` can't be hocket.IN_PLACE here; pass a NumPy array")
    np = numpy_module()
    if not isinstance(array, (np.ndarray, np.generic)):
        raise TypeError(f"{call}: `{name}` is of type {type(array).__name__}; pass a NumPy array, as numpy.array() "
                        "makes")
    if not array.flags.c_contiguous:
        raise refusal(f"{call}: `{name}` is not contiguous (shape {array.shape}, strides {array.strides}); pass "
                      "numpy.ascontiguousarray() of it, and copy back what is received in one")


def address(call: str, name: str, array: Any, written: bool = False) -> Any:
    """Where its elements are. The array stays as it is, and there, as long as the answer lives."""
    try:
        if array.dtype.hasobject:
            raise refusal(f"{call}: `{name}` holds Python objects ({array.dtype}), which other processes can't use; "
                          "send their bytes, as pickle.dumps makes them")
        return _from_buffer(_CHARS, array, written)
    except (AttributeError, BufferError, TypeError, ValueError) as error:
        if isinstance(error, Error):
            raise
    check_array(call, name, array)
    if written and not array.flags.writeable:
        raise refusal(f"{call}: `{name}` is read-only and would be written to; pass a copy()")
    # Of dates NumPy gives no buffer; of their bytes it does.
    return _from_buffer(_CHARS, array.reshape(-1).view("u1"), written)


def check_same(call: str, output: Any, input: Any) -> None:
    """Both arrays have elements of one dtype."""
    if output.dtype != input.dtype:
        raise refusal(f"{call}: `output` has dtype {output.dtype}, `input` {input.dtype}: they must be the same")


def check_alike(call: str, output: Any, input: Any) -> None:
    """Both have as many elements, of one dtype."""
    if not hasattr(output, "dtype"):
        check_array(call, "output", output)
    if output.size != input.size:
        raise refusal(f"{call}: `output` has {output.size} elements (shape {output.shape}), `input` {input.size} "
                      f"(shape {input.shape}): as many are needed")
    check_same(call, output, input)


def check_size(call: str, name: str, array: Any, needed: int, why: str) -> None:
    if array.size != needed:
        raise refusal(f"{call}: `{name}` has {array.size} elements (shape {array.shape}), but {why}: {needed}")


def block_of(call: str, name: str, array: Any, size: int) -> int:
    """The elements of one block, where a block of every rank lies in the array."""
    if array.size % size != 0:
        raise refusal(f"{call}: `{name}` has {array.size} elements (shape {array.shape}), which can't be a block for "
                      f"each of {size} ranks")
    return int(array.size) // size


def numbers(call: str, name: str, values: Any, size: int) -> list[int]:
    """A number for each rank, none negative."""
    try:
        listed = [int(value.__index__()) for value in values]
    except (TypeError, AttributeError):
        raise TypeError(f"{call}: `{name}` is {values!r}; pass a whole number for each rank") from None
    if len(listed) != size:
        raise refusal(f"{call}: `{name}` has {len(listed)} numbers; one for each of {size} ranks is needed")
    for rank, value in enumerate(listed):
        if value < 0:
            raise refusal(f"{call}: `{name}`[{rank}] is {value}; 0 and more are served")
    return listed


class Blocks:
    """Counts and displacements of each rank's block, in elements, within an array."""

    __slots__ = ("begins", "counts", "counts_address", "displacements_address")

    def __init__(self, call: str, size: int, counts: Any, displacements: Any, prefix: str = "") -> None:
        self.counts = numbers(call, f"{prefix}counts", counts, size)
        self.counts_address = ffi.new("size_t[]", self.counts)
        if displacements is None:
            self.begins = [sum(self.counts[:rank]) for rank in range(size)]
            self.displacements_address = NULL
        else:
            self.begins = numbers(call, f"{prefix}displacements", displacements, size)
            self.displacements_address = ffi.new("size_t[]", self.begins)

    def check_within(self, call: str, name: str, array: Any) -> None:
        """Each block lies within the array."""
        for rank, (begin, count) in enumerate(zip(self.begins, self.counts)):
            if begin + count > array.size:
                raise refusal(f"{call}: the block of rank {rank}, elements {begin} to {begin + count}, leaves "
                              f"`{name}`, which has {array.size} (shape {array.shape})")
