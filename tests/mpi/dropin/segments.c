/* A program of plain MPI in which rank 0 sends long messages, which travel in segments, to rank 1.

     segments wait|waitany|waitsome|waitall|recv
                                   rank 0 waits in its first send, rank 1 for the second message by that call
     segments killed               rank 0 is killed as soon as its receiver has the first segment */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { rounds = 8, count = 16 << 20, crossing_count = 1 << 20 };

static float values[count], got[2][count];

static void wait_for_second(const char* how, MPI_Request requests[2]) {
  int index = 0, indices[2];
  if (strcmp(how, "wait") == 0) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  if (strcmp(how, "waitany") == 0) MPI_Waitany(1, &requests[1], &index, MPI_STATUS_IGNORE);
  if (strcmp(how, "waitsome") == 0) MPI_Waitsome(1, &requests[1], &index, indices, MPI_STATUSES_IGNORE);
  if (strcmp(how, "waitall") == 0) MPI_Waitall(1, &requests[1], MPI_STATUSES_IGNORE);
}

static int right(const float* these) {
  for (int i = 0; i < crossing_count; i += 101)
    if (fabsf(these[i] - values[i]) > 0.01f) return 0;
  return 1;
}

static int cross(const char* how, int rank) {
  const int blocks = strcmp(how, "recv") == 0;
  int good = 1;
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (rank == 0) {
      MPI_Send(values, crossing_count, MPI_FLOAT, 1, 1, MPI_COMM_WORLD);
      MPI_Send(values, crossing_count, MPI_FLOAT, 1, 2, MPI_COMM_WORLD);
    } else {
      memset(got, 0, sizeof got);
      MPI_Irecv(got[0], crossing_count, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, &requests[0]);
      if (blocks)
        MPI_Recv(got[1], crossing_count, MPI_FLOAT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      else
        MPI_Irecv(got[1], crossing_count, MPI_FLOAT, 0, 2, MPI_COMM_WORLD, &requests[1]);
      wait_for_second(how, requests);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      good &= right(got[0]) && right(got[1]);
    }
    if (round == 0) MPI_Barrier(MPI_COMM_WORLD); /* the messages of this round are plain, and give credit */
  }
  return good;
}

static int be_killed(int rank) {
  MPI_Request request;
  if (rank == 0) MPI_Send(values, crossing_count, MPI_FLOAT, 1, 1, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(got[0], crossing_count, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(got[0], count, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts("received");
    return 1;
  }
  MPI_Isend(values, count, MPI_FLOAT, 1, 1, MPI_COMM_WORLD, &request);
  for (int matched = 0; !matched;) PMPI_Request_get_status(request, &matched, MPI_STATUS_IGNORE);
  raise(SIGKILL);
  return 0;
}

int main(int argc, char** argv) {
  int rank, level, good;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < count; ++i) values[i] = sinf(1e-3f * (float)i);
  good = strcmp(argv[1], "killed") == 0 ? be_killed(rank) : cross(argv[1], rank);
  MPI_Finalize();
  return good ? 0 : 1;
}
