# SPDX-License-Identifier: BSD-3-Clause
"""A program with types, as users write them: the test python.types looks at it by mypy, nobody runs it."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import hocket

Array = np.ndarray[Any, np.dtype[Any]]


def reduced(comm: hocket.Communicator, mine: Array) -> Optional[Array]:
    request: hocket.Request[Array] = comm.allreduce_start(hocket.IN_PLACE, mine, hocket.MAX)
    total: Array = request.wait()
    pairs = np.zeros(3, hocket.DOUBLE_INT)
    comm.allreduce(pairs, op=hocket.MINLOC)
    with comm.dup() as twin:
        twin.allgatherv(mine, hocket.empty((comm.size, 3)), [3] * comm.size)
    with comm.allreduce_init(mine, total) as again:
        planned: hocket.PersistentRequest[Array] = again.start()
        hocket.start_all(comm.barrier_init())
        total = planned.wait()
    half = comm.split(comm.rank % 2)
    if half is not None:
        half.barrier()
    return comm.reduce(total, None, hocket.Operation(np.maximum, commutative=True), root=0)


async def awaited(comm: hocket.Communicator) -> Array:
    return await comm.broadcast_start(np.ones(3))


def halo_of(comm: hocket.Communicator, edges: Array) -> list[Array]:
    with hocket.Neighbourhood.grid(comm, (comm.size,), periodic=True) as halo:
        below: Optional[int] = halo.sources[0]
        request: hocket.Request[Array] = halo.alltoallv_start(edges, np.empty(3), [1, 2], (2, 1))
    stencil = hocket.Neighbourhood.stencil(comm, [comm.size, 1], np.array([[1, 1]]), [True, False])
    lists = hocket.Neighbourhood(comm, [] if below is None else [below], range(0))
    return [stencil.allgather(edges), lists.alltoall(edges), request.wait()]


def rows() -> list[float]:
    try:
        return [row.median_us for row in hocket.bench("barrier", ranks=2)]
    except hocket.Error as error:
        raise SystemExit(int(error.status)) from error
