# SPDX-License-Identifier: BSD-3-Clause
"""Collectives among the neighbours of each rank: halo exchanges, and whatever else is sparse."""

from __future__ import annotations

import types
import weakref
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Sequence, Union

from ._api import NULL, check, ffi, lib
from ._cdef import NO_RANK
from ._neighbors import NeighborExchanges
from .errors import not_copied, refusal

if TYPE_CHECKING:
    import numpy

    from .communicator import Communicator

    Numbers = Union[Sequence[int], numpy.ndarray[Any, numpy.dtype[numpy.integer[Any]]]]
    Periodic = Union[bool, Sequence[bool]]

_TEXT_BYTES = 1 << 20
_LARGEST = 2**31 - 1

# Of each communicator the handles that nobody has any more. The library wants them back from a thread that uses the
# communicator, and objects may end in any.
_left: weakref.WeakKeyDictionary[Communicator, list[Any]] = weakref.WeakKeyDictionary()


class Neighbourhood(NeighborExchanges):
    """From whom each rank of a communicator gets a block, and whom it gives one. Made once, it serves any number of
    calls, which are calls of the communicator: all its ranks make them, in the same order as its others.

        halo = hocket.Neighbourhood.grid(comm, (4, 2), periodic=True)    # two neighbours in each dimension
        ghosts = halo.alltoall(edges)                                    # edges[k] is for halo.destinations[k],
                                                                         # ghosts[k] comes from halo.sources[k]

    Neighbourhood(comm, sources, destinations) makes one of lists, Neighbourhood.grid() and Neighbourhood.stencil() of a
    grid of ranks. All three are collective over `comm`: if arguments can't be right on one rank, or ranks disagree, all
    of them get an error.

    Arrays are as those of a Communicator's methods, but hocket.IN_PLACE is not served. Beyond an edge of a dimension
    that isn't periodic is nobody: None in `sources` and `destinations`. Nobody's block of an `input` is not looked at,
    that of an `output` left as it is, and 0 in a new one.

    Args:
        comm: Whose ranks they are.
        sources: The ranks that this one gets a block from, in the order of its blocks. A rank may be there several
            times, and its own neighbour.
        destinations: The ranks that this one gives a block. The k-th block that goes from one rank to another is the
            k-th that the other one gets from it, so both lists must have as many.

    Raises:
        InvalidArgument: A list can't be right, on this rank or on another, or the lists of two ranks don't agree.
    """

    __slots__ = ()

    def __init__(self, comm: Communicator, sources: Numbers, destinations: Numbers) -> None:
        given = _integers("sources", sources), _integers("destinations", destinations)
        self._create(comm, lib.hocket_neighbourhood_create, len(given[0]), given[0], len(given[1]), given[1])

    @classmethod
    def grid(cls, comm: Communicator, lengths: Numbers, periodic: Periodic = False) -> Neighbourhood:
        """On a grid of ranks each has two neighbours in each dimension: first the one below, then the one above. What
        is given to the one below comes, there, from above.

        Args:
            comm: Its ranks lie on the grid, the last dimension counted first: numpy.unravel_index(rank, lengths) says
                where.
            lengths: How many ranks there are in each dimension; their product is the communicator's size.
            periodic: Whether the last rank of a dimension is a neighbour of the first: for each dimension, or once for
                all.

        Raises:
            InvalidArgument: The grid can't be right, on this rank or on another.
            Mismatch: Ranks pass different grids. The communicator is as good as before.
        """
        made = cls.__new__(cls)
        made._create(comm, lib.hocket_neighbourhood_create_grid, *_grid(lengths, periodic))
        return made

    @classmethod
    def stencil(cls, comm: Communicator, lengths: Numbers, offsets: Any,
                periodic: Periodic = False) -> Neighbourhood:
        """The same with neighbours at any offsets. Diagonal ones may then get their blocks by way of others.

        Args:
            comm: Its ranks lie on the grid, as of grid().
            lengths: How many ranks there are in each dimension.
            offsets: For each neighbour how far it is away in each dimension, as [(0, 1), (1, 1)]; the same on all
                ranks. The k-th source is as far away as the k-th destination, on the other side.
            periodic: As of grid().

        Raises:
            InvalidArgument: Grid or offsets can't be right, on this rank or on another.
            Mismatch: Ranks pass different ones. The communicator is as good as before.
        """
        made = cls.__new__(cls)
        grid = _grid(lengths, periodic)
        rows = list(offsets)
        listed = [_integers(f"offsets[{k}]", row) for k, row in enumerate(rows)]
        for k, row in enumerate(listed):
            if len(row) != grid[0]:
                raise refusal(f"`offsets`[{k}] is {rows[k]!r}; it needs a number for each of {grid[0]} dimensions")
        made._create(comm, lib.hocket_neighbourhood_create_stencil, *grid, len(listed),
                     [number for row in listed for number in row])
        return made

    def _create(self, comm: Communicator, function: Any, *arguments: Any) -> None:
        self._made = NULL
        self._communicator = comm
        if comm.is_freed:
            raise refusal("Neighbourhood: the communicator is freed")
        self._left = _left.setdefault(comm, [])
        self._take_back()
        box = ffi.new("hocket_neighbourhood_t **")
        lists = [ffi.new("int[]", each) if isinstance(each, list) else each for each in arguments]
        comm._look_after_dropped()
        check(function(comm._comm, *lists, box))
        self._made = box[0]
        numbers = ffi.new("int[2]")
        check(lib.hocket_neighbourhood_counts(self._made, numbers, numbers + 1))
        self._counts = int(numbers[0]), int(numbers[1])
        ranks = [ffi.new("int[]", count) for count in self._counts]
        check(lib.hocket_neighbourhood_ranks(self._made, *ranks))
        self._sources, self._destinations = (
            tuple(None if rank == NO_RANK else int(rank) for rank in each) for each in ranks)

    def __reduce__(self) -> NoReturn:
        not_copied(self)

    def __repr__(self) -> str:
        state = ", freed" if self.is_freed else ""
        return f"<hocket.Neighbourhood, {self._counts[0]} sources, {self._counts[1]} destinations{state}>"

    @property
    def sources(self) -> tuple[Optional[int], ...]:
        """The ranks that this one gets blocks from, in the order of the blocks; None: nobody."""
        return self._sources

    @property
    def destinations(self) -> tuple[Optional[int], ...]:
        """The ranks that this one gives blocks, in the order of the blocks; None: nobody."""
        return self._destinations

    @property
    def is_freed(self) -> bool:
        """Whether free() has ended it."""
        return bool(self._made == NULL)

    def free(self) -> None:
        """Gives back what it holds. Not collective; requests go on. Who forgets it loses little: what is dropped is
        given back later."""
        made, self._made = self._made, NULL
        lib.hocket_neighbourhood_destroy(made)

    def __enter__(self) -> Neighbourhood:
        return self

    def __exit__(self, _kind: Optional[type[BaseException]], _error: Optional[BaseException],
                 _traceback: Optional[types.TracebackType]) -> None:
        self.free()

    def __del__(self) -> None:
        if getattr(self, "_made", NULL) != NULL:
            self._left.append(self._made)

    def explain(self, collective: str, size_bytes: int = 0) -> str:
        """What would run for such a call among these neighbours, and why.

        Args:
            collective: Its name, "neighbor_alltoall". Communicator.force() takes these names, too.
            size_bytes: Of a block; the vector versions ignore it.

        Returns:
            A text of several lines.

        Raises:
            InvalidArgument: There is no such collective; the message names those that there are.
        """
        self._check_usable("explain")
        text = ffi.new("char[]", _TEXT_BYTES)
        check(lib.hocket_neighbourhood_explain(self._made, collective.encode(), size_bytes, text, _TEXT_BYTES))
        return str(ffi.string(text).decode())


def _integers(name: str, values: Any) -> list[int]:
    try:
        listed = [int(value.__index__()) for value in values]
    except (TypeError, AttributeError):
        raise TypeError(f"`{name}` is {values!r}; pass a sequence of whole numbers") from None
    for place, value in enumerate(listed):
        if abs(value) > _LARGEST:
            raise refusal(f"`{name}`[{place}] is {value}; numbers up to 2^31-1 are served")
    return listed


def _grid(lengths: Any, periodic: Any) -> tuple[int, list[int], list[int]]:
    """What the C functions take: dimensions, lengths, periods."""
    listed = _integers("lengths", lengths)
    periods = [bool(each) for each in periodic] if hasattr(periodic, "__len__") else [bool(periodic)] * len(listed)
    if len(periods) != len(listed):
        raise refusal(f"`periodic` is {periodic!r}; it needs one for each of {len(listed)} dimensions, or one for all")
    return len(listed), listed, [int(each) for each in periods]
