# SPDX-License-Identifier: BSD-3-Clause
"""Collectives with blocks that differ in length: gatherv, scatterv, allgatherv, alltoallv, alltoallw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from ._api import IN_PLACE_ADDRESS, NULL, lib
from ._buffers import IN_PLACE, Blocks, TypedBlocks, address, check_apart, check_array, check_same, check_size, span
from ._calls import Calls
from ._types import moved

if TYPE_CHECKING:
    import numpy.typing

    from ._buffers import Array, Counts, InPlace
    from ._calls import Prepared
    from .persistent import PersistentRequest
    from .requests import Request

    Types = Sequence[numpy.typing.DTypeLike]


class Vectors(Calls):
    """Blocks of different lengths. `counts` has the elements of each rank's block, `displacements` where in the array
    it begins, in elements; None: one block behind the other, in the order of ranks."""

    __slots__ = ()

    def gatherv(self, input: Union[Array, InPlace], output: Optional[Array] = None, counts: Optional[Counts] = None,
                displacements: Optional[Counts] = None, root: int = 0) -> Optional[Array]:
        """Collects the arrays of all ranks at the root.

        Args:
            input: As many elements as the root has in `counts` for this rank. hocket.IN_PLACE at the root: its block is
                in `output` already.
            output: At the root: room for all blocks. This, `counts` and `displacements` are not looked at elsewhere.
            counts: At the root: the elements of each rank's block.
            displacements: At the root: where blocks begin.
            root: The rank that collects.

        Returns:
            `output` at the root, None elsewhere.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed; Mismatch where ranks don't agree about lengths.
        """
        return self._block(lib.hocket_gatherv, self._to_gatherv(input, output, counts, displacements, root))

    def gatherv_start(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                      counts: Optional[Counts] = None, displacements: Optional[Counts] = None,
                      root: int = 0) -> Request[Optional[Array]]:
        """Starts a gatherv(); the request's wait() returns what that does."""
        return self._start(lib.hocket_gatherv_start, self._to_gatherv(input, output, counts, displacements, root))

    def gatherv_init(self, input: Union[Array, InPlace], output: Optional[Array] = None,
                     counts: Optional[Counts] = None, displacements: Optional[Counts] = None,
                     root: int = 0) -> PersistentRequest[Optional[Array]]:
        """Makes gatherv() ready to be started; the request's wait() returns what that does."""
        return self._plan(lib.hocket_gatherv_init, self._to_gatherv(input, output, counts, displacements, root))

    def _to_gatherv(self, input: Any, output: Any, counts: Any, displacements: Any,
                    root: int) -> Prepared[Optional[Array]]:
        call = "gatherv"
        if not self._check_root(call, root):
            where = address(call, "input", input)
            kind = moved(call, "input", input.dtype)
            return None, (where, input.size, NULL, NULL, NULL, kind, root), None
        blocks, where, target, count = self._own_block(call, input, output, counts, displacements)
        return output, (where, count, target, blocks.counts_address, blocks.displacements_address,
                        moved(call, "output", output.dtype), root), None

    def allgatherv(self, input: Union[Array, InPlace], output: Array, counts: Counts,
                   displacements: Optional[Counts] = None) -> Array:
        """Collects the arrays of all ranks on all of them.

        Args:
            input: counts[rank] elements. hocket.IN_PLACE on all ranks: each one's block is in its `output` already.
            output: Room for all blocks, of the same dtype.
            counts: The elements of each rank's block, the same on all ranks.
            displacements: Where blocks begin in `output`.

        Returns:
            `output`.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed; Mismatch where ranks don't agree about lengths.
        """
        return self._block(lib.hocket_allgatherv, self._to_allgatherv(input, output, counts, displacements))

    def allgatherv_start(self, input: Union[Array, InPlace], output: Array, counts: Counts,
                         displacements: Optional[Counts] = None) -> Request[Array]:
        """Starts an allgatherv(); the request's wait() returns `output`."""
        return self._start(lib.hocket_allgatherv_start, self._to_allgatherv(input, output, counts, displacements))

    def allgatherv_init(self, input: Union[Array, InPlace], output: Array, counts: Counts,
                        displacements: Optional[Counts] = None) -> PersistentRequest[Array]:
        """Makes allgatherv() ready to be started; the request's wait() returns `output`."""
        return self._plan(lib.hocket_allgatherv_init, self._to_allgatherv(input, output, counts, displacements))

    def _to_allgatherv(self, input: Any, output: Any, counts: Any, displacements: Any) -> Prepared[Array]:
        blocks, where, target, _ = self._own_block("allgatherv", input, output, counts, displacements)
        return output, (where, target, blocks.counts_address, blocks.displacements_address,
                        moved("allgatherv", "output", output.dtype)), None

    def _own_block(self, call: str, input: Any, output: Any, counts: Any,
                   displacements: Any) -> tuple[Blocks, Any, Any, int]:
        """The blocks of `output`; where this rank's is, where `output`; and how many elements that has of this rank."""
        check_array(call, "output", output)
        blocks = Blocks(call, self._size, counts, displacements)
        blocks.check_within(call, "output", output)
        count = blocks.counts[self._rank]
        target = address(call, "output", output, True)
        if input is IN_PLACE:
            return blocks, IN_PLACE_ADDRESS, target, count
        where = address(call, "input", input)
        check_size(call, "input", input, count, f"`counts`[{self._rank}], for this rank, is")
        check_same(call, output, input)
        whole = span(where, input.size * input.itemsize)
        check_apart(call, whole, span(target, output.size * output.itemsize),
                    lambda _, base: ([whole], blocks.spans(base, output.itemsize)), (0, self._rank))
        return blocks, where, target, count

    def scatterv(self, input: Optional[Array], output: Union[Array, InPlace], counts: Optional[Counts] = None,
                 displacements: Optional[Counts] = None, root: int = 0) -> Union[Array, InPlace]:
        """Gives each rank its block of the root's array.

        Args:
            input: At the root: all blocks. This, `counts` and `displacements` are not looked at elsewhere: pass None.
            output: As many elements as the root has in `counts` for this rank. hocket.IN_PLACE at the root: its block
                stays where it is.
            counts: At the root: the elements of each rank's block.
            displacements: At the root: where blocks begin.
            root: The rank that has the data.

        Returns:
            `output`.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed; Mismatch where ranks don't agree about lengths.
        """
        return self._block(lib.hocket_scatterv, self._to_scatterv(input, output, counts, displacements, root))

    def scatterv_start(self, input: Optional[Array], output: Union[Array, InPlace], counts: Optional[Counts] = None,
                       displacements: Optional[Counts] = None, root: int = 0) -> Request[Union[Array, InPlace]]:
        """Starts a scatterv(); the request's wait() returns `output`."""
        return self._start(lib.hocket_scatterv_start, self._to_scatterv(input, output, counts, displacements, root))

    def scatterv_init(self, input: Optional[Array], output: Union[Array, InPlace], counts: Optional[Counts] = None,
                      displacements: Optional[Counts] = None,
                      root: int = 0) -> PersistentRequest[Union[Array, InPlace]]:
        """Makes scatterv() ready to be started; the request's wait() returns `output`."""
        return self._plan(lib.hocket_scatterv_init, self._to_scatterv(input, output, counts, displacements, root))

    def _to_scatterv(self, input: Any, output: Any, counts: Any, displacements: Any,
                     root: int) -> Prepared[Union[Array, InPlace]]:
        call = "scatterv"
        if not self._check_root(call, root):
            where = address(call, "output", output, True)
            kind = moved(call, "output", output.dtype)
            return output, (NULL, NULL, NULL, where, output.size, kind, root), None
        source = address(call, "input", input)
        blocks = Blocks(call, self._size, counts, displacements)
        blocks.check_within(call, "input", input)
        target: Any = IN_PLACE_ADDRESS
        count = blocks.counts[self._rank]
        if output is not IN_PLACE:
            target = address(call, "output", output, True)
            check_size(call, "output", output, count, f"`counts`[{self._rank}], for this rank, is")
            check_same(call, output, input)
            whole = span(target, output.size * output.itemsize)
            check_apart(call, span(source, input.size * input.itemsize), whole,
                        lambda base, _: (blocks.spans(base, input.itemsize), [whole]), (self._rank, 0))
        return output, (source, blocks.counts_address, blocks.displacements_address, target, count,
                        moved(call, "input", input.dtype), root), None

    def alltoallv(self, input: Union[Array, InPlace], output: Array, input_counts: Optional[Counts],
                  output_counts: Counts, input_displacements: Optional[Counts] = None,
                  output_displacements: Optional[Counts] = None) -> Array:
        """Gives each rank its block of each rank's array.

        Args:
            input: This rank's blocks for all ranks. hocket.IN_PLACE on all ranks: they are in `output`, as long as what
                replaces them; `input_counts` and `input_displacements` are not looked at.
            output: Room for the blocks of all ranks, of the same dtype.
            input_counts: The elements for each rank.
            output_counts: The elements from each rank.
            input_displacements: Where blocks begin in `input`.
            output_displacements: Where blocks begin in `output`.

        Returns:
            `output`.

        Raises:
            InvalidArgument: Sizes or dtypes don't fit, or an array can't be used.
            Error: The call has failed; Mismatch where ranks don't agree about lengths.
        """
        return self._block(lib.hocket_alltoallv, self._to_alltoallv(
            input, output, input_counts, output_counts, input_displacements, output_displacements))

    def alltoallv_start(self, input: Union[Array, InPlace], output: Array, input_counts: Optional[Counts],
                        output_counts: Counts, input_displacements: Optional[Counts] = None,
                        output_displacements: Optional[Counts] = None) -> Request[Array]:
        """Starts an alltoallv(); the request's wait() returns `output`."""
        return self._start(lib.hocket_alltoallv_start, self._to_alltoallv(
            input, output, input_counts, output_counts, input_displacements, output_displacements))

    def alltoallv_init(self, input: Union[Array, InPlace], output: Array, input_counts: Optional[Counts],
                       output_counts: Counts, input_displacements: Optional[Counts] = None,
                       output_displacements: Optional[Counts] = None) -> PersistentRequest[Array]:
        """Makes alltoallv() ready to be started; the request's wait() returns `output`."""
        return self._plan(lib.hocket_alltoallv_init, self._to_alltoallv(
            input, output, input_counts, output_counts, input_displacements, output_displacements))

    def _to_alltoallv(self, input: Any, output: Any, input_counts: Any, output_counts: Any, input_displacements: Any,
                      output_displacements: Any) -> Prepared[Array]:
        call = "alltoallv"
        target = address(call, "output", output, True)
        received = Blocks(call, self._size, output_counts, output_displacements, "output_")
        received.check_within(call, "output", output)
        sources: tuple[Any, Any, Any] = (IN_PLACE_ADDRESS, NULL, NULL)
        if input is not IN_PLACE:
            where = address(call, "input", input)
            sent = Blocks(call, self._size, input_counts, input_displacements, "input_")
            sent.check_within(call, "input", input)
            check_same(call, output, input)
            check_apart(call, span(where, input.size * input.itemsize), span(target, output.size * output.itemsize),
                        lambda read, written: (sent.spans(read, input.itemsize),
                                               received.spans(written, output.itemsize)), (self._rank, self._rank))
            sources = (where, sent.counts_address, sent.displacements_address)
        return output, (*sources, target, received.counts_address, received.displacements_address,
                        moved(call, "output", output.dtype)), None

    def alltoallw(self, input: Union[Array, InPlace], output: Array, input_counts: Optional[Counts],
                  output_counts: Counts, input_displacements: Optional[Counts], output_displacements: Counts,
                  input_types: Optional[Types], output_types: Types) -> Array:
        """As alltoallv(), where each block has a dtype of its own, and displacements are in bytes.

        Args:
            input: An array whose bytes hold this rank's blocks. hocket.IN_PLACE on all ranks: they are in `output`, and
                the other three of `input` are not looked at.
            output: An array with room for the blocks of all ranks.
            input_counts: The elements for each rank, of its dtype.
            output_counts: The elements from each rank.
            input_displacements: Where blocks begin in `input`, in bytes.
            output_displacements: Where blocks begin in `output`, in bytes.
            input_types: The dtype of each block in `input`.
            output_types: The dtype of each block in `output`.

        Returns:
            `output`.

        Raises:
            InvalidArgument: A block leaves its array, or an array or dtype can't be used.
            Error: The call has failed; Mismatch where ranks don't agree about lengths.
        """
        return self._block(lib.hocket_alltoallw, self._to_alltoallw(
            (input, input_counts, input_displacements, input_types),
            (output, output_counts, output_displacements, output_types)))

    def alltoallw_start(self, input: Union[Array, InPlace], output: Array, input_counts: Optional[Counts],
                        output_counts: Counts, input_displacements: Optional[Counts], output_displacements: Counts,
                        input_types: Optional[Types], output_types: Types) -> Request[Array]:
        """Starts an alltoallw(); the request's wait() returns `output`."""
        return self._start(lib.hocket_alltoallw_start, self._to_alltoallw(
            (input, input_counts, input_displacements, input_types),
            (output, output_counts, output_displacements, output_types)))

    def alltoallw_init(self, input: Union[Array, InPlace], output: Array, input_counts: Optional[Counts],
                       output_counts: Counts, input_displacements: Optional[Counts], output_displacements: Counts,
                       input_types: Optional[Types], output_types: Types) -> PersistentRequest[Array]:
        """Makes alltoallw() ready to be started; the request's wait() returns `output`."""
        return self._plan(lib.hocket_alltoallw_init, self._to_alltoallw(
            (input, input_counts, input_displacements, input_types),
            (output, output_counts, output_displacements, output_types)))

    def _to_alltoallw(self, sent: tuple[Any, ...], received: tuple[Any, ...]) -> Prepared[Array]:
        into = TypedBlocks("alltoallw", "output", received, self._size)
        source: tuple[Any, ...] = (IN_PLACE_ADDRESS, NULL, NULL, NULL)
        if sent[0] is not IN_PLACE:
            out_of = TypedBlocks("alltoallw", "input", sent, self._size)
            source = out_of.arguments
            check_apart("alltoallw", span(source[0], sent[0].size * sent[0].itemsize),
                        span(into.arguments[0], received[0].size * received[0].itemsize),
                        lambda *_: (out_of.spans, into.spans), (self._rank, self._rank))
        return received[0], (*source, *into.arguments), None
