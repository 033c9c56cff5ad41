# SPDX-License-Identifier: BSD-3-Clause
"""Barrier, broadcast, reductions and scans of a communicator.

The blocking calls that short messages are made of try the plain case first, in as few steps as Python allows; whatever
is not plain goes the long way, which also says what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

from ._api import IN_PLACE_ADDRESS, NULL, fail, ffi, lib
from ._buffers import (IN_PLACE, Blocks, address, block_of, came_between, check_alike, check_array, check_same,
                       check_size)
from ._calls import Calls
from ._types import COMBINED, MOVED, moved, numpy_module
from .operations import SUM, Operation

if TYPE_CHECKING:
    from ._buffers import Array, Counts, InPlace
    from ._calls import Prepared
    from .persistent import PersistentRequest
    from .requests import Request


_barrier, _broadcast = lib.hocket_barrier, lib.hocket_broadcast
_allreduce, _reduce = lib.hocket_allreduce, lib.hocket_reduce
_from_buffer, _CHARS = ffi.from_buffer, ffi.typeof("char[]")
# What arguments raise that are not plain: an unknown dtype, no array, or one that is not contiguous, is read-only, or
# missing; an operation without a handle. The library is called outside of the `try`: what is raised after it is a
# signal handler's, and the call is over.
_NOT_PLAIN = (KeyError, AttributeError, ValueError, BufferError, TypeError)


def _own(op: Operation) -> Optional[Operation]:
    return None if op.is_predefined else op


# NumPy's arrays, once there are some. Of subclasses, as masked arrays, somebody has to look at more than the elements.
_plain: Optional[type] = None


def _arguments_are_good(error: Exception) -> None:
    """After all, though they are not plain."""
    global _plain  # pylint: disable=global-statement
    _plain = numpy_module().ndarray
    if came_between(error):
        raise error


def _check_operation(call: str, op: Any) -> None:
    if not isinstance(op, Operation):
        raise TypeError(f"{call}: `op` is {op!r}; pass hocket.SUM or one of its like, or a hocket.Operation")


class Reductions(Calls):
    """Collectives without a block for each rank, and those that share a reduction out."""

    __slots__ = ()

    # --- barrier and broadcast ---

    def barrier(self) -> None:
        """Waits until all ranks have called it.

        Raises:
            Error: It has failed.
        """
        status = _barrier(self._comm)
        if status:
            fail(status)

    def barrier_start(self) -> Request[None]:
        """Starts a barrier(); the request's wait() returns None."""
        return self._start(lib.hocket_barrier_start, (None, (), None))

    def barrier_init(self) -> PersistentRequest[None]:
        """Makes barrier() ready to be started; the request's wait() returns None."""
        return self._plan(lib.hocket_barrier_init, (None, (), None))

    def broadcast(self, buffer: Array, root: int = 0) -> Array:
        """Gives all ranks the root's array.

        Args:
            buffer: Of any shape, with as many elements of one dtype on all ranks. Read at the root, written elsewhere.
            root: The rank that has the data.

        Returns:
            `buffer`.

        Raises:
            InvalidArgument: The array is not contiguous, is read-only where it would be written to, or holds objects.
            Error: The call has failed.
        """
        try:
            if type(buffer) is not _plain or type(root) is not int:
                raise ValueError
            where, kind, count = _from_buffer(_CHARS, buffer, root != self._rank), MOVED[buffer.dtype], buffer.size
        except _NOT_PLAIN as error:
            prepared = self._to_broadcast(buffer, root)
            _arguments_are_good(error)
        else:
            status = _broadcast(self._comm, where, count, kind, root)
            if status:
                fail(status)
            return buffer
        return self._block(_broadcast, prepared)

    def broadcast_start(self, buffer: Array, root: int = 0) -> Request[Array]:
        """Starts a broadcast(); the request's wait() returns `buffer`."""
        return self._start(lib.hocket_broadcast_start, self._to_broadcast(buffer, root))

    def broadcast_init(self, buffer: Array, root: int = 0) -> PersistentRequest[Array]:
        """Makes broadcast() ready to be started; the request's wait() returns `buffer`."""
        return self._plan(lib.hocket_broadcast_init, self._to_broadcast(buffer, root))

    def _to_broadcast(self, buffer: Array, root: int) -> Prepared[Array]:
        is_root = self._check_root("broadcast", root)
        where = address("broadcast", "buffer", buffer, not is_root)
        return buffer, (where, buffer.size, moved("broadcast", "buffer", buffer.dtype), root), None

    # --- reductions whose result has the operands' size ---

    def reduce(self, input: Union[Array, InPlace], output: Optional[Array] = None, op: Operation = SUM,
               root: int = 0) -> Optional[Array]:
        """Combines the arrays of all ranks element by element; the root gets the result.

        Args:
            input: Of any shape, with as many elements of one dtype on all ranks. hocket.IN_PLACE at the root: its
                operand is in `output`.
            output: At the root: as many elements of that dtype; None: a new array like `input`. Not looked at
                elsewhere.
            op: hocket.SUM or one of its like, or an Operation.
            root: The rank that gets the result.

        Returns:
            `output` or the new array at the root, None elsewhere.

        Raises:
            InvalidArgument: Sizes or dtypes differ, an array can't be used, or `op` is not defined for the dtype.
            Error: The call has failed.
        """
        return self._block(_reduce, self._to_reduce(input, output, op, root))

    def reduce_start(self, input: Union[Array, InPlace], output: Optional[Array] = None, op: Operation = SUM,
                     root: int = 0) -> Request[Optional[Array]]:
        """Starts a reduce(); the request's wait() returns what that does."""
        return self._start(lib.hocket_reduce_start, self._to_reduce(input, output, op, root))

    def reduce_init(self, input: Union[Array, InPlace], output: Optional[Array] = None, op: Operation = SUM,
                    root: int = 0) -> PersistentRequest[Optional[Array]]:
        """Makes reduce() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_reduce_init, self._to_reduce(input, output, op, root))

    def _to_reduce(self, input: Any, output: Any, op: Operation, root: int) -> Prepared[Optional[Array]]:
        if self._check_root("reduce", root):
            result, arguments, own = self._to_combine("reduce", input, output, op)
            return result, (*arguments, root), own
        _check_operation("reduce", op)
        where = address("reduce", "input", input)
        kind, handle = op._for("reduce", "input", input.dtype)
        return None, (where, NULL, input.size, kind, handle, root), _own(op)

    def allreduce(self, input: Union[Array, InPlace], output: Optional[Array] = None, op: Operation = SUM) -> Array:
        """Combines the arrays of all ranks element by element; all get the result.

        Args:
            input: Of any shape, with as many elements of one dtype on all ranks. hocket.IN_PLACE on all ranks: the
                operands are in `output`.
            output: As many elements of that dtype; None: a new array like `input`.
            op: hocket.SUM or one of its like, or an Operation.

        Returns:
            `output` or the new array.

        Raises:
            InvalidArgument: Sizes or dtypes differ, an array can't be used, or `op` is not defined for the dtype.
            Error: The call has failed.
        """
        try:
            dtype, count, handle = input.dtype, input.size, op._handle  # type: ignore[union-attr]
            if (type(input) is not _plain or type(output) is not _plain or handle is None or
                    count != output.size or dtype is not output.dtype):
                raise ValueError
            kind, operand, result = COMBINED[dtype], _from_buffer(_CHARS, input), _from_buffer(_CHARS, output, True)
        except _NOT_PLAIN as error:
            prepared = self._to_combine("allreduce", input, output, op)
            _arguments_are_good(error)
        else:
            status = _allreduce(self._comm, operand, result, count, kind, handle)
            if status:
                fail(status)
            return output
        return self._block(_allreduce, prepared)

    def allreduce_start(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                        op: Operation = SUM) -> Request[Array]:
        """Starts an allreduce(); the request's wait() returns what that does."""
        return self._start(lib.hocket_allreduce_start, self._to_combine("allreduce", input, output, op))

    def allreduce_init(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                       op: Operation = SUM) -> PersistentRequest[Array]:
        """Makes allreduce() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_allreduce_init, self._to_combine("allreduce", input, output, op))

    def scan(self, input: Union[Array, InPlace], output: Optional[Array] = None, op: Operation = SUM) -> Array:
        """Combines the arrays of ranks 0 to r element by element; rank r gets the result. Otherwise as allreduce()."""
        return self._block(lib.hocket_scan, self._to_combine("scan", input, output, op))

    def scan_start(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                   op: Operation = SUM) -> Request[Array]:
        """Starts a scan(); the request's wait() returns what that does."""
        return self._start(lib.hocket_scan_start, self._to_combine("scan", input, output, op))

    def scan_init(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                  op: Operation = SUM) -> PersistentRequest[Array]:
        """Makes scan() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_scan_init, self._to_combine("scan", input, output, op))

    def exscan(self, input: Union[Array, InPlace], output: Optional[Array] = None,
               op: Operation = SUM) -> Optional[Array]:
        """Combines the arrays of ranks 0 to r-1; rank r gets the result. Otherwise as allreduce().

        The `output` of rank 0 stays as it is.

        Returns:
            `output` or the new array; on rank 0 without `output`, None.
        """
        return self._block(lib.hocket_exscan, self._to_exscan(input, output, op))

    def exscan_start(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                     op: Operation = SUM) -> Request[Optional[Array]]:
        """Starts an exscan(); the request's wait() returns what that does."""
        return self._start(lib.hocket_exscan_start, self._to_exscan(input, output, op))

    def exscan_init(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                    op: Operation = SUM) -> PersistentRequest[Optional[Array]]:
        """Makes exscan() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_exscan_init, self._to_exscan(input, output, op))

    def _to_exscan(self, input: Any, output: Any, op: Operation) -> Prepared[Optional[Array]]:
        if self._rank > 0 or output is not None:
            return self._to_combine("exscan", input, output, op)
        _, (where, _, *rest), own = self._to_combine("exscan", input, None, op)
        return None, (where, NULL, *rest), own

    def _to_combine(self, call: str, input: Any, output: Any, op: Operation) -> Prepared[Array]:
        _check_operation(call, op)
        if input is IN_PLACE:
            check_array(call, "output", output)
            where: Any = IN_PLACE_ADDRESS
        else:
            where = address(call, "input", input)
            if output is None:
                output = numpy_module().empty(input.shape, input.dtype)
            else:
                check_alike(call, output, input)
        kind, handle = op._for(call, "input" if where is not IN_PLACE_ADDRESS else "output", output.dtype)
        return output, (where, address(call, "output", output, True), output.size, kind, handle), _own(op)

    # --- reductions that are shared out ---

    def reduce_scatter_block(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                             op: Operation = SUM) -> Array:
        """Combines the arrays of all ranks element by element; rank r gets the r-th of as many equal blocks as ranks.

        Args:
            input: size blocks of n elements of one dtype on all ranks. hocket.IN_PLACE on all ranks: the operands are
                in `output`, and the result comes where it begins.
            output: n elements of that dtype; None: a new array, of one dimension if ranks don't divide the first one.
            op: hocket.SUM or one of its like, or an Operation.

        Returns:
            `output` or the new array; in place the first n elements of `output`, of one dimension.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, an array can't be used, or `op` is not defined for the dtype.
            Error: The call has failed.
        """
        return self._block(lib.hocket_reduce_scatter_block, self._to_share_blocks(input, output, op))

    def reduce_scatter_block_start(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                                   op: Operation = SUM) -> Request[Array]:
        """Starts a reduce_scatter_block(); the request's wait() returns what that does."""
        return self._start(lib.hocket_reduce_scatter_block_start, self._to_share_blocks(input, output, op))

    def reduce_scatter_block_init(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                                  op: Operation = SUM) -> PersistentRequest[Array]:
        """Makes reduce_scatter_block() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_reduce_scatter_block_init, self._to_share_blocks(input, output, op))

    def _to_share_blocks(self, input: Any, output: Any, op: Operation) -> Prepared[Array]:
        call = "reduce_scatter_block"
        _check_operation(call, op)
        operand, name = (output, "output") if input is IN_PLACE else (input, "input")
        check_array(call, name, operand)
        count = block_of(call, name, operand, self._size)
        if input is not IN_PLACE and output is None:
            rows = len(operand) if operand.ndim > 0 else 0
            shape = (rows // self._size, *operand.shape[1:]) if rows % self._size == 0 and rows > 0 else (count,)
            output = numpy_module().empty(shape, operand.dtype)
        return self._to_share(call, input, output, op, count, count)

    def reduce_scatter(self, input: Union[Array, InPlace], output: Optional[Array], counts: Counts,
                       op: Operation = SUM) -> Array:
        """Combines the arrays of all ranks element by element; rank r gets its block of `counts[r]` elements.

        Args:
            input: sum(counts) elements of one dtype on all ranks. hocket.IN_PLACE on all ranks: the operands are in
                `output`, and the result comes where it begins.
            output: counts[rank] elements of that dtype; None: a new array of one dimension.
            counts: The elements of each rank's block, the same on all ranks.
            op: hocket.SUM or one of its like, or an Operation.

        Returns:
            `output` or the new array; in place the first counts[rank] elements of `output`, of one dimension.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, an array can't be used, or `op` is not defined for the dtype.
            Error: The call has failed.
        """
        return self._block(lib.hocket_reduce_scatter, self._to_share_out(input, output, counts, op))

    def reduce_scatter_start(self, input: Union[Array, InPlace], output: Optional[Array], counts: Counts,
                             op: Operation = SUM) -> Request[Array]:
        """Starts a reduce_scatter(); the request's wait() returns what that does."""
        return self._start(lib.hocket_reduce_scatter_start, self._to_share_out(input, output, counts, op))

    def reduce_scatter_init(self, input: Union[Array, InPlace], output: Optional[Array], counts: Counts,
                            op: Operation = SUM) -> PersistentRequest[Array]:
        """Makes reduce_scatter() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_reduce_scatter_init, self._to_share_out(input, output, counts, op))

    def _to_share_out(self, input: Any, output: Any, counts: Any, op: Operation) -> Prepared[Array]:
        call = "reduce_scatter"
        _check_operation(call, op)
        blocks = Blocks(call, self._size, counts, None)
        operand, name = (output, "output") if input is IN_PLACE else (input, "input")
        check_array(call, name, operand)
        check_size(call, name, operand, sum(blocks.counts), "`counts` add up to")
        count = blocks.counts[self._rank]
        if input is not IN_PLACE and output is None:
            output = numpy_module().empty(count, operand.dtype)
        return self._to_share(call, input, output, op, count, blocks.counts_address)

    def _to_share(self, call: str, input: Any, output: Any, op: Operation, count: int, given: Any) -> Prepared[Array]:
        where: Any = IN_PLACE_ADDRESS
        result = output
        if input is IN_PLACE:
            result = output.reshape(-1)[:count]
        else:
            where = address(call, "input", input)
            check_array(call, "output", output)
            check_size(call, "output", output, count, f"the block of rank {self._rank} has")
            check_same(call, output, input)
        kind, handle = op._for(call, "output" if input is IN_PLACE else "input", output.dtype)
        return result, (where, address(call, "output", output, True), given, kind, handle), _own(op)
