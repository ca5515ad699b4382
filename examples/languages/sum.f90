! sum.f90: a program of plain MPI that adds the ranks' fields. Rules serve it as it is (sum_fortran.sh).
program sum_of_fields
  use mpi
  implicit none
  integer, parameter :: n = 1000000
  double precision, allocatable :: mine(:), total(:), exact(:)
  integer :: rank, ranks, r, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  allocate (total(n), exact(n))
  mine = field(rank)
  call MPI_Allreduce(mine, total, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)

  exact = 0
  do r = 0, ranks - 1
    exact = exact + field(r)
  end do
  if (rank == 0) print '(a, es8.1)', 'greatest error', maxval(abs(total - exact))
  call MPI_Finalize(ierr)

contains

  function field(of) result(values)
    integer, intent(in) :: of
    double precision :: values(n)
    integer :: i
    do i = 1, n
      values(i) = of + sin(1d-4*i)
    end do
  end function

end program
