! SPDX-License-Identifier: BSD-3-Clause
! Laplace's equation on a square by Jacobi's iteration. A rank has a strip of columns, trades borders with two
! neighbours, and learns in each iteration from all others how far they are from the end.
program jacobi
  use mpi
  implicit none
  integer, parameter :: n = 256, most = 20000
  double precision, allocatable :: now(:, :), next(:, :)
  double precision :: change, largest, begin
  integer :: rank, ranks, left, right, first, last, iteration, error, status(MPI_STATUS_SIZE)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  first = n * rank / ranks + 1
  last = n * (rank + 1) / ranks
  allocate (now(0:n + 1, first - 1:last + 1), next(0:n + 1, first - 1:last + 1))
  now = 0
  now(0, :) = 1
  next = now
  begin = MPI_Wtime()
  do iteration = 1, most
    call MPI_Sendrecv(now(1, last), n, MPI_DOUBLE_PRECISION, right, 1, now(1, first - 1), n, MPI_DOUBLE_PRECISION, &
                      left, 1, MPI_COMM_WORLD, status, error)
    call MPI_Sendrecv(now(1, first), n, MPI_DOUBLE_PRECISION, left, 2, now(1, last + 1), n, MPI_DOUBLE_PRECISION, &
                      right, 2, MPI_COMM_WORLD, status, error)
    next(1:n, first:last) = 0.25d0 * (now(0:n - 1, first:last) + now(2:n + 1, first:last) &
                                      + now(1:n, first - 1:last - 1) + now(1:n, first + 1:last + 1))
    change = maxval(abs(next(1:n, first:last) - now(1:n, first:last)))
    now(1:n, first:last) = next(1:n, first:last)
    call MPI_Allreduce(change, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    if (largest < 2d-5) exit
  end do
  if (rank == 0) print '(a,i0,a,i0,a,es10.3,a,f0.3)', 'ranks ', ranks, ' iterations ', iteration, ' change ', &
    largest, ' seconds ', MPI_Wtime() - begin
  call MPI_Finalize(error)
end program
