# SPDX-License-Identifier: BSD-3-Clause
"""What reductions combine by: the predefined operations, and functions of the program's own."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any, Callable, Optional

from ._api import check, ffi, lib
from ._cdef import MAX_COMBINED_BYTES, OPERATIONS
from ._types import combined, moved, numpy_module
from .errors import not_copied, refusal

if TYPE_CHECKING:
    import numpy

    from ._buffers import Array


class Operation:
    """An operation of the program's own on arrays.

    It must be associative. The library cuts long arrays into pieces and combines them in any grouping, by the function:
    element i of what it returns may depend on the elements i of its arguments only. Elements that belong together, the
    numbers of a matrix say, are fields of one structured dtype.

    An exception in the function, or of a signal handler that runs before it, is raised by the call that needed the
    function, when that call is over on this rank. The communicator is given up then: other ranks get an error. One that
    has finished the call before has a result that may be wrong, and learns of it by its next call, or at its program's
    end. The operation can't be used again.

    Args:
        function: Called with two one-dimensional arrays of one dtype and length, `left` of the lower ranks and `right`
            of the higher ones. Returns an array of that length with the results; `right` may be changed and returned.
            Both arrays are gone when it returns. It must not call hocket.
        commutative: Whether the order of operands makes no difference. Otherwise they stay in the order of ranks.

    Raises:
        TypeError: `function` can't be called.
    """

    __slots__ = ("__weakref__", "_bound", "_commutative", "_function", "_handle", "failure", "name")

    name: str
    failure: Optional[BaseException]

    def __init__(self, function: Callable[[Array, Array], Array], *, commutative: bool = False) -> None:
        if not callable(function):
            raise TypeError(f"Operation: `function` is {function!r}; pass a function of two arrays")
        self.name = getattr(function, "__name__", type(function).__name__)
        self.failure = None
        self._function: Optional[Callable[[Array, Array], Array]] = function
        self._commutative = bool(commutative)
        self._handle: Any = None
        # dtype -> what C calls, and hocket's handle of it: the function must know of what dtype the bytes are.
        self._bound: dict[Any, tuple[Any, Any]] = {}

    @classmethod
    def _predefined(cls, name: str) -> Operation:
        made = cls.__new__(cls)
        made.name, made.failure, made._function, made._commutative, made._bound = name, None, None, True, {}
        made._handle = ffi.cast("hocket_op_t", OPERATIONS[name])
        return made

    def __repr__(self) -> str:
        return f"hocket.{self.name}" if self._function is None else f"<hocket.Operation by {self.name}>"

    def __reduce__(self) -> tuple[object, ...]:
        if self._function is None:
            return _predefined, (self.name,)
        not_copied(self)

    def __del__(self) -> None:
        for _, handle in getattr(self, "_bound", {}).values():
            lib.hocket_op_destroy(handle)

    @property
    def is_predefined(self) -> bool:
        """Whether it is one of hocket's own, as hocket.SUM."""
        return self._function is None

    def _for(self, call: str, name: str, dtype: numpy.dtype[Any]) -> tuple[int, Any]:
        """The element type and the handle that the C API takes for such elements."""
        if self._function is None:
            return combined(call, name, dtype, self.name), self._handle
        kind = moved(call, name, dtype)
        if dtype.itemsize > MAX_COMBINED_BYTES:
            raise refusal(f"{call}: `{name}` has elements of {dtype.itemsize} bytes; at most {MAX_COMBINED_BYTES} can "
                          "be combined")
        if self.failure is not None:
            raise refusal(f"{call}: the operation by {self.name} has failed before ({self.failure!r}); make a new one")
        bound = self._bound.get(dtype)
        if bound is None:
            callback = ffi.callback("hocket_op_function_t", self._combiner(dtype), onerror=self._note)
            box = ffi.new("hocket_op_t *")
            check(lib.hocket_op_create(callback, ffi.NULL, int(self._commutative), box))
            made = (callback, box[0])
            bound = self._bound.setdefault(dtype, made)
            if bound is not made:  # another thread was quicker, and may be in a call with its own
                lib.hocket_op_destroy(box[0])
        return kind, bound[1]

    def _note(self, _kind: Any, failure: BaseException, trace: Any) -> None:
        """A failure of the function, or of a signal handler before its first line: raised by the call, for none may
        pass through C."""
        if self.failure is None:
            self.failure = failure.with_traceback(trace)
        traceback.clear_frames(trace)  # whose arrays are the library's memory

    def _combiner(self, dtype: numpy.dtype[Any]) -> Callable[[Any, Any, int, int, Any], None]:
        np, function, itemsize = numpy_module(), self._function, dtype.itemsize
        assert function is not None

        def combine(left_address: Any, right_address: Any, count: int, _kind: int, _user: Any) -> None:
            if self.failure is not None:
                return
            left = right = result = None
            try:
                left = np.frombuffer(ffi.buffer(left_address, count * itemsize), dtype)
                right = np.frombuffer(ffi.buffer(right_address, count * itemsize), dtype)
                left.flags.writeable = False
                result = function(left, right)
                if result is not right:
                    _store(result, right, np, self.name)
            finally:
                left = right = result = None  # an exception holds this frame

        return combine


def _store(result: Any, right: Any, np: Any, name: str) -> None:
    if getattr(result, "shape", None) != right.shape:
        what = f"an array of shape {result.shape}" if hasattr(result, "shape") else repr(result)
        raise ValueError(f"the operation by {name} has returned {what}; an array of shape {right.shape} is needed")
    np.copyto(right, result, casting="same_kind")


def _predefined(name: str) -> Operation:
    return PREDEFINED[name]


PREDEFINED = {name: Operation._predefined(name) for name in OPERATIONS}
SUM = PREDEFINED["SUM"]
