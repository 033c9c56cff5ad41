! SPDX-License-Identifier: BSD-3-Clause
! Non-blocking collectives from Fortran: several requests under way, ended by MPI_Wait, MPI_Test and MPI_Waitall in
! another order than they began.
program fortran_requests
  use mpi
  implicit none
  integer :: rank, size, ierror, round, root, wrong, total
  integer :: requests(3), request
  integer :: statuses(MPI_STATUS_SIZE, 3), status(MPI_STATUS_SIZE)
  double precision :: values(8), sums(8), data(4), greatest, unused
  logical :: flag
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  wrong = 0
  ! Communicators are set up by blocking calls.
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  do round = 1, 100
    root = mod(round, size)
    values = rank + 0.5d0 * round
    data = merge(1.5d0 * round, 0d0, rank == root)
    greatest = -rank * round
    call MPI_Iallreduce(values, sums, 8, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Ibcast(data, 4, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, requests(1), ierror)
    if (rank == root) then
      call MPI_Ireduce(MPI_IN_PLACE, greatest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, root, MPI_COMM_WORLD, requests(3), &
                       ierror)
    else
      call MPI_Ireduce(greatest, unused, 1, MPI_DOUBLE_PRECISION, MPI_MAX, root, MPI_COMM_WORLD, requests(3), ierror)
    end if
    call MPI_Ibarrier(MPI_COMM_WORLD, request, ierror)
    if (mod(round, 3) == 0) call MPI_Wait(requests(1), status, ierror)
    call MPI_Waitall(3, requests, statuses, ierror)
    if (any(requests /= MPI_REQUEST_NULL)) wrong = wrong + 1
    if (any(sums /= size * (size - 1) / 2 + 0.5d0 * round * size)) wrong = wrong + 1
    if (any(data /= 1.5d0 * round)) wrong = wrong + 1
    if (rank == root .and. greatest /= 0d0) wrong = wrong + 1
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request, flag, status, ierror)
    end do
    if (request /= MPI_REQUEST_NULL) wrong = wrong + 1
  end do
  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. total == 0) print '(a)', 'fortran: passed'
  if (rank == 0 .and. total /= 0) print '(a,i0)', 'fortran: FAILED ', total
  call MPI_Finalize(ierror)
  if (total /= 0) stop 1
end program
