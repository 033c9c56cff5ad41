# SPDX-License-Identifier: BSD-3-Clause
"""Gathers, scatters, all-to-alls, groups and shared memory against NumPy's answers. Run by all_on_ranks.py."""

import asyncio
import gc

import numpy as np
from numbers_of_ranks import array_of, arrays_of, all_forms, folded, same

import hocket


def counts_of(size, salt=0):
    return [(3 * each + salt) % 5 for each in range(size)]


def placed(blocks, counts, gap):
    """Where blocks begin, with a gap before each, and an array of -1 with the blocks there."""
    begins = [sum(counts[:each]) + (each + 1) * gap for each in range(len(counts))]
    array = np.full(sum(counts) + (len(counts) + 1) * gap, -1.0)
    for begin, block in zip(begins, blocks):
        array[begin:begin + len(block)] = block
    return begins, array


def test_gather_and_allgather(comm):
    rank, size = comm.rank, comm.size
    for shape in [(), 0, (2, 3), 2000]:
        operands = arrays_of(size, shape)
        wanted = np.stack(operands)
        for found in all_forms(comm, "allgather", lambda: (operands[rank],)):
            assert found.shape == wanted.shape
            same(found, wanted, "allgather")
        own = np.full(wanted.shape, -1.0)
        own[rank] = operands[rank]
        for found in all_forms(comm, "allgather", lambda: (hocket.IN_PLACE, own.copy())):
            same(found, wanted, "allgather in place")
        for root in range(size):
            for found in all_forms(comm, "gather", lambda: (operands[rank], None, root)):
                assert (found is None) == (rank != root)
                if rank == root:
                    same(found, wanted, "gather")
            for found in all_forms(comm, "gather", lambda: (
                    (hocket.IN_PLACE, own.copy(), root) if rank == root else (operands[rank], None, root))):
                if rank == root:
                    same(found, wanted, "gather in place")


def test_scatter(comm):
    rank, size = comm.rank, comm.size
    for shape in [(), 0, (2, 3), 2000]:
        for root in range(size):
            whole = np.stack(arrays_of(size, shape, "f4", root))
            for found in all_forms(comm, "scatter", lambda: (
                    whole if rank == root else None, np.empty(shape, "f4"), root)):
                same(found, whole[rank], "scatter")
            for found in all_forms(comm, "scatter", lambda: (
                    (whole, hocket.IN_PLACE, root) if rank == root else (None, np.empty(shape, "f4"), root))):
                if rank != root:
                    same(found, whole[rank], "scatter in place")
                else:
                    assert found is hocket.IN_PLACE


def test_alltoall(comm):
    rank, size = comm.rank, comm.size
    for length in (0, 1, 3, 700):
        operands = arrays_of(size, (size, length), "c16")
        wanted = np.stack([operand[rank] for operand in operands])
        for found in all_forms(comm, "alltoall", lambda: (operands[rank],)):
            same(found, wanted, "alltoall")
        for found in all_forms(comm, "alltoall", lambda: (hocket.IN_PLACE, operands[rank].copy())):
            same(found, wanted, "alltoall in place")


def test_gatherv_and_allgatherv(comm):
    rank, size = comm.rank, comm.size
    for gap in (0, 2):
        counts = counts_of(size, 1)
        blocks = [array_of(each, counts[each]) for each in range(size)]
        begins, wanted = placed(blocks, counts, gap)
        layout = (counts, begins if gap else None)
        for found in all_forms(comm, "allgatherv", lambda: (blocks[rank], np.full_like(wanted, -1), *layout)):
            same(found, wanted, "allgatherv")
        own = np.full_like(wanted, -1)
        own[begins[rank]:begins[rank] + counts[rank]] = blocks[rank]
        for found in all_forms(comm, "allgatherv", lambda: (hocket.IN_PLACE, own.copy(), *layout)):
            same(found, wanted, "allgatherv in place")
        for root in range(size):
            for found in all_forms(comm, "gatherv", lambda: (
                    (blocks[rank], np.full_like(wanted, -1), *layout, root) if rank == root
                    else (blocks[rank], None, None, None, root))):
                if rank == root:
                    same(found, wanted, "gatherv")
                else:
                    assert found is None
            for found in all_forms(comm, "gatherv", lambda: (
                    (hocket.IN_PLACE, own.copy(), *layout, root) if rank == root
                    else (blocks[rank], None, None, None, root))):
                if rank == root:
                    same(found, wanted, "gatherv in place")


def test_scatterv(comm):
    rank, size = comm.rank, comm.size
    for gap in (0, 3):
        for root in range(size):
            counts = counts_of(size, root)
            blocks = [array_of(each, counts[each], "f8", root) for each in range(size)]
            begins, whole = placed(blocks, counts, gap)
            given = (counts, np.array(begins) if gap else None, root)
            for found in all_forms(comm, "scatterv", lambda: (
                    (whole, np.empty(counts[rank]), *given) if rank == root
                    else (None, np.empty(counts[rank]), None, None, root))):
                same(found, blocks[rank], "scatterv")
            for found in all_forms(comm, "scatterv", lambda: (
                    (whole, hocket.IN_PLACE, *given) if rank == root
                    else (None, np.empty(counts[rank]), None, None, root))):
                if rank != root:
                    same(found, blocks[rank], "scatterv in place")


def test_alltoallv(comm):
    rank, size = comm.rank, comm.size

    def block(source, target):
        return array_of(source, (source + 2 * target) % 4, "f8", target)

    sent = [block(rank, target) for target in range(size)]
    received = [block(source, rank) for source in range(size)]
    for gap in (0, 2):
        sent_begins, given = placed(sent, [len(each) for each in sent], gap)
        got_begins, wanted = placed(received, [len(each) for each in received], gap)
        for found in all_forms(comm, "alltoallv", lambda: (
                given, np.full_like(wanted, -1), [len(each) for each in sent], [len(each) for each in received],
                sent_begins if gap else None, got_begins if gap else None)):
            same(found, wanted, "alltoallv")
    counts = [(rank + other) % 3 for other in range(size)]
    own = np.concatenate([array_of(rank, counts[other], "f8", other) for other in range(size)])
    wanted = np.concatenate([array_of(other, counts[other], "f8", rank) for other in range(size)])
    for found in all_forms(comm, "alltoallv", lambda: (hocket.IN_PLACE, own.copy(), None, counts)):
        same(found, wanted, "alltoallv in place")


def test_alltoallw(comm):
    rank, size = comm.rank, comm.size
    kinds = ["i1", "i4", "f8", "c16"]

    def kind(source, target):
        return np.dtype(kinds[(source + target) % 4])

    def layout(pairs):
        """Counts, begins in bytes and dtypes of blocks of 3 elements, each on a bound of 64 bytes."""
        return [3] * size, [64 * each for each in range(size)], [kind(*pair) for pair in pairs]

    given, wanted = np.zeros(64 * size, "u1"), np.zeros(64 * size, "u1")
    for other in range(size):
        out, into = array_of(rank, 3, kind(rank, other), other), array_of(other, 3, kind(other, rank), rank)
        given[64 * other:64 * other + out.size * out.itemsize] = out.view("u1")
        wanted[64 * other:64 * other + into.size * into.itemsize] = into.view("u1")
    sent, got = layout([(rank, other) for other in range(size)]), layout([(other, rank) for other in range(size)])
    for found in all_forms(comm, "alltoallw", lambda: (
            given, np.zeros(64 * size, "u1"), sent[0], got[0], sent[1], got[1], sent[2], got[2])):
        same(found, wanted, "alltoallw")
    for found in all_forms(comm, "alltoallw", lambda: (
            hocket.IN_PLACE, given.copy(), None, got[0], None, got[1], None, got[2])):
        same(found, wanted, "alltoallw in place")


def test_split_and_dup(comm):
    rank, size = comm.rank, comm.size
    with comm.split(rank % 2, -rank) as half:
        members = sorted((other for other in range(size) if other % 2 == rank % 2), reverse=True)
        assert half.size == len(members) and members[half.rank] == rank
        same(half.allgather(np.array([rank])), np.array([[other] for other in members]))
    assert half.is_freed
    assert (comm.split(None if rank else 7) is None) == (rank > 0)
    with comm.dup() as twin:
        assert (twin.rank, twin.size) == (rank, size)
        twin.barrier()


def test_several_requests_at_a_time(comm):
    operands = [arrays_of(comm.size, 500, "f8", salt) for salt in range(8)]
    requests = [comm.allreduce_start(operand[comm.rank]) for operand in operands]
    for operand, request in reversed(list(zip(operands, requests))):
        same(request.wait(), folded(np.add, operand))
        assert request.test()
        same(request.wait(), folded(np.add, operand), "asked again")
    with comm.broadcast_start(array_of(comm.rank, 9)) as request:
        pass
    same(request.wait(), array_of(0, 9))
    mine = comm.allreduce_start(np.ones(3))
    while not mine.test():
        pass
    same(mine.wait(), np.full(3, float(comm.size)))


def test_requests_can_be_awaited(comm):
    async def work():
        return await asyncio.gather(wait_for(comm.allreduce_start(np.ones(2))), asyncio.sleep(0, "beside"))

    async def wait_for(request):
        return await request

    found, beside = asyncio.run(work())
    same(found, np.full(2, float(comm.size)))
    assert beside == "beside"


def test_arrays_of_a_request_stay_alive(comm):
    requests = [comm.allreduce_start(array_of(comm.rank, 20000, "f8", salt)) for salt in range(4)]
    gc.collect()
    for salt, request in enumerate(requests):
        same(request.wait(), folded(np.add, arrays_of(comm.size, 20000, "f8", salt)))


def test_shared_memory(comm):
    for shape, kind in [((3, 4), "f8"), ((), "i4"), (0, "f8"), (250_000, "f4"), (5, hocket.DOUBLE_INT), (2, "V0")]:
        array = hocket.empty(shape, kind)
        assert array.shape == np.empty(shape).shape and array.dtype == np.dtype(kind)
        assert array.ctypes.data % 64 == 0 or array.size * array.itemsize == 0
    zero = hocket.zeros((100, 100))
    assert not zero.any()
    operand, result = hocket.empty(200_000), hocket.empty(200_000)
    operand[:] = array_of(comm.rank, 200_000)
    same(comm.allreduce(operand, result), folded(np.add, arrays_of(comm.size, 200_000)))
    same(comm.broadcast(operand), array_of(0, 200_000))


def test_shared_memory_is_given_back_with_the_last_view(_comm):
    with hocket.Context(memory_limit=4 << 20) as context:
        for _ in range(40):  # in all ten times as much as there is
            array = hocket.empty(1 << 20, "u1", context=context)
            array[:] = 1
        view = array[10:20].reshape(2, 5)
        del array
        refused = False
        try:
            context.close()
        except hocket.InvalidArgument as error:
            refused = "1 arrays" in str(error)
        assert refused
        assert view.all()
        too_much = False
        try:
            hocket.empty(64 << 20, "u1", context=context)
        except hocket.NoMemory as error:
            too_much = "HOCKET_MEMORY" in str(error)
        assert too_much
        del view


def test_communicators_over_the_programs_own_exchange(comm):
    rank, size = comm.rank, comm.size

    def exchange(mine):
        return comm.allgather(np.frombuffer(mine, "u1")).tobytes()

    with hocket.Context() as context:
        with context.communicator(rank, size, exchange) as made:
            same(made.allreduce(np.arange(3)), size * np.arange(3))


def test_explain_and_force(comm):
    assert "allreduce" in comm.explain("allreduce", 8)
    comm.force("allreduce", "recursive_doubling")
    same(comm.allreduce(np.ones(3)), np.full(3, float(comm.size)))
    if comm.size > 1:
        assert "recursive_doubling" in comm.explain("allreduce", 8)
    comm.force("allreduce", None)
    for call in (lambda: comm.explain("allreduc"), lambda: comm.force("allreduce", "rink")):
        try:
            call()
        except hocket.InvalidArgument as error:
            assert "allreduc" in str(error) or "rink" in str(error)
        else:
            raise AssertionError("a wrong name was taken")
