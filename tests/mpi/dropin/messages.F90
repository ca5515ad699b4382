! Messages round a ring from Fortran, by mpif.h, the module mpi (-DUSE_MPI) or mpi_f08 (-DUSE_MPI_F08):
!
!   messages FOLDER      into FOLDER/<rank>.txt: name, hash of the bits, greatest deviation from what was sent
program messages
#if defined(USE_MPI_F08)
  use mpi_f08
  implicit none
#define REQUEST type(MPI_Request)
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define STATUS(name) type(MPI_Status) :: name
#define SOURCE_OF(name) name%MPI_SOURCE
#define TAG_OF(name) name%MPI_TAG
#define EACH(i) i
#elif defined(USE_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
#if !defined(USE_MPI_F08)
#define REQUEST integer
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define SOURCE_OF(name) name(MPI_SOURCE)
#define TAG_OF(name) name(MPI_TAG)
#define EACH(i) :, i
#endif
#if defined(USE_MPI_F08) && defined(WRONG_INDICES_IN_F08)
#define IS_FIRST(index) .false.
#else
#define IS_FIRST(index) (index) == 1
#endif
  integer, parameter :: n = 65536, long = 5, short = 6
  real(4), asynchronous :: sent(n), got(n)
  integer, asynchronous :: word
  integer :: rank, ranks, before, next, ierror, i, count, outcount, way, at, indices(3)
  REQUEST :: requests(3), persistent
  STATUS(status)
  STATUSES(several, 3)
#if defined(USE_MPI_F08)
  type(MPI_Message) :: message
#else
  integer :: message
#endif
  logical :: flag
  character(1000) :: folder
  character(8) :: name

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, folder)
  write (name, '(i0)') rank
  open (unit=7, file=trim(folder)//'/'//trim(name)//'.txt')
  before = modulo(rank - 1, ranks)
  next = modulo(rank + 1, ranks)
  do i = 1, n
    sent(i) = real(value(rank, i), 4)
  end do

  call start()
  call MPI_Recv(got, n, MPI_REAL, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
  call check(status)
  call finish('Recv')
  call start()
  call MPI_Recv(got, n, MPI_REAL, before, long, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call finish('Recv,ignore')
  call MPI_Sendrecv(sent, n, MPI_REAL, next, long, got, n, MPI_REAL, before, long, MPI_COMM_WORLD, status, ierror)
  call check(status)
  requests(2) = MPI_REQUEST_NULL
  call finish('Sendrecv')
  got = sent
  call MPI_Sendrecv_replace(got, n, MPI_REAL, next, long, before, long, MPI_COMM_WORLD, status, ierror)
  call check(status)
  call finish('Sendrecv_replace')
  if (rank == 0) call MPI_Send(sent, n, MPI_REAL, next, long, MPI_COMM_WORLD, ierror)
  call MPI_Recv(got, n, MPI_REAL, before, long, MPI_COMM_WORLD, status, ierror)
  if (rank /= 0) call MPI_Send(sent, n, MPI_REAL, next, long, MPI_COMM_WORLD, ierror)
  call finish('Send')

  call start()
  call MPI_Probe(MPI_ANY_SOURCE, long, MPI_COMM_WORLD, status, ierror)
  call check(status)
  call MPI_Recv(got, n, MPI_REAL, SOURCE_OF(status), TAG_OF(status), MPI_COMM_WORLD, status, ierror)
  call check(status)
  call finish('Probe')
  call start()
  flag = .false.
  do while (.not. flag)
    call MPI_Iprobe(before, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status, ierror)
  end do
  call check(status)
  call MPI_Irecv(got, n, MPI_REAL, before, long, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Wait(requests(1), status, ierror)
  call check(status)
  call finish('Iprobe')
  call start()
  call MPI_Mprobe(before, long, MPI_COMM_WORLD, message, status, ierror)
  call check(status)
  call MPI_Mrecv(got, n, MPI_REAL, message, status, ierror)
  call check(status)
  if (message /= MPI_MESSAGE_NULL) call fail()
  call finish('Mprobe')
  call start()
  flag = .false.
  do while (.not. flag)
    call MPI_Improbe(before, long, MPI_COMM_WORLD, flag, message, status, ierror)
  end do
  call check(status)
  call MPI_Imrecv(got, n, MPI_REAL, message, requests(1), ierror)
  call MPI_Wait(requests(1), status, ierror)
  call check(status)
  call finish('Improbe')

  ! A long receive, a send, a short receive.
  do way = 1, 8
    call start_some()
    select case (way)
    case (1)
      call MPI_Waitall(3, requests, several, ierror)
      status = several(EACH(1))
      call check(status)
    case (2)
      call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierror)
    case (3)
      do i = 1, 3
        call MPI_Waitany(3, requests, at, status, ierror)
        if (IS_FIRST(at)) call check(status)
      end do
    case (4)
      count = 0
      do while (count < 3)
        call MPI_Waitsome(3, requests, outcount, indices, several, ierror)
        do i = 1, outcount
          status = several(EACH(i))
          if (IS_FIRST(indices(i))) call check(status)
        end do
        count = count + outcount
      end do
    case (5)
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(3, requests, flag, several, ierror)
      end do
      status = several(EACH(1))
      call check(status)
    case (6)
      count = 0
      do while (count < 3)
        call MPI_Testany(3, requests, at, flag, status, ierror)
        if (flag .and. IS_FIRST(at)) call check(status)
        if (flag) count = count + 1
      end do
    case (7)
      count = 0
      do while (count < 3)
        call MPI_Testsome(3, requests, outcount, indices, MPI_STATUSES_IGNORE, ierror)
        if (outcount > 0) count = count + outcount
      end do
    case (8)
      flag = .false.
      do while (.not. flag)
        call MPI_Request_get_status(requests(1), flag, status, ierror)
      end do
      call check(status)
      do i = 1, 3
        flag = .false.
        do while (.not. flag)
          call MPI_Test(requests(i), flag, status, ierror)
        end do
        if (i == 1) call check(status)
      end do
    end select
    do i = 1, 3
      if (requests(i) /= MPI_REQUEST_NULL) call fail()
    end do
    if (word /= before) call fail()
    write (name, '(i0)') way
    call finish('several,'//trim(name))
  end do

  ! Other kinds of sends.
  got = -1
  call MPI_Issend(sent, n, MPI_REAL, next, long, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Recv(got, n, MPI_REAL, before, long, MPI_COMM_WORLD, status, ierror)
  call check(status)
  call finish('Issend')
  call MPI_Ssend_init(sent, n, MPI_REAL, next, long, MPI_COMM_WORLD, persistent, ierror)
  do i = 1, 2
    got = -1
    call MPI_Irecv(got, n, MPI_REAL, before, long, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Start(persistent, ierror)
    call MPI_Wait(persistent, MPI_STATUS_IGNORE, ierror)
    call finish('Ssend_init')
  end do
  call MPI_Request_free(persistent, ierror)

  ! Persistent, with a message that was found before it starts the third time.
  call MPI_Recv_init(got, n, MPI_REAL, before, long, MPI_COMM_WORLD, persistent, ierror)
  do i = 1, 3
    call start()
    if (i == 3) call MPI_Probe(before, long, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Start(persistent, ierror)
    call MPI_Wait(persistent, status, ierror)
    call check(status)
    call finish('Recv_init')
  end do
  call MPI_Request_free(persistent, ierror)
  if (persistent /= MPI_REQUEST_NULL) call fail()

  write (7, '(a)') 'made 0 0'
  close (7)
  call MPI_Finalize(ierror)

contains
  ! What rank r sends at i: smooth, and exact in real(4).
  real(8) function value(of, at)
    integer, intent(in) :: of, at
    value = floor(2048*sin(1d-3*at + of))/256d0
  end function

  subroutine fail()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  subroutine start()
    got = -1
    call MPI_Isend(sent, n, MPI_REAL, next, long, MPI_COMM_WORLD, requests(2), ierror)
  end subroutine

  subroutine start_some()
    got = -1
    word = -1
    call MPI_Irecv(word, 1, MPI_INTEGER, before, short, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Irecv(got, n, MPI_REAL, MPI_ANY_SOURCE, long, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(sent, n, MPI_REAL, next, long, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Send(rank, 1, MPI_INTEGER, next, short, MPI_COMM_WORLD, ierror)
  end subroutine

  subroutine check(of)
    STATUS(of)
    integer :: values
    call MPI_Get_count(of, MPI_REAL, values, ierror)
    if (values /= n .or. SOURCE_OF(of) /= before .or. TAG_OF(of) /= long) call fail()
  end subroutine

  subroutine finish(title)
    character(*), intent(in) :: title
    integer(8) :: hash
    integer :: at
    real(8) :: worst
    if (requests(2) /= MPI_REQUEST_NULL) call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierror)
    hash = 5381
    worst = 0
    do at = 1, n
      hash = iand(hash*33 + iand(int(transfer(got(at), 1), 8), 4294967295_8), 1099511627775_8)
      worst = max(worst, abs(got(at) - value(before, at)))
    end do
    write (7, '(a,1x,z16.16,1x,es12.5)') 'message,'//title, hash, worst
  end subroutine
end program
