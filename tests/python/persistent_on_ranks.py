# SPDX-License-Identifier: BSD-3-Clause
"""Collectives that are made ready once and started again and again, with arrays whose elements change. Run by
all_on_ranks.py."""

import asyncio
import copy
import gc
import pickle

import numpy as np
from misuse_on_ranks import refused
from numbers_of_ranks import array_of, arrays_of, folded, same

import hocket

ROUNDS = 5


def test_each_start_takes_what_is_in_the_arrays(comm):
    rank, size = comm.rank, comm.size
    for shape in ((), 0, 1, (3, 5), 3000):
        mine, total = np.zeros(shape), np.zeros(shape)
        place, field = np.zeros(shape), np.zeros(shape)
        rows = comm.allgather_init(mine)
        calls = [comm.allreduce_init(mine, total), comm.allreduce_init(hocket.IN_PLACE, place),
                 comm.broadcast_init(field, size - 1), rows]
        for salt in range(ROUNDS):
            operands = arrays_of(size, shape, salt=salt)
            for array in (mine, place, field):
                array[...] = operands[rank]
            hocket.start_all(*calls)
            found = [call.wait() for call in reversed(calls)]
            same(found[3], folded(np.add, operands), f"allreduce {shape}")
            assert found[3] is total
            same(place, total, f"allreduce in place {shape}")
            same(field, operands[-1], f"broadcast {shape}")
            same(found[0], np.array(operands), f"allgather {shape}")
        for call in calls:
            call.free()


def test_blocks_of_different_lengths(comm):
    rank, size = comm.rank, comm.size
    counts = [(5 * each + 2) % 4 for each in range(size)]
    mine, whole = np.zeros(counts[rank]), np.zeros(sum(counts))
    # The list may change afterwards.
    given = list(counts)
    with comm.allgatherv_init(mine, whole, given) as call:
        given[:] = [99] * size
        gc.collect()
        for salt in range(ROUNDS):
            arrays = [array_of(each, counts[each], salt=salt) for each in range(size)]
            mine[:] = arrays[rank]
            same(call.start().wait(), np.concatenate(arrays), "allgatherv")


def test_an_operation_that_nobody_else_keeps(comm):
    rank, size = comm.rank, comm.size
    def leftmost(left, _right):
        return left

    mine = np.zeros(4, "i8")
    call = comm.scan_init(mine, None, hocket.Operation(leftmost))  # which nobody else keeps
    gc.collect()
    for salt in range(ROUNDS):
        operands = arrays_of(size, 4, "i8", salt)
        mine[:] = operands[rank]
        same(call.start().wait(), folded(leftmost, operands[:rank + 1]))
    call.free()


def test_orders_that_change(comm):
    rank, size = comm.rank, comm.size
    operands = [np.zeros(1) for _ in range(7)]
    calls = [comm.allreduce_init(operand) for operand in operands]
    for salt in range(30):
        order = np.random.default_rng([2, salt]).permutation(7)
        for number in order:
            operands[number][0] = 100 * salt + 10 * number + rank
            calls[number].start()
        one = comm.allreduce(np.ones(1))
        assert one[0] == size
        for number in np.random.default_rng([3, salt, rank]).permutation(7):
            while number % 2 and not calls[number].test():
                pass
            found = calls[number].wait()[0]
            assert found == size * (100 * salt + 10 * number) + size * (size - 1) / 2
    for call in calls:
        call.free()
        call.free()
        assert call.is_freed


def test_an_event_loop_waits(comm):
    async def work():
        call = comm.allreduce_init(np.ones(2))
        return (await call.start()) + (await call.start())

    same(asyncio.run(work()), np.full(2, 2.0 * comm.size))


def test_what_is_under_way_is_neither_started_nor_freed(comm):
    call, other = comm.barrier_init(), comm.barrier_init()
    assert call.test() and call.wait() is None
    call.start()
    refused(["under way", "test() it until that is True"], call.start)
    refused(["under way"], call.free)
    refused(["`requests[1]`", "none was", "under way"], hocket.start_all, other, call)
    refused(["`requests[1]`", "twice"], hocket.start_all, other, other)
    refused(["argument 0", "list", "none was"], hocket.start_all, [other])
    call.wait()
    hocket.start_all(call, other)
    other.wait()
    call.wait()
    for function in (copy.copy, pickle.dumps):
        refused(["can't be copied or pickled"], function, call, kind=TypeError)
    call.free()
    refused(["start", "freed"], call.start)
    refused(["request 1", "freed"], hocket.start_all, other, call)
    hocket.start_all()


def test_wrong_arguments_are_told_when_it_is_made(comm):
    both = np.ones(3)
    refused(["overlap", "hocket.IN_PLACE"], comm.allreduce_init, both, both)
    refused(["`root`"], comm.reduce_init, np.ones(1), None, hocket.SUM, comm.size)
    refused(["list", "NumPy array"], comm.allgather_init, [1.0], kind=TypeError)
    assert comm.allreduce(np.ones(1))[0] == comm.size


def test_communicators_go_before_their_calls_and_not_while_they_are_under_way(comm):
    twin = comm.dup()
    call, idle = twin.allreduce_init(np.ones(1)), twin.barrier_init()
    call.start()
    refused(["1 requests"], twin.free)
    assert call.wait()[0] == comm.size
    twin.free()
    refused(["its communicator has been destroyed"], call.start)
    assert call.wait()[0] == comm.size and idle.test()
    call.free()
    del idle
    refused(["freed"], twin.barrier_init)
