# SPDX-License-Identifier: BSD-3-Clause
"""The largest eigenvalue of a symmetric matrix by power iteration, in mpi4py: rows are divided among ranks, an
iteration gathers the vector on all of them (Allgatherv) and adds up its length (Allreduce); parameters and results
travel as Python objects (bcast, gather)."""

import array
import math
import operator
import sys

from mpi4py import MPI


def main():
    comm = MPI.COMM_WORLD
    parameters = {"size": int(sys.argv[1]), "steps": int(sys.argv[2])} if comm.rank == 0 else None
    parameters = comm.bcast(parameters)
    size, steps = parameters["size"], parameters["steps"]
    borders = [size * rank // comm.size for rank in range(comm.size + 1)]
    counts = [borders[rank + 1] - borders[rank] for rank in range(comm.size)]
    rows = [[1 / (1 + abs(row - column)) for column in range(size)]
            for row in range(borders[comm.rank], borders[comm.rank + 1])]
    whole, square, length = array.array("d", [1.0] * size), array.array("d", [0.0]), array.array("d", [0.0])
    begin = MPI.Wtime()
    for _ in range(steps):
        mine = array.array("d", [sum(map(operator.mul, row, whole)) for row in rows])
        square[0] = sum(map(operator.mul, mine, mine))
        comm.Allreduce(square, length)
        norm = math.sqrt(length[0])
        comm.Allgatherv(array.array("d", [value / norm for value in mine]), [whole, counts])
    seconds = comm.gather(MPI.Wtime() - begin)
    if comm.rank == 0:
        print(f"ranks {comm.size} result {math.sqrt(length[0]):.6e} seconds {max(seconds):.6f}")


main()
