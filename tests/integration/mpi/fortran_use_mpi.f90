! SPDX-License-Identifier: BSD-3-Clause
subroutine add_up(in, inout, length, type)
  implicit none
  integer :: length, type, in(length), inout(length)
  inout = in + inout
end subroutine

program fortran_use_mpi
  use mpi
  implicit none
  include 'fortran_variables.inc'
  integer :: comm, op
  external :: add_up
  include 'fortran_body.inc'
end program
