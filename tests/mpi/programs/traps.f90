! Floating-point traps: compiled with -ffpe-trap=invalid,zero,overflow, the program moves NaN, huge and subnormal numbers
! and sums others; no call may raise a flag. Seen in HDFGroup/hdf5 #3831, open-mpi/ompi #12400, #13290.
program traps
  use mpi
  use, intrinsic :: ieee_arithmetic
  use, intrinsic :: ieee_exceptions
  implicit none
  integer, parameter :: n = 65536
  integer :: rank, ranks, code, i, k
  real, allocatable :: values(:), special(:), result(:)
  real :: worst
  logical :: raised

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  allocate(values(n), special(n), result(n))
  do i = 1, n
    values(i) = sin(i * 1e-3)
  end do
  special = values
  special(1::1000) = ieee_value(1.0, ieee_quiet_nan)
  special(2::1000) = huge(1.0)
  special(3::1000) = tiny(1.0) / 8
  if (command_argument_count() == 1) print '(a)', 'traps'
  call ieee_set_flag(ieee_usual, .false.)
  worst = 0
  do k = 1, 3
    call MPI_Bcast(special, n, MPI_REAL, 0, MPI_COMM_WORLD, code)
    call MPI_Allgather(special, n / ranks, MPI_REAL, result, n / ranks, MPI_REAL, MPI_COMM_WORLD, code)
    call MPI_Alltoall(special, n / ranks, MPI_REAL, result, n / ranks, MPI_REAL, MPI_COMM_WORLD, code)
    call MPI_Sendrecv(special, n, MPI_REAL, mod(rank + 1, ranks), 0, result, n, MPI_REAL, mod(rank + 1, ranks), 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call MPI_Allreduce(values, result, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, code)
    worst = max(worst, maxval(abs(result - ranks * values)))
  end do
  do i = 1, size(ieee_usual)
    call ieee_get_flag(ieee_usual(i), raised)
    if (raised) worst = huge(worst)
  end do
  print '(a, i0, a, es10.2)', 'traps rank ', rank, ' worst ', worst
  call MPI_Finalize(code)
end program
