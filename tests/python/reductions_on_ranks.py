# SPDX-License-Identifier: BSD-3-Clause
"""Barrier, broadcast, reductions and scans against NumPy's answers. Run by all_on_ranks.py."""

import numpy as np
from numbers_of_ranks import (INTEGERS, NUMBERS, RECORDS, array_of, arrays_of, all_forms, folded, operations_for,
                              same)

import hocket

SHAPES = [(), 0, 1, (3, 5), 3000]


def test_barrier(comm):
    for answer in all_forms(comm, "barrier", tuple):
        assert answer is None


def test_broadcast_of_every_type(comm):
    kinds = [*NUMBERS, "?", "V1", "V7", "f2", "S5", "M8[ns]", ">i4", hocket.LOGICAL4, *(
        getattr(hocket, name) for name in RECORDS)]
    for root in range(comm.size):
        for number, kind in enumerate(kinds):
            wanted = array_of(root, 13, kind, number)
            for found in all_forms(comm, "broadcast", lambda: (array_of(comm.rank, 13, kind, number), root)):
                same(found, wanted, f"broadcast of {kind} from {root}")
    for shape in SHAPES:
        same(comm.broadcast(array_of(comm.rank, shape)), array_of(0, shape), f"shape {shape}")


def test_the_root_of_a_broadcast_may_be_read_only(comm):
    buffer = array_of(comm.rank, 4)
    buffer.flags.writeable = comm.rank != 0
    same(comm.broadcast(buffer), array_of(0, 4))


def test_allreduce_of_every_type_and_operation(comm):
    for kind in [*NUMBERS, "?", *(getattr(hocket, name) for name in RECORDS)]:
        operands = arrays_of(comm.size, 33, kind)
        for operation, function in operations_for(kind):
            wanted = folded(function, operands)
            where = f"allreduce {operation} of {kind}"
            same(comm.allreduce(operands[comm.rank], None, operation), wanted, where)
            found = np.empty_like(wanted)
            assert comm.allreduce(operands[comm.rank], found, operation) is found
            same(found, wanted, where)


def test_sums_that_saturate(comm):
    operand = np.array([100, -100, 3], "i1")
    total = np.clip(operand.astype("i8") * comm.size, -128, 127).astype("i1")
    same(comm.allreduce(operand, None, hocket.SUM_SATURATING), total)


def test_logical4_and_bytes(comm):
    truth = np.array([0, 1, comm.rank], "i4").view(hocket.LOGICAL4)
    wanted = np.array([0, 1, comm.size > 1], "i4").view(hocket.LOGICAL4)
    same(comm.allreduce(truth, None, hocket.LOR), wanted)
    octets = np.array([1 << comm.rank, 128], "u1").view("V1")
    same(comm.allreduce(octets, None, hocket.BOR).view("u1"), np.array([(1 << comm.size) - 1, 128], "u1"))


def test_whole_arrays_in_all_forms(comm):
    rank, size = comm.rank, comm.size
    for shape in SHAPES:
        operands = arrays_of(size, shape)
        wanted = folded(np.add, operands)
        for found in all_forms(comm, "allreduce", lambda: (operands[rank], np.empty_like(wanted))):
            same(found, wanted, f"allreduce {shape}")
        for found in all_forms(comm, "allreduce", lambda: (hocket.IN_PLACE, operands[rank].copy())):
            same(found, wanted, f"allreduce in place {shape}")
        for root in range(size):
            for found in all_forms(comm, "reduce", lambda: (operands[rank], None, hocket.SUM, root)):
                assert (found is None) == (rank != root)
                if rank == root:
                    same(found, wanted, f"reduce {shape} to {root}")
            place = operands[rank].copy()
            given = (hocket.IN_PLACE, place) if rank == root else (place, None)
            comm.reduce(*given, hocket.SUM, root)
            same(place, wanted if rank == root else operands[rank], f"reduce in place {shape}")


def test_scans(comm):
    rank, size = comm.rank, comm.size
    for shape in SHAPES:
        operands = arrays_of(size, shape, "i8")
        wanted = folded(np.add, operands[:rank + 1])
        for found in all_forms(comm, "scan", lambda: (operands[rank],)):
            same(found, wanted, f"scan {shape}")
        for found in all_forms(comm, "scan", lambda: (hocket.IN_PLACE, operands[rank].copy())):
            same(found, wanted, f"scan in place {shape}")
        for found in all_forms(comm, "exscan", lambda: (operands[rank],)):
            if rank == 0:
                assert found is None
            else:
                same(found, folded(np.add, operands[:rank]), f"exscan {shape}")
        untouched = np.full_like(operands[0], 77)
        found = comm.exscan(operands[rank], untouched)
        same(found, folded(np.add, operands[:rank]) if rank else np.full_like(operands[0], 77))


def test_reductions_that_are_shared_out(comm):
    rank, size = comm.rank, comm.size
    for kind in INTEGERS:
        operands = arrays_of(size, (size, 4), kind)
        wanted = folded(np.add, operands)[rank]
        for found in all_forms(comm, "reduce_scatter_block", lambda: (operands[rank],)):
            assert found.shape == (1, 4)
            same(found, wanted, "reduce_scatter_block")
    flat = arrays_of(size, 3 * size)
    wanted = folded(np.add, flat)[3 * rank:3 * rank + 3]
    for found in all_forms(comm, "reduce_scatter_block", lambda: (hocket.IN_PLACE, flat[rank].copy())):
        same(found, wanted, "reduce_scatter_block in place")
    counts = [(5 * each + 2) % 4 for each in range(size)]
    operands = arrays_of(size, sum(counts))
    begin = sum(counts[:rank])
    wanted = folded(np.add, operands)[begin:begin + counts[rank]]
    for found in all_forms(comm, "reduce_scatter", lambda: (operands[rank], None, counts)):
        same(found, wanted, "reduce_scatter")
    for found in all_forms(comm, "reduce_scatter", lambda: (hocket.IN_PLACE, operands[rank].copy(), np.array(counts))):
        same(found, wanted, "reduce_scatter in place")


def test_operations_of_the_programs_own(comm):
    rank, size = comm.rank, comm.size
    matrix = np.dtype([("m", "i8", (2, 2))])
    product = hocket.Operation(lambda left, right: np.matmul(left["m"], right["m"]).reshape(-1, 4).view(matrix)[:, 0])

    def multiplied(arrays):
        return folded(lambda left, right: np.matmul(left["m"], right["m"]).reshape(-1, 4).view(matrix)[:, 0], arrays)

    for count in (0, 1, 300):
        operands = arrays_of(size, count, matrix)
        wanted = multiplied(operands) if count else operands[0]
        for found in all_forms(comm, "allreduce", lambda: (operands[rank], None, product)):
            same(found, wanted, "products keep the order of ranks")
        found = comm.scan(operands[rank], None, product)
        same(found, multiplied(operands[:rank + 1]) if count else operands[0])
    largest = hocket.Operation(np.fmax, commutative=True)
    # One operation, several dtypes, half precision among them, which no predefined one knows.
    for kind in ("f2", "f4", "f8"):
        operands = arrays_of(size, 40, kind)
        same(comm.allreduce(operands[rank], None, largest), folded(np.fmax, operands))
        reduced = comm.reduce(operands[rank], None, largest, size - 1)
        if rank == size - 1:
            same(reduced, folded(np.fmax, operands))


def test_scalars_of_numpy_are_arrays_of_one_element(comm):
    assert comm.allreduce(np.float64(2)) == 2 * comm.size
