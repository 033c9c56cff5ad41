# SPDX-License-Identifier: BSD-3-Clause
"""Neighbourhoods of lists, grids and stencils: each block is the right neighbour's. Run by all_on_ranks.py."""

import copy
import gc

import numpy as np
from misuse_on_ranks import refused
from numbers_of_ranks import all_forms, array_of, same

import hocket

ALLTOALL = ["linear", "direct", None]


def halves(size):
    """A grid of two dimensions for so many ranks."""
    return (2, size // 2) if size % 2 == 0 else (1, size)


def stepped(rank, lengths, offset, periodic):
    """The rank at an offset on a grid, or None."""
    places = [place + step for place, step in zip(np.unravel_index(rank, lengths), offset)]
    if not all(is_periodic or 0 <= place < length for place, length, is_periodic in zip(places, lengths, periodic)):
        return None
    return int(np.ravel_multi_index([place % length for place, length in zip(places, lengths)], lengths))


def opposite(offset):
    return [-step for step in offset]


def grid_offsets(dimensions):
    """In the order of a grid's destinations."""
    return [[step if dimension == other else 0 for other in range(dimensions)]
            for dimension in range(dimensions) for step in (-1, 1)]


def ring(comm):
    """Each rank gives the ranks behind it a block, the next one two: (neighbourhood, sources, destinations)."""
    rank, size = comm.rank, comm.size
    destinations = [(rank + 1) % size, (rank + 2) % size, (rank + 1) % size]
    sources = [(rank - 1) % size, (rank - 1) % size, (rank - 2) % size]
    return hocket.Neighbourhood(comm, sources, destinations), sources, destinations


def block(source, place, shape, dtype="f8"):
    """What a rank gives its place-th destination."""
    return array_of(source, shape, dtype, 7 + place)


def ring_place(k, rank, size):
    """Which of a source's destinations the k-th block of a rank comes from, where no two steps lead to one rank."""
    assert size > 2 and rank < size
    return [0, 2, 1][k]


def test_a_grid(comm):
    rank, size = comm.rank, comm.size
    for lengths in ((size,), halves(size), (1, size, 1)):
        for periodic in (True, False, [place % 2 == 0 for place in range(len(lengths))]):
            periods = [periodic] * len(lengths) if isinstance(periodic, bool) else periodic
            offsets = grid_offsets(len(lengths))
            with hocket.Neighbourhood.grid(comm, lengths, periodic) as halo:
                assert halo.destinations == tuple(stepped(rank, lengths, each, periods) for each in offsets)
                assert halo.sources == halo.destinations
                for shape in ((), 0, (2, 3), 700):
                    mine = np.stack([block(rank, k, shape) for k in range(len(offsets))])
                    # What was given to the one below comes from above.
                    wanted = np.stack([np.zeros(shape) if source is None else block(source, k ^ 1, shape)
                                       for k, source in enumerate(halo.sources)])
                    for found in all_forms(halo, "alltoall", lambda: (mine,)):
                        assert found.shape == wanted.shape
                        same(found, wanted, "neighbor_alltoall")


def test_a_stencil(comm):
    rank, size = comm.rank, comm.size
    lengths, periods = halves(size), [True, False]
    offsets = [(0, 1), (1, 1), (-1, 0), (0, 0), (1, -2)]
    for given in (offsets, np.array(offsets)):
        halo = hocket.Neighbourhood.stencil(comm, lengths, given, periods)
        assert halo.destinations == tuple(stepped(rank, lengths, each, periods) for each in offsets)
        assert halo.sources == tuple(stepped(rank, lengths, opposite(each), periods) for each in offsets)
        mine = np.stack([block(rank, k, 5, "c16") for k in range(len(offsets))])
        wanted = np.stack([np.full(5, -1 + 0j) if source is None else block(source, k, 5, "c16")
                           for k, source in enumerate(halo.sources)])
        for found in all_forms(halo, "alltoall", lambda: (mine, np.full_like(wanted, -1))):
            same(found, wanted, "neighbor_alltoall")
        own = array_of(rank, (3, 2), "i4")
        wanted = np.stack([np.zeros((3, 2), "i4") if source is None else array_of(source, (3, 2), "i4")
                           for source in halo.sources])
        for found in all_forms(halo, "allgather", lambda: (own,)):
            assert found.shape == wanted.shape
            same(found, wanted, "neighbor_allgather")


def test_lists(comm):
    rank, size = comm.rank, comm.size
    halo, sources, destinations = ring(comm)
    assert (halo.sources, halo.destinations) == (tuple(sources), tuple(destinations))
    assert repr(halo) == "<hocket.Neighbourhood, 3 sources, 3 destinations>"
    for found in all_forms(halo, "allgather", lambda: (array_of(rank, 4),)):
        same(found, np.stack([array_of(source, 4) for source in sources]), "neighbor_allgather")
    if size < 3:
        return
    mine = np.stack([block(rank, k, 4) for k in range(3)])
    wanted = np.stack([block(source, ring_place(k, rank, size), 4) for k, source in enumerate(sources)])
    for algorithm in ALLTOALL:
        comm.force("neighbor_alltoall", algorithm)
        if algorithm is not None:
            assert algorithm in halo.explain("neighbor_alltoall", 32)
        for found in all_forms(halo, "alltoall", lambda: (mine,)):
            same(found, wanted, f"neighbor_alltoall by {algorithm}")


def test_who_has_no_neighbours(comm):
    """The last rank gets a block of each other one; nobody gets one of it."""
    rank, size = comm.rank, comm.size
    last = rank == size - 1
    halo = hocket.Neighbourhood(comm, range(size - 1) if last else [], [] if last else [size - 1])
    given = np.empty((0, 3)) if last else array_of(rank, (1, 3))
    wanted = np.stack([array_of(each, (1, 3)) for each in range(size)])[:size - 1] if last else np.empty((0, 3))
    for found in all_forms(halo, "alltoall", lambda: (given,)):
        assert found.shape == ((size - 1, 3) if last else (0, 3))
        same(found, wanted, "neighbor_alltoall")
    for found in all_forms(halo, "allgather", lambda: (array_of(rank, (1, 3)),)):
        same(found, wanted, "neighbor_allgather")
    if last:
        refused(["`input`", "no destinations", "3 elements"], halo.alltoall, np.ones(3))


def test_vector_versions(comm):
    rank, size = comm.rank, comm.size
    lengths, periods, offsets = halves(size), [True, False], grid_offsets(2)
    halo = hocket.Neighbourhood.grid(comm, lengths, periods)

    def count(source, place):
        return (source + 2 * place) % 4

    given = [block(rank, k, count(rank, k)) for k in range(len(offsets))]
    taken = [np.empty(0) if source is None else block(source, k ^ 1, count(source, k ^ 1))
             for k, source in enumerate(halo.sources)]
    sent, got = [len(each) for each in given], [len(each) for each in taken]
    whole = np.concatenate(taken)
    for found in all_forms(halo, "alltoallv", lambda: (np.concatenate(given), np.full_like(whole, -1), sent, got)):
        same(found, whole, "neighbor_alltoallv")
    spread, wanted = np.full(40, -2.0), np.full(40, -1.0)
    begins = [8 * place + 1 for place in range(4)]
    for place, begin in enumerate(begins):
        spread[begin:begin + sent[place]] = given[place]
        wanted[begin:begin + got[place]] = taken[place]
    for found in all_forms(halo, "alltoallv", lambda: (spread, np.full(40, -1.0), sent, got, begins, begins)):
        same(found, wanted, "neighbor_alltoallv with displacements")
    bytes_of = [8 * begin for begin in begins]
    for found in all_forms(halo, "alltoallw", lambda: (
            spread, np.full(40, -1.0), sent, [2 * each for each in got], bytes_of, bytes_of, ["f8"] * 4, ["i4"] * 4)):
        same(found, wanted, "neighbor_alltoallw")
    gathered = [0 if source is None else 1 + source for source in halo.sources]
    wanted = np.concatenate([array_of(source, 1 + source, "i2") for source in halo.sources if source is not None] +
                            [np.empty(0, "i2")])
    for found in all_forms(halo, "allgatherv", lambda: (
            array_of(rank, 1 + rank, "i2"), np.empty_like(wanted), gathered)):
        same(found, wanted, "neighbor_allgatherv")


def test_requests_outlive_their_neighbourhood(comm):
    halo = hocket.Neighbourhood.grid(comm, (comm.size,), True)
    requests = [halo.alltoall_start(np.stack([array_of(comm.rank, 3000, "f8", salt)] * 2)) for salt in range(4)]
    beside = comm.allreduce_start(np.ones(2))
    sources = halo.sources
    halo.free()
    halo.free()
    assert halo.is_freed and "freed" in repr(halo)
    gc.collect()
    for salt, request in enumerate(requests):
        same(request.wait(), np.stack([array_of(source, 3000, "f8", salt) for source in sources]))
    same(beside.wait(), np.full(2, float(comm.size)))
    refused(["the neighbourhood is freed"], halo.allgather, np.ones(1))
    refused(["the neighbourhood is freed"], halo.explain, "neighbor_alltoall")


def test_dropped_ones_are_given_back(comm):
    for _ in range(3):
        hocket.Neighbourhood.grid(comm, (comm.size,), True).allgather(np.ones(1))
    gc.collect()
    left = hocket.neighbourhoods._left[comm]
    assert left
    kept = hocket.Neighbourhood.grid(comm, (comm.size,), False)
    assert not left
    twin = comm.dup()
    of_twin = hocket.Neighbourhood.grid(twin, (comm.size,), False)
    twin.free()
    refused(["the communicator is freed"], of_twin.allgather, np.ones(1))
    refused(["the communicator is freed"], hocket.Neighbourhood.grid, twin, (comm.size,))
    del of_twin
    refused(["can't be copied or pickled"], copy.copy, kept, kind=TypeError)


def test_neighbourhoods_that_can_not_be(comm):
    size, make = comm.size, hocket.Neighbourhood
    refused(["grid", f"{size + 1} points"], make.grid, comm, (size + 1,))
    refused(["is 0 long"], make.grid, comm, (0, size))
    refused(["source 0", f"rank {size}", f"{size} ranks"], make, comm, [size], [size])
    refused(["source 0", "rank -1"], make, comm, [-1], [-1])
    refused(["1 by the destinations", "0 by the sources"], make, comm, [], [0])
    if size > 1:
        try:
            make.grid(comm, (size,), comm.rank == 0)
        except hocket.Mismatch as error:
            assert "different grids" in str(error)
        else:
            raise AssertionError("taken: different grids")
        # One rank's mistake is told to all.
        refused(["-1 long" if comm.rank == 1 else "rank 1"], make.grid, comm, (-1 if comm.rank == 1 else size,))
    # What never comes to the library.
    refused(["`lengths`", "whole numbers"], make.grid, comm, (1.5,), kind=TypeError)
    refused(["`sources`", "whole numbers"], make, comm, 3, [], kind=TypeError)
    refused(["`sources`[1]", "2^31"], make, comm, [0, 1 << 40], [])
    refused(["`periodic`", "2 dimensions"], make.grid, comm, (1, size), [True])
    refused(["`offsets`[1]", "1 dimensions"], make.stencil, comm, (size,), [(1,), (1, 1)])
    refused(["no collective among neighbours"], make.grid(comm, (size,)).explain, "alltoall")


def test_arrays_that_do_not_fit(comm):
    halo = hocket.Neighbourhood.grid(comm, (comm.size,), True)
    three = np.arange(3.0)
    refused(["`input`", "3 elements", "each of 2 destinations"], halo.alltoall, three)
    refused(["`output`", "each of 2 sources: 4"], halo.alltoall, np.ones(4), np.ones(3))
    refused(["`output`", "float32"], halo.alltoall, np.ones(2), np.ones(2, "f4"))
    refused(["`output`", "each of 2 sources: 6"], halo.allgather, three, np.ones(3))
    refused(["overlap", "two buffers"], halo.allgather, three[:1], three[:2])
    refused(["IN_PLACE"], halo.allgather, hocket.IN_PLACE, three, kind=TypeError)
    refused(["`counts`", "each of 2 sources"], halo.allgatherv, three, np.ones(9), [3])
    refused(["`input_counts`", "each of 2 destinations"], halo.alltoallv, three, np.ones(9), [3], [1, 1])
    refused(["source 1", "leaves `output`"], halo.alltoallv, three, np.ones(2), [1, 1], [1, 2])
    refused(["destination 0", "leaves `input`"], halo.alltoallv, three, np.ones(2), [4, 1], [1, 1])
    refused(["overlap", "copy()"], halo.alltoallv, three, three, [1, 1], [1, 1])
    refused(["overlap", "copy()"], halo.allgatherv, three[:1], three, [1, 1])
    refused(["`output_types`", "2 sources"], halo.alltoallw, three, np.ones(2), [1, 1], [1, 1], [0, 8], [0, 8],
            ["f8", "f8"], ["f8"])
    # Between the blocks that are read lie those that are written.
    between = np.array([comm.rank, comm.rank, -1.0, -1.0])
    halo.alltoallv(between, between, [1, 1], [1, 1], [0, 1], [2, 3])
    same(between[2:], np.array(halo.sources, "f8"))
