# SPDX-License-Identifier: BSD-3-Clause
"""For programs that run on each rank: arrays that every rank can make of every rank's, so that NumPy tells each what a
collective has to give."""

import functools

import numpy as np

import hocket

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
NUMBERS = [*INTEGERS, "f4", "f8", "g", "c8", "c16", "G"]
RECORDS = ["FLOAT_INT", "DOUBLE_INT", "LONG_INT", "TWO_INT", "SHORT_INT", "LONG_DOUBLE_INT", "TWO_FLOAT", "TWO_DOUBLE"]


def array_of(rank, shape, dtype="f8", salt=0):
    """Of small whole numbers, so that sums are exact in any order."""
    generator = np.random.default_rng([1, salt, rank])
    dtype = np.dtype(dtype)
    if dtype.names:
        made = np.empty(shape, dtype)
        for name in dtype.names:
            made[name] = array_of(rank, made[name].shape, made[name].dtype, salt + 1)
        return made
    if dtype.kind == "V":
        octets = generator.integers(0, 256, size=(*np.empty(shape).shape, dtype.itemsize), dtype="u1")
        return octets.view(dtype)[..., 0]
    if dtype.kind in "mM":
        return generator.integers(0, 1000, size=shape).astype("i8").view(dtype)
    return generator.integers(0, 2 if dtype.kind == "b" else 5, size=shape).astype(dtype)


def arrays_of(size, shape, dtype="f8", salt=0):
    return [array_of(rank, shape, dtype, salt) for rank in range(size)]


def folded(function, arrays):
    """What combining them in the order of ranks gives, in their dtype."""
    return functools.reduce(lambda left, right: function(left, right).astype(left.dtype), arrays)


def location(is_better):
    """MINLOC or MAXLOC as the MPI standard defines them."""
    def combine(left, right):
        better = is_better(left["value"], right["value"])
        equal = left["value"] == right["value"]
        result = np.where(better, left, right)
        result["index"] = np.where(equal, np.minimum(left["index"], right["index"]), result["index"])
        return result
    return combine


def operations_for(dtype):
    """(operation, NumPy's function) of all that hocket defines for the dtype."""
    dtype = np.dtype(dtype)
    sums = [(hocket.SUM, np.add), (hocket.PROD, np.multiply)]
    extremes = [(hocket.MIN, np.minimum), (hocket.MAX, np.maximum)]
    logical = [(hocket.LAND, np.logical_and), (hocket.LOR, np.logical_or), (hocket.LXOR, np.logical_xor)]
    bits = [(hocket.BAND, np.bitwise_and), (hocket.BOR, np.bitwise_or), (hocket.BXOR, np.bitwise_xor)]
    if dtype.names:
        return [(hocket.MINLOC, location(np.less)), (hocket.MAXLOC, location(np.greater))]
    return {"b": logical, "i": sums + extremes + logical + bits, "u": sums + extremes + logical + bits,
            "f": sums + extremes, "c": sums}[dtype.kind]


def all_forms(communicator, name, make_arguments):
    """What the blocking form returns, what the started one does, and what the one that can be started again, each with
    arguments made anew."""
    yield getattr(communicator, name)(*make_arguments())
    request = getattr(communicator, f"{name}_start")(*make_arguments())
    yield request.wait()
    with getattr(communicator, f"{name}_init")(*make_arguments()) as request:
        yield request.start().wait()


def same(found, wanted, where=""):
    """They have the same values and dtype."""
    assert isinstance(found, np.ndarray), f"{where}: {found!r} is no array"
    assert found.dtype == wanted.dtype, f"{where}: dtype {found.dtype}, wanted {wanted.dtype}"
    assert np.array_equal(found.reshape(-1), np.asarray(wanted).reshape(-1)), f"{where}:\n{found}\nwanted\n{wanted}"
