! sum_module.f90: adds the ranks' fields by the module `taut`, with every element of the sum within 1e-6 of the exact one.
program sum_of_fields
  use mpi_f08
  use taut
  implicit none
  integer, parameter :: n = 1000000
  double precision, allocatable :: mine(:), total(:), exact(:)
  character(4000) :: text
  integer :: rank, ranks, r

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (total(n), exact(n))
  mine = field(rank)

  call TAUT_Comm_set_policy(MPI_COMM_WORLD, 'abs:1e-6,when=always')  ! the same on every rank
  call TAUT_Allreduce(mine, total, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)

  call TAUT_Comm_explain(MPI_COMM_WORLD, text)
  exact = 0
  do r = 0, ranks - 1
    exact = exact + field(r)
  end do
  if (rank == 0) print '(2a, es8.1)', trim(text), 'greatest error', maxval(abs(total - exact))
  call MPI_Finalize()

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
