! The calls of calls.c from Fortran, by mpif.h, the module mpi (-DUSE_MPI) or mpi_f08 (-DUSE_MPI_F08):
!
!   calls FOLDER      into FOLDER/<rank>.txt: name, hash of the bits, greatest deviation from the exact result
program calls
#if defined(USE_MPI_F08)
  use mpi_f08
  implicit none
#elif defined(USE_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer, parameter :: block = 32768, most_ranks = 8
  real(4) :: send(0:most_ranks*block - 1), receive(0:most_ranks*block - 1)
  real(8) :: exact(0:most_ranks*block - 1)
  integer :: rank, ranks, root, ierror, made, nonblocking, n, r, i, own
  integer :: counts(0:most_ranks - 1), displs(0:most_ranks - 1), mine(0:most_ranks - 1), places(0:most_ranks - 1)
#if defined(USE_MPI_F08)
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: status
  type(MPI_Comm) :: other
  type(MPI_Datatype) :: types(0:most_ranks - 1)
#else
  integer :: requests(4), status(MPI_STATUS_SIZE), other, types(0:most_ranks - 1)
#endif
  integer :: sent
  integer, asynchronous :: got
  logical :: flag, mine_holds(0:block - 1), all_hold(0:block - 1)
  character :: letters(0:block - 1)
  real(4), asynchronous :: summed(0:most_ranks*block - 1)
  character(1000) :: folder
  character(8) :: name

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, folder)
  write (name, '(i0)') rank
  open (unit=7, file=trim(folder)//'/'//trim(name)//'.txt')
  n = ranks*block
  root = ranks - 1
  made = 0
  nonblocking = 0
  counts = block

  call start()
  do i = 0, n - 1
    exact(i) = sum_at(ranks, i)
  end do
  call MPI_Allreduce(send, receive, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  call finish('Allreduce', n)
  call start()
  receive(0:n - 1) = send(0:n - 1)
  call MPI_Allreduce(MPI_IN_PLACE, receive, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  call finish('Allreduce,in_place', n)
  call start()
  call MPI_Reduce(send, receive, n, MPI_REAL, MPI_SUM, root, MPI_COMM_WORLD, ierror)
  call finish('Reduce', merge(n, 0, rank == root))
  call start()
  do i = 0, block - 1
    exact(i) = sum_at(ranks, rank*block + i)
  end do
  call MPI_Reduce_scatter_block(send, receive, block, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  call finish('Reduce_scatter_block', block)
  call start()
  call MPI_Reduce_scatter(send, receive, counts, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  call finish('Reduce_scatter', block)
  call start()
  do i = 0, n - 1
    exact(i) = sum_at(rank + 1, i)
  end do
  call MPI_Scan(send, receive, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  call finish('Scan', n)
  call start()
  do i = 0, n - 1
    exact(i) = sum_at(rank, i)
  end do
  call MPI_Exscan(send, receive, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  call finish('Exscan', merge(n, 0, rank > 0))

  call start()
  if (rank == root) receive(0:n - 1) = send(0:n - 1)
  do i = 0, n - 1
    exact(i) = value(root, i)
  end do
  call MPI_Bcast(receive, n, MPI_REAL, root, MPI_COMM_WORLD, ierror)
  call finish('Bcast', n)
  call start()
  do r = 0, ranks - 1
    do i = 0, block - 1
      exact(r*block + i) = value(r, i)
    end do
  end do
  call MPI_Allgather(send, block, MPI_REAL, receive, block, MPI_REAL, MPI_COMM_WORLD, ierror)
  call finish('Allgather', n)
  call start()
  receive(rank*block:(rank + 1)*block - 1) = send(0:block - 1)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_REAL, receive, block, MPI_REAL, MPI_COMM_WORLD, ierror)
  call finish('Allgather,in_place', n)
  call start()
  call MPI_Gather(send, block, MPI_REAL, receive, block, MPI_REAL, root, MPI_COMM_WORLD, ierror)
  call finish('Gather', merge(n, 0, rank == root))
  call start()
  do i = 0, block - 1
    exact(i) = value(root, rank*block + i)
  end do
  call MPI_Scatter(send, block, MPI_REAL, receive, block, MPI_REAL, root, MPI_COMM_WORLD, ierror)
  call finish('Scatter', block)
  call start()
  do r = 0, ranks - 1
    do i = 0, block - 1
      exact(r*block + i) = value(r, rank*block + i)
    end do
  end do
  call MPI_Alltoall(send, block, MPI_REAL, receive, block, MPI_REAL, MPI_COMM_WORLD, ierror)
  call finish('Alltoall', n)

  do r = 0, ranks - 1
    counts(r) = block - 1 - r
    displs(r) = (ranks - 1 - r)*block
  end do
  own = counts(rank)
  mine = own
  call start()
  exact(0:n - 1) = -1
  do r = 0, ranks - 1
    do i = 0, counts(r) - 1
      exact(displs(r) + i) = value(r, i)
    end do
  end do
  call MPI_Allgatherv(send, own, MPI_REAL, receive, counts, displs, MPI_REAL, MPI_COMM_WORLD, ierror)
  call finish('Allgatherv', n)
  call start()
  call MPI_Gatherv(send, own, MPI_REAL, receive, counts, displs, MPI_REAL, root, MPI_COMM_WORLD, ierror)
  call finish('Gatherv', merge(n, 0, rank == root))
  call start()
  do i = 0, own - 1
    exact(i) = value(root, displs(rank) + i)
  end do
  call MPI_Scatterv(send, counts, displs, MPI_REAL, receive, own, MPI_REAL, root, MPI_COMM_WORLD, ierror)
  call finish('Scatterv', own)
  call start()
  do r = 0, ranks - 1
    places(r) = r*own
    do i = 0, own - 1
      exact(r*own + i) = value(r, displs(rank) + i)
    end do
  end do
  call MPI_Alltoallv(send, counts, displs, MPI_REAL, receive, mine, places, MPI_REAL, MPI_COMM_WORLD, ierror)
  call finish('Alltoallv', ranks*own)
  call start()
  displs = 4*displs
  places = 4*places
  types = MPI_REAL
  call MPI_Alltoallw(send, counts, displs, types, receive, mine, places, types, MPI_COMM_WORLD, ierror)
  call finish('Alltoallw', ranks*own)

  ! The neighbours in the ring of ranks.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., other, ierror)
  do r = 0, 1
    do i = 0, block - 1
      exact(r*block + i) = value(modulo(rank + 2*r - 1, ranks), i)
    end do
  end do
  call start()
  call MPI_Neighbor_allgather(send, block, MPI_REAL, receive, block, MPI_REAL, other, ierror)
  call finish('Neighbor_allgather', 2*block)
  call start()
  call MPI_Neighbor_allgatherv(send, block, MPI_REAL, receive, [block, block], [0, block], MPI_REAL, other, ierror)
  call finish('Neighbor_allgatherv', 2*block)
  do r = 0, 1
    do i = 0, block - 1
      exact(r*block + i) = value(modulo(rank + 2*r - 1, ranks), (1 - r)*block + i)
    end do
  end do
  call start()
  call MPI_Neighbor_alltoall(send, block, MPI_REAL, receive, block, MPI_REAL, other, ierror)
  call finish('Neighbor_alltoall', 2*block)
  call start()
  call MPI_Neighbor_alltoallv(send, [block, block], [0, block], MPI_REAL, receive, [block, block], [0, block], &
                              MPI_REAL, other, ierror)
  call finish('Neighbor_alltoallv', 2*block)
! The module mpi_f08 of MPICH 4.0.2 takes any topology for a distributed graph.
#if !defined(USE_MPI_F08) || !defined(WRONG_INDICES_IN_F08)
  call start()
  types = MPI_REAL
  call MPI_Neighbor_alltoallw(send, [block, block], [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND*block], types, receive, &
                              [block, block], [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND*block], types, other, ierror)
  call finish('Neighbor_alltoallw', 2*block)
#endif
  call MPI_Comm_free(other, ierror)

  ! What is not a number.
  call start()
  do i = 0, block - 1
    mine_holds(i) = modulo(i, rank + 2) == 0
    exact(i) = merge(1, 0, all([(modulo(i, r + 2) == 0, r=0, ranks - 1)]))
  end do
  call MPI_Allreduce(mine_holds, all_hold, block, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
  receive(0:block - 1) = merge(1.0, 0.0, all_hold)
  call finish('plain,logical', block)
  call start()
  letters = ' '
  do i = 0, block - 1
    if (rank == root) letters(i) = achar(32 + modulo(i, 90))
    exact(i) = 32 + modulo(i, 90)
  end do
  call MPI_Bcast(letters, block, MPI_CHARACTER, root, MPI_COMM_WORLD, ierror)
  receive(0:block - 1) = iachar(letters)
  call finish('plain,character', block)

  ! Nonblocking calls among messages; the first rank waits elsewhere before it waits for them.
  call start()
  counts = block
  do r = 0, ranks - 1
    displs(r) = r*block
  end do
  sent = rank + 100
  got = -1
  call MPI_Irecv(got, 1, MPI_INTEGER, modulo(rank - 1, ranks), 5, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Iallgatherv(send, block, MPI_REAL, receive, counts, displs, MPI_REAL, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Isend(sent, 1, MPI_INTEGER, modulo(rank + 1, ranks), 5, MPI_COMM_WORLD, requests(3), ierror)
  summed(0:n - 1) = send(0:n - 1)
  call MPI_Iallreduce(MPI_IN_PLACE, summed, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, requests(4), ierror)
  if (rank == 0) call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Wait(requests(4), status, ierror)
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
  if (rank /= 0) call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (got /= modulo(rank - 1, ranks) + 100) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  do r = 0, ranks - 1
    do i = 0, block - 1
      exact(r*block + i) = value(r, i)
    end do
  end do
  call finish('Iallgatherv', n)
  receive = -1
  receive(0:n - 1) = summed(0:n - 1)
  do i = 0, n - 1
    exact(i) = sum_at(ranks, i)
  end do
  call finish('Iallreduce', n)
  call MPI_Comm_dup(MPI_COMM_WORLD, other, ierror)
  call start()
  call MPI_Iallreduce(send, receive, n, MPI_REAL, MPI_SUM, other, requests(1), ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, status, ierror)
  end do
  call finish('Iallreduce,first', n)
  call MPI_Comm_free(other, ierror)
  call start()
  places = 4*displs
  do r = 0, ranks - 1
    do i = 0, block - 1
      exact(r*block + i) = value(r, rank*block + i)
    end do
  end do
  call MPI_Ialltoallw(send, counts, places, types, receive, counts, places, types, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Wait(requests(1), status, ierror)
  call finish('Ialltoallw', n)
  do i = 0, n - 1
    exact(i) = sum_at(ranks, i)
  end do
  nonblocking = 4

#if defined(PERSISTENT)
  ! Persistent ones, started again and again among messages.
  call start()
  summed(0:n - 1) = 0
  call MPI_Allreduce_init(send, summed, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierror)
  call MPI_Recv_init(got, 1, MPI_INTEGER, modulo(rank - 1, ranks), 5, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Send_init(sent, 1, MPI_INTEGER, modulo(rank + 1, ranks), 5, MPI_COMM_WORLD, requests(3), ierror)
  do r = 1, 3
    got = -1
    summed(0:n - 1) = 0
    if (r == 1) then
      call MPI_Start(requests(1), ierror)
      call MPI_Startall(2, requests(2:3), ierror)
    else
      call MPI_Startall(3, requests, ierror)
    end if
    if (rank == 0) call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (r == 2) call MPI_Wait(requests(1), status, ierror)
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierror)
    if (rank /= 0) call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (got /= modulo(rank - 1, ranks) + 100) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
    receive = -1
    receive(0:n - 1) = summed(0:n - 1)
    call finish('Allreduce_init', n)
  end do
  do r = 1, 3
    call MPI_Request_free(requests(r), ierror)
  end do
  nonblocking = nonblocking + 3
#endif

  write (7, '(a,i0,1x,i0)') 'made ', made - nonblocking, nonblocking
  close (7)
  call MPI_Finalize(ierror)

contains
  ! What rank r has at i: smooth, and exact in real(4).
  real(8) function value(of, at)
    integer, intent(in) :: of, at
    value = floor(2048*sin(1d-3*at + of))/256d0
  end function

  ! Sum over the first ranks.
  real(8) function sum_at(over, at)
    integer, intent(in) :: over, at
    integer :: each
    sum_at = 0
    do each = 0, over - 1
      sum_at = sum_at + value(each, at)
    end do
  end function

  subroutine start()
    integer :: at
    receive = -1
    do at = 0, n - 1
      send(at) = real(value(rank, at), 4)
    end do
  end subroutine

  ! `most` values came in; exact says what they should be.
  subroutine finish(title, most)
    character(*), intent(in) :: title
    integer, intent(in) :: most
    integer(8) :: hash
    integer :: at
    real(8) :: worst
    hash = 5381
    worst = 0
    do at = 0, most_ranks*block - 1
      hash = iand(hash*33 + iand(int(transfer(receive(at), 1), 8), 4294967295_8), 1099511627775_8)
    end do
    do at = 0, most - 1
      worst = max(worst, abs(receive(at) - exact(at)))
    end do
    write (7, '(a,1x,z16.16,1x,es12.5)') title, hash, worst
    made = made + 1
  end subroutine
end program
