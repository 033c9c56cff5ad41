# SPDX-License-Identifier: BSD-3-Clause
"""A program for mpi4py that ends with 1 if a sum of all ranks is wrong."""

import array
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
result = array.array("d", [0.0] * 100)
for _ in range(50):
    world.Allreduce(array.array("d", [world.rank + 1.0] * 100), result)
wanted = world.size * (world.size + 1) / 2
world.Barrier()
sys.exit(any(value != wanted for value in result))
