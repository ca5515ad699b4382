! Calls of the module `taut` from Fortran: results, requests, statuses, errors. Prints "passed" if all is as it should be.
program calls
  use mpi_f08
  use taut
  implicit none
  integer, parameter :: n = 50000, wide = MPI_COUNT_KIND
  real(4), allocatable, asynchronous :: mine(:), got(:), blocks(:), all(:)
  integer :: rank, ranks, i, before, next, faults, total
  real(8) :: middle

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  before = modulo(rank - 1, ranks)
  next = modulo(rank + 1, ranks)
  faults = 0
  middle = (ranks - 1)/2d0
  allocate (mine(n), got(n), blocks(n*ranks), all(n*ranks))
  mine = [(value(rank, i), i=1, n)]
  blocks = [(mine, i=1, ranks)]

  call TAUT_Comm_set_policy(MPI_COMM_WORLD, 'abs:1e-3,min_bytes=0,when=always  ')
  call collectives()
  call requests()
  call blocks_of_any_type()
  call messages()
  call texts()
  call errors()

  call MPI_Allreduce(faults, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. total == 0) print '(a)', 'passed'
  call MPI_Finalize()
  if (total /= 0) error stop 1

contains

  pure real(4) function value(of, at)
    integer, intent(in) :: of, at
    value = real(of + sin(1d-3*at), 4)
  end function

  subroutine expect(what, holds)
    character(*), intent(in) :: what
    logical, intent(in) :: holds
    if (holds) return
    faults = faults + 1
    print '(a,i0,2a)', 'rank ', rank, ': not so: ', what
  end subroutine

  ! Expects `values` to be that of a rank, times a factor, within the bound but not to the bit.
  subroutine expect_values(what, values, of, factor)
    character(*), intent(in) :: what
    real(4), intent(in) :: values(:)
    real(8), intent(in) :: of, factor
    real(8) :: worst
    integer :: at
    worst = 0
    do at = 1, size(values)
      worst = max(worst, abs(values(at) - factor*(of + sin(1d-3*(modulo(at - 1, n) + 1)))))
    end do
    call expect(what//' is within the bound', worst <= 1.01d-3)
    call expect(what//' was compressed', worst >= 1d-5)
  end subroutine

  subroutine collectives()
    integer :: ierror
    integer(wide) :: counts(ranks)
    integer(MPI_ADDRESS_KIND) :: places(ranks)
    call TAUT_Allreduce(mine, got, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect('Allreduce succeeds', ierror == MPI_SUCCESS)
    call expect_values('Allreduce', got, middle, 1d0*ranks)
    got = mine
    call TAUT_Allreduce(MPI_IN_PLACE, got, int(n, wide), MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    call expect_values('Allreduce in place', got, middle, 1d0*ranks)
    call TAUT_Allreduce(mine, got, n, MPI_REAL, TAUT_Avg(), MPI_COMM_WORLD)
    call expect_values('mean', got, middle, 1d0)
    call TAUT_Scan(mine, got, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    call expect_values('Scan', got, rank/2d0, rank + 1d0)
    call TAUT_Exscan(mine, got, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    if (rank > 0) call expect_values('Exscan', got, (rank - 1)/2d0, 1d0*rank)
    got = mine
    call TAUT_Bcast(got, n, MPI_REAL, 0, MPI_COMM_WORLD)
    if (rank == 0) call expect('the root''s values stay', maxval(abs(got - mine)) <= 0)
    if (rank > 0) call expect_values('Bcast', got, 0d0, 1d0)
    counts = n
    places = [(int(n, MPI_ADDRESS_KIND)*(i - 1), i=1, ranks)]
    call TAUT_Allgatherv(mine, n, MPI_REAL, all, counts, places, MPI_REAL, MPI_COMM_WORLD)
    call expect_values('Allgatherv', all(next*n + 1:next*n + n), 1d0*next, 1d0)
  end subroutine

  subroutine requests()
    type(TAUT_Request) :: several(2), one
    type(MPI_Status) :: statuses(2)
    logical :: flag
    integer :: index
    call expect('a new request is null', one == TAUT_REQUEST_NULL)
    call TAUT_Iallreduce(mine, got, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, one)
    call expect('a request in flight is not null', one /= TAUT_REQUEST_NULL)
    call TAUT_Wait(one, MPI_STATUS_IGNORE)
    call expect('a complete request is null', one == TAUT_REQUEST_NULL)
    call expect_values('Iallreduce', got, middle, 1d0*ranks)

    all = 0
    call TAUT_Iallreduce(mine, got, n, MPI_REAL, MPI_MAX, MPI_COMM_WORLD, several(1))
    call TAUT_Iallgather(mine, n, MPI_REAL, all, n, MPI_REAL, MPI_COMM_WORLD, several(2))
    call TAUT_Waitany(2, several, index, statuses(1))
    call expect('an index counts from 1', index >= 1 .and. index <= 2)
    flag = .false.
    do while (.not. flag)
      call TAUT_Testall(2, several, flag, statuses)
    end do
    call TAUT_Waitany(2, several, index, MPI_STATUS_IGNORE)
    call expect('no request is left', index == MPI_UNDEFINED)
    call expect_values('Iallgather', all(next*n + 1:next*n + n), 1d0*next, 1d0)

    call TAUT_Allreduce_init(mine, got, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, one)
    do i = 1, 2
      got = 0
      call TAUT_Start(one)
      several(1) = one
      call TAUT_Waitall(1, several, MPI_STATUSES_IGNORE)
      call expect_values('Allreduce_init', got, middle, 1d0*ranks)
    end do
    call TAUT_Request_free(one)
  end subroutine

  subroutine blocks_of_any_type()
    integer(wide), asynchronous :: counts(ranks)
    integer(MPI_ADDRESS_KIND), asynchronous :: places(ranks)
    type(TAUT_Request) :: request
    type(MPI_Comm) :: ring
    counts = n
    places = [(4_MPI_ADDRESS_KIND*n*(i - 1), i=1, ranks)]
    all = 0
    call TAUT_Alltoallw(blocks, counts, places, [(MPI_REAL, i=1, ranks)], all, counts, places, [(MPI_REAL, i=1, ranks)], &
                        MPI_COMM_WORLD)
    call expect_values('Alltoallw', all(next*n + 1:next*n + n), 1d0*next, 1d0)
    all = 0
    call TAUT_Ialltoallw(blocks, counts, places, [(MPI_REAL, i=1, ranks)], all, counts, places, [(MPI_REAL, i=1, ranks)], &
                         MPI_COMM_WORLD, request)
    call TAUT_Wait(request, MPI_STATUS_IGNORE)
    call expect_values('Ialltoallw', all(next*n + 1:next*n + n), 1d0*next, 1d0)
    if (ranks == 1) return
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
    call TAUT_Comm_set_policy(ring, 'abs:1e-3,min_bytes=0,when=always')
    all = 0
    call TAUT_Neighbor_alltoallw(blocks, counts, places, [MPI_REAL, MPI_REAL], all, counts, places, [MPI_REAL, MPI_REAL], ring)
    call expect_values('Neighbor_alltoallw', all(1:n), 1d0*before, 1d0)
    call MPI_Comm_free(ring)
  end subroutine

  subroutine messages()
    type(MPI_Status) :: status
    type(TAUT_Request) :: sending, receiving
    logical :: flag
    integer :: count
    call TAUT_Sendrecv(mine, n, MPI_REAL, next, 1, got, n, MPI_REAL, before, 1, MPI_COMM_WORLD, status)
    call expect('Sendrecv names source and tag', status%MPI_SOURCE == before .and. status%MPI_TAG == 1)
    call expect_values('Sendrecv', got, 1d0*before, 1d0)

    call TAUT_Isend(mine, n, MPI_REAL, next, 2, MPI_COMM_WORLD, sending)
    call TAUT_Probe(before, 2, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_REAL, count)
    call expect('Probe knows the count', count == n)
    call TAUT_Recv(got, n, MPI_REAL, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call TAUT_Wait(sending, MPI_STATUS_IGNORE)
    call expect_values('Recv', got, 1d0*before, 1d0)

    got = 0
    call TAUT_Irecv(got, n, MPI_REAL, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, receiving)
    call TAUT_Send(mine, n, MPI_REAL, next, 3, MPI_COMM_WORLD)
    flag = .false.
    do while (.not. flag)
      call TAUT_Test(receiving, flag, status)
    end do
    call expect('Test names the source', status%MPI_SOURCE == before)
    call expect_values('Irecv', got, 1d0*before, 1d0)
    call TAUT_Iprobe(before, 4, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
    call expect('no message is left', .not. flag)
  end subroutine

  subroutine texts()
    type(TAUT_Stats) :: stats
    integer :: major, minor, patch
    character(2000) :: said
    call TAUT_Get_version(major, minor, patch)
    call expect('the module is that of the library', major == TAUT_VERSION_MAJOR .and. minor == TAUT_VERSION_MINOR)
    call TAUT_Comm_get_stats(MPI_COMM_WORLD, stats)
    call expect('statistics count calls', stats%calls > 15 .and. stats%compressed_calls == stats%calls)
    call TAUT_Comm_get_policy(MPI_COMM_WORLD, said)
    call expect('the policy is the one that was set', said(1:8) == 'abs:1e-3')
    call TAUT_Comm_explain(MPI_COMM_WORLD, said)
    call expect('the explanation names the policy', said(1:15) == 'policy abs:1e-3')
    call TAUT_Comm_explain(MPI_COMM_WORLD, said(1:10))
    call expect('a short explanation is cut', said(1:10) == 'policy abs')
    call expect('a status has a text', index(TAUT_Status_string(TAUT_ERR_PEER), 'rank') > 0)
  end subroutine

  subroutine errors()
    character(MPI_MAX_ERROR_STRING) :: text
    type(MPI_Info) :: info
    integer :: ierror, code, length
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call TAUT_Comm_set_policy(MPI_COMM_WORLD, 'abs:1e-3,colour=red', ierror)
    call expect('a wrong policy is an error', TAUT_Error_status(ierror) == TAUT_ERR_POLICY)
    call MPI_Error_string(ierror, text, length)
    call expect('it is named', index(text, 'colour') > 0)
    call TAUT_Allreduce(mine(::2), got, n/2, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect('a section with gaps is an error', TAUT_Error_status(ierror) == TAUT_ERR_ARGUMENT)
    call MPI_Error_string(ierror, text, length)
    call expect('the buffer is named', index(text, 'TAUT_Allreduce: sendbuf') > 0)
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'taut_bound', 'lossless')
    call TAUT_Comm_set_info(MPI_COMM_WORLD, info, code)
    call MPI_Info_free(info)
    call TAUT_Bcast(got, n, MPI_REAL, 0, MPI_COMM_WORLD, ierror)
    call expect('an info object sets a policy', code == MPI_SUCCESS .and. ierror == MPI_SUCCESS)
  end subroutine
end program
