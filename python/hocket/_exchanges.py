# SPDX-License-Identifier: BSD-3-Clause
"""Collectives with a block of the same length for each rank: gather, scatter, allgather, alltoall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

from ._api import IN_PLACE_ADDRESS, NULL, lib
from ._buffers import IN_PLACE, address, block_of, check_alike, check_array, check_same, check_size
from ._calls import Calls
from ._types import moved, numpy_module

if TYPE_CHECKING:
    from ._buffers import Array, InPlace
    from ._calls import Prepared
    from .persistent import PersistentRequest
    from .requests import Request



class Exchanges(Calls):
    """Blocks of one length. An array of n elements for each of `size` ranks has size*n; block r is rank r's."""

    __slots__ = ()

    def gather(self, input: Union[Array, InPlace], output: Optional[Array] = None, root: int = 0) -> Optional[Array]:
        """Collects the arrays of all ranks at the root.

        Args:
            input: n elements of one dtype on all ranks. hocket.IN_PLACE at the root: its block is in `output` already.
            output: At the root: size*n elements of that dtype; None: a new array of shape (size, *input.shape). Not
                looked at elsewhere.
            root: The rank that collects.

        Returns:
            `output` or the new array at the root, None elsewhere.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed.
        """
        return self._block(lib.hocket_gather, self._to_gather(input, output, root))

    def gather_start(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                     root: int = 0) -> Request[Optional[Array]]:
        """Starts a gather(); the request's wait() returns what that does."""
        return self._start(lib.hocket_gather_start, self._to_gather(input, output, root))

    def gather_init(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                    root: int = 0) -> PersistentRequest[Optional[Array]]:
        """Makes gather() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_gather_init, self._to_gather(input, output, root))

    def _to_gather(self, input: Any, output: Any, root: int) -> Prepared[Optional[Array]]:
        if self._check_root("gather", root):
            result, arguments, _ = self._to_collect("gather", input, output)
            return result, (*arguments, root), None
        where = address("gather", "input", input)
        return None, (where, NULL, input.size, moved("gather", "input", input.dtype), root), None

    def allgather(self, input: Union[Array, InPlace], output: Optional[Array] = None) -> Array:
        """Collects the arrays of all ranks on all of them.

        Args:
            input: n elements of one dtype on all ranks. hocket.IN_PLACE on all ranks: each one's block is in its
                `output` already.
            output: size*n elements of that dtype; None: a new array of shape (size, *input.shape).

        Returns:
            `output` or the new array.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed.
        """
        return self._block(lib.hocket_allgather, self._to_collect("allgather", input, output))

    def allgather_start(self, input: Union[Array, InPlace], output: Optional[Array] = None) -> Request[Array]:
        """Starts an allgather(); the request's wait() returns what that does."""
        return self._start(lib.hocket_allgather_start, self._to_collect("allgather", input, output))

    def allgather_init(self, input: Union[Array, InPlace], output: Optional[Array] = None) -> PersistentRequest[Array]:
        """Makes allgather() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_allgather_init, self._to_collect("allgather", input, output))

    def _to_collect(self, call: str, input: Any, output: Any) -> Prepared[Array]:
        if input is IN_PLACE:
            check_array(call, "output", output)
            where, count = IN_PLACE_ADDRESS, block_of(call, "output", output, self._size)
        else:
            where, count = address(call, "input", input), input.size
            if output is None:
                output = numpy_module().empty((self._size, *input.shape), input.dtype)
            elif not hasattr(output, "size") or output.size != self._size * count or output.dtype != input.dtype:
                check_array(call, "output", output)
                check_size(call, "output", output, self._size * count,
                           f"it gets the {count} elements of `input` from each of {self._size} ranks")
                check_same(call, output, input)
        kind = moved(call, "output", output.dtype)
        return output, (where, address(call, "output", output, True), count, kind), None

    def scatter(self, input: Optional[Array], output: Union[Array, InPlace], root: int = 0) -> Union[Array, InPlace]:
        """Gives each rank its block of the root's array.

        Args:
            input: At the root: size*n elements. Not looked at elsewhere: pass None.
            output: n elements of that dtype. hocket.IN_PLACE at the root: its block stays where it is.
            root: The rank that has the data.

        Returns:
            `output`.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed.
        """
        return self._block(lib.hocket_scatter, self._to_scatter(input, output, root))

    def scatter_start(self, input: Optional[Array], output: Union[Array, InPlace],
                      root: int = 0) -> Request[Union[Array, InPlace]]:
        """Starts a scatter(); the request's wait() returns `output`."""
        return self._start(lib.hocket_scatter_start, self._to_scatter(input, output, root))

    def scatter_init(self, input: Optional[Array], output: Union[Array, InPlace],
                     root: int = 0) -> PersistentRequest[Union[Array, InPlace]]:
        """Makes scatter() ready to be started; the request's wait() returns `output`."""
        return self._plan(lib.hocket_scatter_init, self._to_scatter(input, output, root))

    def _to_scatter(self, input: Any, output: Any, root: int) -> Prepared[Union[Array, InPlace]]:
        call = "scatter"
        if not self._check_root(call, root):
            where = address(call, "output", output, True)
            return output, (NULL, where, output.size, moved(call, "output", output.dtype), root), None
        source = address(call, "input", input)
        if output is IN_PLACE:
            target, count = IN_PLACE_ADDRESS, block_of(call, "input", input, self._size)
        else:
            target, count = address(call, "output", output, True), output.size
            check_size(call, "input", input, self._size * count,
                       f"it has the {count} elements of `output` for each of {self._size} ranks")
            check_same(call, output, input)
        return output, (source, target, count, moved(call, "input", input.dtype), root), None

    def alltoall(self, input: Union[Array, InPlace], output: Optional[Array] = None) -> Array:
        """Gives each rank its block of each rank's array: block r of rank s becomes block s of rank r.

        Args:
            input: size*n elements of one dtype on all ranks. hocket.IN_PLACE on all ranks: they are in `output`.
            output: size*n elements of that dtype; None: a new array like `input`.

        Returns:
            `output` or the new array.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed.
        """
        return self._block(lib.hocket_alltoall, self._to_exchange(input, output))

    def alltoall_start(self, input: Union[Array, InPlace], output: Optional[Array] = None) -> Request[Array]:
        """Starts an alltoall(); the request's wait() returns what that does."""
        return self._start(lib.hocket_alltoall_start, self._to_exchange(input, output))

    def alltoall_init(self, input: Union[Array, InPlace], output: Optional[Array] = None) -> PersistentRequest[Array]:
        """Makes alltoall() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_alltoall_init, self._to_exchange(input, output))

    def _to_exchange(self, input: Any, output: Any) -> Prepared[Array]:
        call = "alltoall"
        where: Any = IN_PLACE_ADDRESS
        if input is not IN_PLACE:
            where = address(call, "input", input)
            if output is None:
                output = numpy_module().empty(input.shape, input.dtype)
            else:
                check_alike(call, output, input)
        else:
            check_array(call, "output", output)
        count = block_of(call, "output" if input is IN_PLACE else "input", output, self._size)
        kind = moved(call, "output", output.dtype)
        return output, (where, address(call, "output", output, True), count, kind), None
