! Calls from subroutines of an external name, which the C library finds.
program call_sites
  use mpi
  implicit none
  integer, parameter :: n = 262144
  real :: x(n), y(n)
  integer :: ierror, k
  call MPI_Init(ierror)
  x = [(sin(k * 1e-4), k = 1, n)]
  do k = 1, 3
    call solve(x, y, n)
    call statistics(x, y, n)
  end do
  call MPI_Finalize(ierror)
end program

subroutine solve(x, y, n)
  use mpi
  integer :: n, ierror
  real :: x(n), y(n)
  call MPI_Allreduce(x, y, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  y(1) = y(1) + ierror
end subroutine

subroutine statistics(x, y, n)
  use mpi
  integer :: n, ierror
  real :: x(n), y(n)
  call MPI_Allreduce(x, y, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  y(1) = y(1) + ierror
end subroutine
