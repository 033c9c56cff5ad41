# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that can't be right: each is refused with a sentence that names it, and no rank's call is lost. Run by
all_on_ranks.py."""

import copy
import pickle

import numpy as np
from numbers_of_ranks import same

import hocket


def refused(words, call, *arguments, kind=hocket.InvalidArgument):
    try:
        call(*arguments)
    except kind as error:
        for word in words:
            assert word in str(error), f"`{word}` is not in: {error}"
        if isinstance(error, hocket.Error):
            assert error.status == hocket.Status.INVALID_ARGUMENT and isinstance(error, ValueError)
            assert str(pickle.loads(pickle.dumps(error))) == str(error)
        return
    raise AssertionError(f"taken: {call.__name__}{arguments}")


def test_what_is_no_array(comm):
    for call in (comm.allreduce, comm.allreduce_start, comm.broadcast, comm.gather, comm.alltoall, comm.scan):
        for wrong, name in (([1.0], "list"), (3.5, "float"), (b"abc", "bytes"), (None, "missing")):
            refused([name, "NumPy array"], call, wrong, kind=TypeError)
    refused(["`output`", "list"], comm.allreduce, np.ones(2), [0, 0], kind=TypeError)
    refused(["`output`", "missing"], comm.allreduce, hocket.IN_PLACE, kind=TypeError)
    refused(["`buffer`", "IN_PLACE"], comm.broadcast, hocket.IN_PLACE, kind=TypeError)


def test_arrays_that_are_not_contiguous(comm):
    strided = np.ones((4, 4))[:, ::2]
    fortran = np.asfortranarray(np.ones((3, 2)))
    for array in (strided, fortran):
        refused(["`input`", "not contiguous", "ascontiguousarray"], comm.allreduce, array)
        refused(["`output`", "not contiguous"], comm.allreduce, np.ones(array.size), array)
        refused(["`buffer`", "not contiguous"], comm.broadcast, array)


def test_arrays_that_are_read_only(comm):
    fixed = np.ones(3)
    fixed.flags.writeable = False
    refused(["`output`", "read-only"], comm.allreduce, np.ones(3), fixed)
    refused(["`output`", "read-only"], comm.allgather, fixed[:0], fixed[:0])
    refused(["`output`", "read-only"], comm.allreduce, np.float64(1), np.float64(1))
    if comm.rank != 0:
        refused(["`buffer`", "read-only"], comm.broadcast, fixed)


def test_sizes_that_do_not_fit(comm):
    size = comm.size
    refused(["`output`", "5", "`input`", "4"], comm.allreduce, np.ones(4), np.ones(5))
    refused(["`output`", "3 elements", str(2 * size)], comm.allgather, np.ones(2), np.ones(3 if size * 2 != 3 else 4))
    refused(["`output`", str(2 * size + 1)], comm.gather, np.ones(2), np.ones(2 * size + 1), comm.rank)
    refused(["`input`", str(size + 1)], comm.scatter, np.ones(size + 1), np.ones(1), comm.rank)
    refused(["`output`", "2 elements", ": 1"], comm.reduce_scatter_block, np.ones(size), np.ones(2))
    refused(["`input`", "add up to"], comm.reduce_scatter, np.ones(size + 1), None, [1] * size)
    if size > 1:
        refused(["`input`", f"each of {size} ranks"], comm.alltoall, np.ones(size + 1))
        refused(["`output`", f"each of {size} ranks"], comm.allgather, hocket.IN_PLACE, np.ones(size + 1))


def test_dtypes_that_do_not_fit(comm):
    refused(["`output`", "float32", "float64"], comm.allreduce, np.ones(2), np.ones(2, "f4"))
    refused(["`output`", "int64"], comm.alltoall, np.ones(comm.size), np.ones(comm.size, "i8"))
    refused(["Python objects", "pickle"], comm.broadcast, np.array([None, {}]))
    refused(["Python objects"], comm.allreduce, np.array([None, {}]))
    refused(["hocket.SUM", "float16", "astype"], comm.allreduce, np.ones(2, "f2"))
    refused(["order", "newbyteorder"], comm.allreduce, np.ones(2, ">f8"))
    refused(["0 bytes"], comm.broadcast, np.empty(3, "V0"))
    refused(["`band`", "double"], comm.allreduce, np.ones(2), None, hocket.BAND)
    refused(["`sum`", "bool", "astype"], comm.allreduce, np.ones(2, "?"))
    refused(["32768"], comm.allreduce, np.empty(2, "V40000"), None, hocket.Operation(lambda left, right: right))


def test_masked_arrays(comm):
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    refused(["`input`", "masked array", "filled()"], comm.allreduce, masked)
    refused(["`input`", "masked array"], comm.allreduce, masked, np.ones(2))
    refused(["`output`", "masked array"], comm.allreduce, np.ones(2), masked)
    refused(["`buffer`", "masked array"], comm.broadcast, masked)
    refused(["`input`", "masked array"], comm.gatherv, masked, np.ones(2 * comm.size), [2] * comm.size, None, comm.rank)


def test_blocks_that_overlap(comm):
    rank, size = comm.rank, comm.size
    counts, array, begins = [2] * size, np.arange(4.0 * size), list(range(0, 2 * size, 2))
    own = array[2 * rank:2 * rank + 2]
    words = ["`input`", "`output`", "overlap", "hocket.IN_PLACE"]
    for wrong in (array[2 * rank + 1:2 * rank + 3], array[2 * (size - 1 - rank):][:2]):
        if wrong[0] == own[0] or wrong[0] >= 2 * size:
            continue
        refused(words, comm.gatherv, wrong, array, counts, None, rank)
        refused(words, comm.allgatherv, wrong, array, counts)
        refused(words, comm.scatterv, array, wrong, counts, None, rank)
    if size > 1:
        refused(words, comm.alltoallv, array, array, counts, counts, begins, begins[::-1])
        refused(words, comm.alltoallw, array, array, counts, counts, begins, [1 + 8 * begin for begin in begins],
                ["f8"] * size, ["u1"] * size)
    refused(words, comm.alltoallv, array, array, counts, counts, begins, [begin + 1 for begin in begins])
    # Its own block may be where it is; the blocks of others lie between those that are read.
    wanted = np.concatenate([each * 2.0 + np.arange(2) for each in range(size)])
    same(comm.allgatherv(own, array, counts)[:2 * size], wanted)
    between = np.arange(2.0 * size)
    comm.alltoallv(between, between, [1] * size, [1] * size, range(0, 2 * size, 2), range(1, 2 * size, 2))
    same(between[1::2], np.full(size, 2.0 * rank))


def test_blocks_without_elements_are_anywhere(comm):
    size = comm.size
    counts, far = [1] + [0] * (size - 1), [0] + [1000] * (size - 1)
    output = np.zeros(1)
    comm.allgatherv(np.full(counts[comm.rank], 7.0), output, counts, far)
    assert output[0] == 7
    nothing, away = [0] * size, [8000] * size
    comm.alltoallw(output, output, nothing, nothing, away, away, ["f8"] * size, ["f8"] * size)


def test_what_can_not_be_copied(comm):
    request = comm.barrier_start()
    for thing in (comm, hocket.default_context(), request, hocket.Operation(np.add)):
        for function in (copy.copy, copy.deepcopy, pickle.dumps):
            refused(["can't be copied or pickled"], function, thing, kind=TypeError)
    request.wait()
    for operation in (hocket.SUM, hocket.MINLOC):
        assert copy.copy(operation) is copy.deepcopy(operation) is pickle.loads(pickle.dumps(operation)) is operation


def test_a_newer_library(_comm):
    error = hocket.errors.error_of(-99, "in a test")
    assert type(error) is hocket.Error and error.status == -99 and str(pickle.loads(pickle.dumps(error))) == "in a test"
    assert hocket._api._numbers("0.2.10-rc1") == [0, 2, 10]


def test_roots_operations_and_counts(comm):
    size = comm.size
    ones = np.ones(size)
    for root in (-1, size):
        refused([str(root), f"0 to {size - 1}"], comm.broadcast, ones, root)
        refused(["`root`", str(root), f"0 to {size - 1}"], comm.reduce, ones, None, hocket.SUM, root)
    for call in (comm.broadcast, comm.gather, comm.broadcast_start):
        refused(["`root`", "1.5"], call, ones, *[None] * (call == comm.gather), 1.5, kind=TypeError)
    same(comm.broadcast(ones, np.int32(0)), ones)
    refused(["`op`", "sum"], comm.allreduce, ones, None, sum, kind=TypeError)
    refused(["`function`"], hocket.Operation, 3, kind=TypeError)
    refused(["`counts`", f"each of {size}"], comm.allgatherv, ones, ones, [1] * (size + 1))
    refused(["`counts`[0]", "-1"], comm.allgatherv, ones, ones, [-1] * size)
    refused(["`counts`", "whole number"], comm.allgatherv, ones, ones, [0.5] * size, kind=TypeError)
    refused(["leaves `output`"], comm.allgatherv, ones[:1], ones, [1] * size, [size] * size)
    refused([f"rank {size - 1}", "leaves `output`"], comm.allgatherv, np.ones(2), np.ones(2 * size - 1), [2] * size)
    refused(["`counts`", "None"], comm.gatherv, ones, ones, None, None, comm.rank, kind=TypeError)
    refused(["leaves `input`", "bytes"], comm.alltoallw, ones, ones, [size] * size, [0] * size, [0] * size, [8] * size,
            ["c16"] * size, ["f8"] * size)
    refused(["`output_types`"], comm.alltoallw, ones, ones, [0] * size, [0] * size, [0] * size, [0] * size,
            ["f8"] * size, [])


def test_one_array_for_both(comm):
    both = np.ones(4)
    refused(["overlap", "hocket.IN_PLACE"], comm.allreduce, both, both)
    refused(["overlap"], comm.allreduce, both[:3], both[1:])


def test_a_freed_communicator(comm):
    twin = comm.dup()
    twin.free()
    twin.free()
    assert "freed" in repr(twin)
    for call, arguments in ((twin.barrier, ()), (twin.broadcast, (np.ones(1),)), (twin.allreduce, (np.ones(1),)),
                            (twin.reduce, (np.ones(1),)), (twin.barrier_start, ()), (twin.dup, ())):
        refused(["freed"] if call != twin.dup else [], call, *arguments)
    refused(["hocket.world"], hocket.Communicator, kind=TypeError)


def test_a_communicator_with_requests_is_not_freed(comm):
    twin = comm.dup()
    request = twin.barrier_start() if comm.rank else twin.allreduce_start(np.ones(1)) if comm.size == 1 else None
    if comm.size > 1:
        if comm.rank == 1:
            refused([], twin.free)
        comm.barrier()
        if comm.rank == 0:
            twin.barrier_start().wait()
    if request is not None:
        request.wait()
    twin.free()


def test_shapes_of_shared_arrays(_comm):
    refused(["-1"], hocket.empty, (2, -1))
    refused(["objects"], hocket.empty, 3, object)
    for wrong in ((2.7,), 2.7, "ab", None):
        refused(["`shape`", repr(wrong)], hocket.empty, wrong, kind=TypeError)
    for enormous in (1 << 62, (1 << 40, 1 << 40)):
        try:
            hocket.empty(enormous)
        except hocket.NoMemory as error:
            assert str(enormous) in str(error)
        else:
            raise AssertionError("taken")
    for shape, dtype in ((np.array([2, 3]), "f8"), (2, ("f8", 3)), (np.int64(4), "i4"), ((), "i4"), ([2], "V0")):
        made, wanted = hocket.empty(shape, dtype), np.empty(shape, dtype)
        assert (made.shape, made.dtype) == (wanted.shape, wanted.dtype)
    closed = hocket.Context()
    closed.close()
    closed.close()
    try:
        hocket.empty(3, context=closed)
    except hocket.InvalidArgument as error:
        assert "closed" in str(error)
    else:
        raise AssertionError("an array of a closed context")


def test_afterwards_all_is_well(comm):
    same(comm.allreduce(np.ones(2)), np.full(2, float(comm.size)))
