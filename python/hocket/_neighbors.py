# SPDX-License-Identifier: BSD-3-Clause
"""Allgather and alltoall among the neighbours of each rank."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Optional, Sequence

from ._api import NULL, lib
from ._buffers import Blocks, TypedBlocks, address, check_apart, check_array, check_same, check_size, span
from ._types import moved, numpy_module
from .errors import refusal

if TYPE_CHECKING:
    import numpy.typing

    from ._buffers import Array, Counts
    from ._calls import Prepared
    from .communicator import Communicator
    from .persistent import PersistentRequest
    from .requests import Request

    Types = Sequence[numpy.typing.DTypeLike]


class NeighborExchanges:
    """A neighbourhood's handle, whose calls are made by its communicator."""

    __slots__ = ("_communicator", "_counts", "_destinations", "_left", "_made", "_sources")

    _communicator: Communicator
    # The C object; NULL: freed.
    _made: Any
    # How many sources and destinations there are, and who they are.
    _counts: tuple[int, int]
    _sources: tuple[Optional[int], ...]
    _destinations: tuple[Optional[int], ...]
    # The communicator's C objects that nobody has any more. Any thread may append, only the communicator's gives back.
    _left: list[Any]

    # --- blocks of one length -----------------------------------------------------------------------------------------

    def allgather(self, input: Array, output: Optional[Array] = None) -> Array:
        """Gives an array to all destinations, and gets those of all sources.

        Args:
            input: n elements of one dtype, as many on all ranks of the communicator.
            output: n elements of that dtype for each source; None: a new array of shape (sources, *input.shape).

        Returns:
            `output` or the new array; block k is that of sources[k].

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed.
        """
        return self._block(lib.hocket_neighbor_allgather, self._to_allgather(input, output))

    def allgather_start(self, input: Array, output: Optional[Array] = None) -> Request[Array]:
        """Starts an allgather(); the request's wait() returns what that does."""
        return self._start(lib.hocket_neighbor_allgather_start, self._to_allgather(input, output))

    def allgather_init(self, input: Array, output: Optional[Array] = None) -> PersistentRequest[Array]:
        """Makes allgather() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_neighbor_allgather_init, self._to_allgather(input, output))

    def _to_allgather(self, input: Any, output: Any) -> Prepared[Array]:
        call = "neighbor_allgather"
        self._check_usable(call)
        where, count = address(call, "input", input), input.size
        output = self._output(call, output, count, input.shape, input)
        return output, (where, address(call, "output", output, True), count, moved(call, "input", input.dtype)), None

    def alltoall(self, input: Array, output: Optional[Array] = None) -> Array:
        """Gives a block to each destination, and gets one from each source.

        Args:
            input: A block of n elements for each destination, n as large on all ranks of the communicator. On a rank
                without destinations an array of shape (0, ...), whose other lengths say how large a block is.
            output: n elements of that dtype for each source; None: a new array of shape (sources, *input.shape[1:]).

        Returns:
            `output` or the new array; block k is that of sources[k].

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed.
        """
        return self._block(lib.hocket_neighbor_alltoall, self._to_alltoall(input, output))

    def alltoall_start(self, input: Array, output: Optional[Array] = None) -> Request[Array]:
        """Starts an alltoall(); the request's wait() returns what that does."""
        return self._start(lib.hocket_neighbor_alltoall_start, self._to_alltoall(input, output))

    def alltoall_init(self, input: Array, output: Optional[Array] = None) -> PersistentRequest[Array]:
        """Makes alltoall() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_neighbor_alltoall_init, self._to_alltoall(input, output))

    def _to_alltoall(self, input: Any, output: Any) -> Prepared[Array]:
        call = "neighbor_alltoall"
        self._check_usable(call)
        where, destinations = address(call, "input", input), self._counts[1]
        shape = input.shape[1:]
        if destinations == 0:
            check_size(call, "input", input, 0, "this rank has no destinations, so it has the elements of no block")
            count = math.prod(shape)
        elif input.size % destinations == 0:
            count = input.size // destinations
            if not input.shape or input.shape[0] != destinations:
                shape = (count,)
        else:
            raise refusal(f"{call}: `input` has {input.size} elements (shape {input.shape}), which can't be a block "
                          f"for each of {destinations} destinations")
        output = self._output(call, output, count, shape, input)
        return output, (where, address(call, "output", output, True), count, moved(call, "input", input.dtype)), None

    def _output(self, call: str, output: Any, count: int, shape: tuple[int, ...], input: Any) -> Array:
        """Of so many elements from each source."""
        sources = self._counts[0]
        if output is None:
            make = numpy_module().zeros if None in self._sources else numpy_module().empty
            made: Array = make((sources, *shape), input.dtype)
            return made
        check_array(call, "output", output)
        check_size(call, "output", output, sources * count, f"it gets {count} elements from each of {sources} sources")
        check_same(call, output, input)
        checked: Array = output
        return checked

    # --- blocks of different lengths ----------------------------------------------------------------------------------

    def allgatherv(self, input: Array, output: Array, counts: Counts, displacements: Optional[Counts] = None) -> Array:
        """As allgather(), where ranks give arrays of different lengths.

        Args:
            input: Any number of elements.
            output: Room for the blocks of all sources, of the same dtype.
            counts: The elements that each source gives, in their order.
            displacements: Where blocks begin in `output`, in elements; None: one behind the other.

        Returns:
            `output`.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed; Mismatch where two ranks don't agree about a length.
        """
        return self._block(lib.hocket_neighbor_allgatherv, self._to_allgatherv(input, output, counts, displacements))

    def allgatherv_start(self, input: Array, output: Array, counts: Counts,
                         displacements: Optional[Counts] = None) -> Request[Array]:
        """Starts an allgatherv(); the request's wait() returns `output`."""
        return self._start(lib.hocket_neighbor_allgatherv_start,
                           self._to_allgatherv(input, output, counts, displacements))

    def allgatherv_init(self, input: Array, output: Array, counts: Counts,
                        displacements: Optional[Counts] = None) -> PersistentRequest[Array]:
        """Makes allgatherv() ready to be started; the request's wait() returns `output`."""
        return self._plan(lib.hocket_neighbor_allgatherv_init, self._to_allgatherv(
            input, output, counts, displacements))

    def _to_allgatherv(self, input: Any, output: Any, counts: Any, displacements: Any) -> Prepared[Array]:
        call = "neighbor_allgatherv"
        self._check_usable(call)
        where, target = address(call, "input", input), address(call, "output", output, True)
        blocks = Blocks(call, self._counts[0], counts, displacements, "", "source")
        blocks.check_within(call, "output", output)
        check_same(call, output, input)
        whole = span(where, input.size * input.itemsize)
        check_apart(call, whole, span(target, output.size * output.itemsize),
                    lambda _, base: ([whole], blocks.spans(base, output.itemsize)))
        return output, (where, input.size, target, blocks.counts_address, blocks.displacements_address,
                        moved(call, "input", input.dtype)), None

    def alltoallv(self, input: Array, output: Array, input_counts: Counts, output_counts: Counts,
                  input_displacements: Optional[Counts] = None,
                  output_displacements: Optional[Counts] = None) -> Array:
        """As alltoall(), where blocks have different lengths. Two ranks must agree about each block that passes between
        them, and nobody else must.

        Args:
            input: This rank's blocks for its destinations.
            output: Room for the blocks of its sources, of the same dtype.
            input_counts: The elements for each destination.
            output_counts: The elements from each source.
            input_displacements: Where blocks begin in `input`, in elements; None: one behind the other.
            output_displacements: Where blocks begin in `output`.

        Returns:
            `output`.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed; Mismatch where two ranks don't agree about a length.
        """
        return self._block(lib.hocket_neighbor_alltoallv, self._to_alltoallv(
            input, output, input_counts, output_counts, input_displacements, output_displacements))

    def alltoallv_start(self, input: Array, output: Array, input_counts: Counts, output_counts: Counts,
                        input_displacements: Optional[Counts] = None,
                        output_displacements: Optional[Counts] = None) -> Request[Array]:
        """Starts an alltoallv(); the request's wait() returns `output`."""
        return self._start(lib.hocket_neighbor_alltoallv_start, self._to_alltoallv(
            input, output, input_counts, output_counts, input_displacements, output_displacements))

    def alltoallv_init(self, input: Array, output: Array, input_counts: Counts, output_counts: Counts,
                       input_displacements: Optional[Counts] = None,
                       output_displacements: Optional[Counts] = None) -> PersistentRequest[Array]:
        """Makes alltoallv() ready to be started; the request's wait() returns `output`."""
        return self._plan(lib.hocket_neighbor_alltoallv_init, self._to_alltoallv(
            input, output, input_counts, output_counts, input_displacements, output_displacements))

    def _to_alltoallv(self, input: Any, output: Any, input_counts: Any, output_counts: Any, input_displacements: Any,
                      output_displacements: Any) -> Prepared[Array]:
        call = "neighbor_alltoallv"
        self._check_usable(call)
        where, target = address(call, "input", input), address(call, "output", output, True)
        given = Blocks(call, self._counts[1], input_counts, input_displacements, "input_", "destination")
        taken = Blocks(call, self._counts[0], output_counts, output_displacements, "output_", "source")
        given.check_within(call, "input", input)
        taken.check_within(call, "output", output)
        check_same(call, output, input)
        check_apart(call, span(where, input.size * input.itemsize), span(target, output.size * output.itemsize),
                    lambda read, written: (given.spans(read, input.itemsize), taken.spans(written, output.itemsize)))
        return output, (where, given.counts_address, given.displacements_address, target, taken.counts_address,
                        taken.displacements_address, moved(call, "input", input.dtype)), None

    def alltoallw(self, input: Array, output: Array, input_counts: Counts, output_counts: Counts,
                  input_displacements: Counts, output_displacements: Counts, input_types: Types,
                  output_types: Types) -> Array:
        """As alltoallv(), where each block has a dtype of its own, and displacements are in bytes.

        Args:
            input: An array whose bytes hold this rank's blocks for its destinations.
            output: An array with room for the blocks of its sources.
            input_counts: The elements for each destination, of its dtype.
            output_counts: The elements from each source.
            input_displacements: Where blocks begin in `input`, in bytes.
            output_displacements: Where blocks begin in `output`, in bytes.
            input_types: The dtype of each block in `input`.
            output_types: The dtype of each block in `output`.

        Returns:
            `output`.

        Raises:
            InvalidArgument: A block leaves its array, or an array or dtype can't be used.
            Error: The call has failed; Mismatch where two ranks don't agree about a length.
        """
        return self._block(lib.hocket_neighbor_alltoallw, self._to_alltoallw(
            (input, input_counts, input_displacements, input_types),
            (output, output_counts, output_displacements, output_types)))

    def alltoallw_start(self, input: Array, output: Array, input_counts: Counts, output_counts: Counts,
                        input_displacements: Counts, output_displacements: Counts, input_types: Types,
                        output_types: Types) -> Request[Array]:
        """Starts an alltoallw(); the request's wait() returns `output`."""
        return self._start(lib.hocket_neighbor_alltoallw_start, self._to_alltoallw(
            (input, input_counts, input_displacements, input_types),
            (output, output_counts, output_displacements, output_types)))

    def alltoallw_init(self, input: Array, output: Array, input_counts: Counts, output_counts: Counts,
                       input_displacements: Counts, output_displacements: Counts, input_types: Types,
                       output_types: Types) -> PersistentRequest[Array]:
        """Makes alltoallw() ready to be started; the request's wait() returns `output`."""
        return self._plan(lib.hocket_neighbor_alltoallw_init, self._to_alltoallw(
            (input, input_counts, input_displacements, input_types),
            (output, output_counts, output_displacements, output_types)))

    def _to_alltoallw(self, sent: tuple[Any, ...], received: tuple[Any, ...]) -> Prepared[Array]:
        call = "neighbor_alltoallw"
        self._check_usable(call)
        out_of = TypedBlocks(call, "input", sent, self._counts[1], "destination")
        into = TypedBlocks(call, "output", received, self._counts[0], "source")
        check_apart(call, span(out_of.arguments[0], sent[0].size * sent[0].itemsize),
                    span(into.arguments[0], received[0].size * received[0].itemsize),
                    lambda *_: (out_of.spans, into.spans))
        return received[0], (*out_of.arguments, *into.arguments), None

    # --- by the communicator ------------------------------------------------------------------------------------------

    def _check_usable(self, call: str) -> None:
        if self._made == NULL:
            raise refusal(f"{call}: the neighbourhood is freed")
        if self._communicator._comm == NULL:
            raise refusal(f"{call}: the communicator is freed")
        if self._left:
            self._take_back()

    def _block(self, function: Any, prepared: Prepared[Array]) -> Array:
        return self._communicator._block(lambda _, *arguments: function(self._made, *arguments), prepared)

    def _start(self, function: Any, prepared: Prepared[Array]) -> Request[Array]:
        return self._communicator._start(lambda _, *arguments: function(self._made, *arguments), prepared)

    def _plan(self, function: Any, prepared: Prepared[Array]) -> PersistentRequest[Array]:
        return self._communicator._plan(lambda _, *arguments: function(self._made, *arguments), prepared)

    def _take_back(self) -> None:
        while self._left:
            lib.hocket_neighbourhood_destroy(self._left.pop())
