! SPDX-License-Identifier: BSD-3-Clause
module operations
contains
  subroutine add_up(in, inout, length, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    use mpi_f08
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [length])
    call c_f_pointer(inout, b, [length])
    b = a + b
  end subroutine
end module

program fortran_mpi_f08
  use mpi_f08
  use operations
  implicit none
  include 'fortran_variables.inc'
  type(MPI_Comm) :: comm
  type(MPI_Op) :: op
  include 'fortran_body.inc'
end program
