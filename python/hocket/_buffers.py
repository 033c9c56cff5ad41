# SPDX-License-Identifier: BSD-3-Clause
"""Arrays as the buffers, counts and displacements of the C API; what doesn't fit is refused in a sentence."""

from __future__ import annotations

import enum
import sys
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

from ._api import NULL, ffi
from ._types import PLAIN, fill, moved, numpy_module
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


def came_between(error: Exception) -> bool:
    """Whether it is a signal handler's. That lies in a function of its own, not in the lines of the `try`, which call
    nothing that is written in Python."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is not None


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
    masked = sys.modules.get("numpy.ma")  # asking NumPy for it would load it
    if masked is not None and isinstance(array, masked.MaskedArray):
        raise refusal(f"{call}: `{name}` is a masked array, whose mask would be left behind; pass its filled(), or "
                      "its `data` and its `mask`")
    if not array.flags.c_contiguous:
        raise refusal(f"{call}: `{name}` is not contiguous (shape {array.shape}, strides {array.strides}); pass "
                      "numpy.ascontiguousarray() of it, and copy back what is received in one")


def address(call: str, name: str, array: Any, written: bool = False) -> Any:
    """Where its elements are. The array stays as it is, and there, as long as the answer lives."""
    if array.__class__ not in PLAIN:
        check_array(call, name, array)
        fill()
    try:
        if array.dtype.hasobject:
            raise refusal(f"{call}: `{name}` holds Python objects ({array.dtype}), which other processes can't use; "
                          "send their bytes, as pickle.dumps makes them")
        return _from_buffer(_CHARS, array, written)
    except (AttributeError, BufferError, TypeError, ValueError) as error:
        if isinstance(error, Error) or came_between(error):
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


def numbers(call: str, name: str, values: Any, size: int, holder: str = "rank") -> list[int]:
    """A number for each rank, or whatever else has blocks, none negative."""
    try:
        listed = [int(value.__index__()) for value in values]
    except (TypeError, AttributeError):
        raise TypeError(f"{call}: `{name}` is {values!r}; pass a whole number for each {holder}") from None
    if len(listed) != size:
        raise refusal(f"{call}: `{name}` has {len(listed)} numbers; one for each of {size} {holder}s is needed")
    for place, value in enumerate(listed):
        if value < 0:
            raise refusal(f"{call}: `{name}`[{place}] is {value}; 0 and more are served")
    return listed


Span = tuple[int, int]


def span(where: Any, size_bytes: int) -> Span:
    """The addresses of a buffer's first byte and of the one behind its last."""
    base = int(ffi.cast("uintptr_t", where))
    return base, base + size_bytes


def check_apart(call: str, read: Span, written: Span, blocks: Callable[[int, int], tuple[list[Span], list[Span]]],
                own: Optional[tuple[int, int]] = None) -> None:
    """No block that is read overlaps one that is written, of which the library doesn't look for itself. `blocks` makes
    their spans of the buffers' addresses; this rank's own block may be where it is: `own` has its places among both.
    None: the call doesn't work in place."""
    if read[1] <= written[0] or written[1] <= read[0]:
        return  # two arrays, as nearly always
    inputs, outputs = blocks(read[0], written[0])
    if own is not None and inputs[own[0]] == outputs[own[1]]:
        del inputs[own[0]], outputs[own[1]]
    ends = {False: 0, True: 0}
    for begin, end, is_output in sorted([(*block, False) for block in inputs if block[0] < block[1]] +
                                        [(*block, True) for block in outputs if block[0] < block[1]]):
        if begin < ends[not is_output]:
            raise refusal(f"{call}: `input` and `output` overlap; pass a copy() of one" +
                          (", or hocket.IN_PLACE" if own is not None else ""))
        ends[is_output] = max(ends[is_output], end)


class Blocks:
    """Counts and displacements of the block of each rank, or of each neighbour, in elements, within an array."""

    __slots__ = ("begins", "counts", "counts_address", "displacements_address", "holder")

    def __init__(self, call: str, size: int, counts: Any, displacements: Any, prefix: str = "",
                 holder: str = "rank") -> None:
        self.holder = holder
        self.counts = numbers(call, f"{prefix}counts", counts, size, holder)
        self.counts_address = ffi.new("size_t[]", self.counts)
        if displacements is None:
            self.begins = [sum(self.counts[:place]) for place in range(size)]
            self.displacements_address = NULL
        else:
            self.begins = numbers(call, f"{prefix}displacements", displacements, size, holder)
            self.displacements_address = ffi.new("size_t[]", self.begins)

    def spans(self, base: int, itemsize: int) -> list[Span]:
        """The addresses of each block in a buffer."""
        return [(base + begin * itemsize, base + (begin + count) * itemsize)
                for begin, count in zip(self.begins, self.counts)]

    def check_within(self, call: str, name: str, array: Any) -> None:
        """Each block lies within the array."""
        for place, (begin, count) in enumerate(zip(self.begins, self.counts)):
            if count > 0 and begin + count > array.size:
                raise refusal(f"{call}: the block of {self.holder} {place}, elements {begin} to {begin + count}, "
                              f"leaves `{name}`, which has {array.size} (shape {array.shape})")


class TypedBlocks:
    """The same of blocks that have a dtype each, and displacements in bytes: what the C function takes of an array."""

    __slots__ = ("arguments", "spans")

    def __init__(self, call: str, name: str, blocks: tuple[Any, ...], size: int, holder: str = "rank") -> None:
        array, counts, displacements, types = blocks
        where = address(call, name, array, name == "output")
        listed = numbers(call, f"{name}_counts", counts, size, holder)
        begins = numbers(call, f"{name}_displacements", displacements, size, holder)
        dtypes = [numpy_module().dtype(each) for each in types or ()]
        if len(dtypes) != size:
            raise refusal(f"{call}: `{name}_types` has {len(dtypes)} dtypes; one for each of {size} {holder}s is "
                          "needed")
        size_bytes = array.size * array.itemsize
        for place, (begin, count, dtype) in enumerate(zip(begins, listed, dtypes)):
            if count > 0 and begin + count * dtype.itemsize > size_bytes:
                raise refusal(f"{call}: the block of {holder} {place}, bytes {begin} to "
                              f"{begin + count * dtype.itemsize}, leaves `{name}`, which has {size_bytes}")
        kinds = [moved(call, f"{name}_types[{place}]", dtype) for place, dtype in enumerate(dtypes)]
        base = span(where, 0)[0]
        self.spans = [(base + begin, base + begin + count * dtype.itemsize)
                      for begin, count, dtype in zip(begins, listed, dtypes)]
        self.arguments = (where, ffi.new("size_t[]", listed), ffi.new("size_t[]", begins),
                          ffi.new("hocket_type_t[]", kinds))
