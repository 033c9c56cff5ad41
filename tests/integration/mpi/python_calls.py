# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's buffers, objects, memory and operations in Python under the interposer."""
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
wrong = 0

for i in range(200):
    root = i % size
    mine, total = array("d", [rank + i] * 50), array("d", [0] * 50)
    comm.Allreduce(mine, total, MPI.SUM)
    wrong += total != array("d", [size * i + size * (size - 1) / 2] * 50)
    data = array("i", [i if rank == root else -1] * 7)
    comm.Bcast(data, root)
    wrong += data != array("i", [i] * 7)
    wrong += comm.bcast({"round": i} if rank == root else None, root) != {"round": i}
    wrong += comm.allreduce(rank, MPI.MAX) != size - 1
    total = array("q", [rank])
    comm.Reduce(MPI.IN_PLACE if rank == root else total, total if rank == root else None, MPI.PROD, root)
    wrong += rank == root and total[0] != 0
    comm.Barrier()


def keep_left(a, b, _type):
    """Associative, but not commutative: the first rank's operand wins."""
    b[:] = a


operation = MPI.Op.Create(keep_left, commute=False)
for count in (1, 10, 3000):
    mine, result = array("q", [100 + rank] * count), array("q", [0] * count)
    comm.Allreduce(mine, result, operation)
    wrong += result != array("q", [100] * count)
operation.Free()

memory = MPI.Alloc_mem(4096)
memory[:] = bytes([rank + 1]) * 4096
comm.Bcast([memory, MPI.BYTE], 0)
wrong += bytes(memory) != bytes([1]) * 4096
MPI.Free_mem(memory)

wrong = comm.allreduce(wrong)
if rank == 0:
    print("python:", "passed" if wrong == 0 else f"FAILED {wrong}")
raise SystemExit(1 if wrong else 0)
