! Sentinels and array sections of Fortran: MPI_IN_PLACE, MPI_BOTTOM, MPI_STATUS(ES)_IGNORE, absent arguments, strided
! sections in nonblocking calls. Seen in mpiP #46, GPTL #7, Recorder #25, wi4mpi #61, open-mpi/ompi #5459.
program sentinels
  use mpi_f08
  implicit none
  integer, parameter :: n = 32768
  type(MPI_Datatype), parameter :: f64 = MPI_DOUBLE_PRECISION
  type(MPI_Comm), parameter :: world = MPI_COMM_WORLD
  integer :: rank, ranks, other, i, k
  double precision, allocatable, asynchronous :: values(:), one(:), blocks(:, :), spaced(:), row(:, :)
  double precision :: worst
  type(MPI_Datatype) :: absolute
  type(MPI_Request) :: requests(2)
  character(32) :: argument

  call MPI_Init()
  call MPI_Comm_rank(world, rank)
  call MPI_Comm_size(world, ranks)
  other = mod(rank + 1, ranks)
  allocate(values(n), one(n), blocks(n, 0:ranks - 1), spaced(2 * n), row(3, n))
  do i = 1, n
    values(i) = sin(i * 1d-3)
  end do
  do k = 1, 3
    if (wanted('in_place')) call in_place()
    if (wanted('bottom')) call bottom()
    if (wanted('ignored')) call ignored()
    if (wanted('sections') .and. MPI_SUBARRAYS_SUPPORTED) call sections()
  end do
  call MPI_Finalize()

contains

  ! Returns true if the arguments name the case, or there are none. The argument --list prints the name instead.
  logical function wanted(name)
    character(*), intent(in) :: name
    integer :: j
    wanted = command_argument_count() == 0
    worst = 0
    do j = 1, command_argument_count()
      call get_command_argument(j, argument)
      if (argument == '--list' .and. k == 1) print '(a)', name
      if (argument == name) wanted = .true.
    end do
  end function

  subroutine expect(found, factor)
    double precision, intent(in) :: found(:), factor
    worst = max(worst, maxval(abs(found - factor * values)))
  end subroutine

  subroutine expect_blocks()
    integer :: p
    do p = 0, ranks - 1
      call expect(blocks(:, p), 1d0)
    end do
  end subroutine

  subroutine report(name)
    character(*), intent(in) :: name
    if (k == 3) print '(a, a, i0, a, es10.2)', name, ' rank ', rank, ' worst ', worst
    call MPI_Barrier(world)
  end subroutine

  subroutine in_place()
    integer :: counts(0:ranks - 1), displs(0:ranks - 1), p
    type(MPI_Datatype) :: types(0:ranks - 1)
    one = values
    call MPI_Allreduce(MPI_IN_PLACE, one, n, f64, MPI_SUM, world)
    call expect(one, dble(ranks))
    blocks = -1
    blocks(:, rank) = values
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, n, f64, world)
    call expect_blocks()
    do p = 0, ranks - 1
      blocks(:, p) = values
      counts(p) = n
      displs(p) = 8 * p * n
      types(p) = f64
    end do
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, n, f64, world)
    call MPI_Alltoallw(MPI_IN_PLACE, counts, displs, types, blocks, counts, displs, types, world)
    call expect_blocks()
    one = values
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, one, n, f64, MPI_SUM, 0, world)
      call expect(one, dble(ranks))
    else
      call MPI_Reduce(one, MPI_BOTTOM, n, f64, MPI_SUM, 0, world)
    end if
    call report('in_place')
  end subroutine

  subroutine bottom()
    integer(MPI_ADDRESS_KIND) :: address
    one = merge(values, -1d0, rank == 0)
    call MPI_Get_address(one, address)
    call MPI_Type_create_hindexed(1, [n], [address], f64, absolute)
    call MPI_Type_commit(absolute)
    call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, world)
    call MPI_F_sync_reg(one)
    call expect(one, 1d0)
    blocks = -1
    call MPI_Irecv(blocks, n, f64, other, 1, world, requests(1))
    call MPI_Isend(MPI_BOTTOM, 1, absolute, other, 1, world, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call expect(blocks(:, 0), 1d0)
    call MPI_Type_free(absolute)
    call report('bottom')
  end subroutine

  subroutine ignored()
    logical :: done
    type(MPI_Status) :: status
    integer :: count
    blocks = -1
    call MPI_Sendrecv(values, n, f64, other, 2, blocks, n, f64, other, 2, world, MPI_STATUS_IGNORE)
    call expect(blocks(:, 0), 1d0)
    one = -1
    call MPI_Irecv(one, n, f64, other, 3, world, requests(1))
    call MPI_Send(values, n, f64, other, 3, world)
    done = .false.
    do while (.not. done)
      call MPI_Test(requests(1), done, status)
    end do
    call MPI_Get_count(status, f64, count)
    if (count /= n) worst = huge(worst)
    call expect(one, 1d0)
    call report('ignored')
  end subroutine

  subroutine sections()
    spaced = -7
    spaced(1::2) = values
    row = -7
    call MPI_Irecv(spaced(2::2), n, f64, other, 4, world, requests(1))
    call MPI_Isend(spaced(1::2), n, f64, other, 4, world, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call expect(spaced(2::2), 1d0)
    call MPI_Sendrecv(spaced(1::2), n, f64, other, 5, row(2, :), n, f64, other, 5, world, MPI_STATUS_IGNORE)
    call expect(row(2, :), 1d0)
    if (any(row(1, :) /= -7) .or. any(row(3, :) /= -7)) worst = huge(worst)
    call report('sections')
  end subroutine

end program
