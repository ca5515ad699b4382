/* Calls that plain MPI tolerates, or refuses by an error class: one buffer under different types on the
 * ranks, absolute addresses, wrong and aliased arguments. Prints for each call and rank what came of it. The
 * output is that of plain MPI if Taut hides nothing and breaks nothing. Two ranks or more. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 1 << 16 };
static int me, P;
static float *mine, *got; /* n values, and room for n of each rank */
static const MPI_Comm world = MPI_COMM_WORLD;

/* Prints the error class of a call, or if the values in `got` are `times` those in `mine`. */
static void tell(const char* call, int code, int blocks, double times) {
  int class = MPI_SUCCESS;
  double worst = 0;
  MPI_Error_class(code, &class);
  for (int i = 0; i < blocks * n && code == MPI_SUCCESS; ++i) {
    const double off = fabs(got[i] - times * mine[i % n]);
    if (!(off <= worst)) worst = off;
  }
  const char* const what = worst <= 0.01 ? "right" : "wrong";
  printf("%s, rank %d: %s %d\n", call, me, code == MPI_SUCCESS ? what : "error class", class);
  fflush(stdout);
  memset(got, 0, sizeof *got * n * P);
}

static void one_buffer_of_several_types(void) {
  void* const buf = me == 0 ? mine : got;
  const int blocks = me == 0 ? 0 : 1;
  MPI_Request request;
  for (int again = 0; again < 3; ++again) {
    tell("Bcast float, byte", MPI_Bcast(buf, me ? 4 * n : n, me ? MPI_BYTE : MPI_FLOAT, 0, world), blocks, 1);
    tell("Bcast int, float", MPI_Bcast(buf, n, me ? MPI_FLOAT : MPI_INT, 0, world), blocks, 1);
  }
  tell("Bcast float, complex", MPI_Bcast(buf, me ? n / 2 : n, me ? MPI_C_FLOAT_COMPLEX : MPI_FLOAT, 0, world),
       blocks, 1);
  MPI_Ibcast(buf, me ? 4 * n : n, me ? MPI_BYTE : MPI_FLOAT, 0, world, &request);
  tell("Ibcast float, byte", MPI_Wait(&request, MPI_STATUS_IGNORE), blocks, 1);
  tell("Gather float, byte",
       MPI_Gather(mine, me ? 4 * n : n, me ? MPI_BYTE : MPI_FLOAT, got, n, MPI_FLOAT, 0, world),
       me == 0 ? P : 0, 1);
  tell("Allgather float, byte",
       MPI_Allgather(mine, me == 1 ? 4 * n : n, me == 1 ? MPI_BYTE : MPI_FLOAT, got, n, MPI_FLOAT, world), P,
       1);
  float* const all = malloc(sizeof *all * n * P);
  for (int i = 0; i < n * P; ++i) all[i] = mine[i % n];
  tell("Scatter float, byte",
       MPI_Scatter(all, n, MPI_FLOAT, got, me == 1 ? 4 * n : n, me == 1 ? MPI_BYTE : MPI_FLOAT, 0, world), 1,
       1);
  free(all);
}

static void sum_of_several_types(void) {
  int32_t* const all = (int32_t*)got;
  int32_t* const own = malloc(sizeof *own * n);
  int wrong = 0;
  for (int i = 0; i < n; ++i) own[i] = i;
  const int code = MPI_Allreduce(own, all, n, me ? MPI_UNSIGNED : MPI_INT, MPI_SUM, world);
  for (int i = 0; i < n && code == MPI_SUCCESS; ++i) wrong += all[i] != P * i;
  tell(wrong ? "Allreduce int, unsigned: wrong" : "Allreduce int, unsigned", code, 0, 1);
  free(own);
}

static MPI_Datatype at(void* address) {
  MPI_Datatype type;
  MPI_Aint place;
  const int length = n;
  MPI_Get_address(address, &place);
  MPI_Type_create_hindexed(1, &length, &place, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void absolute_addresses(void) {
  MPI_Datatype from = at(mine), to = at(got);
  const int other = me ^ 1, here = other < P ? other : MPI_PROC_NULL, moved = here != MPI_PROC_NULL;
  MPI_Request request;
  tell("Bcast at MPI_BOTTOM", MPI_Bcast(MPI_BOTTOM, 1, me ? to : from, 0, world), me != 0, 1);
  tell("Gather at MPI_BOTTOM", MPI_Gather(MPI_BOTTOM, 1, from, got, n, MPI_FLOAT, 0, world), me == 0 ? P : 0,
       1);
  tell("Sendrecv at MPI_BOTTOM",
       MPI_Sendrecv(mine, n, MPI_FLOAT, here, 1, MPI_BOTTOM, 1, to, here, 1, world, MPI_STATUS_IGNORE), moved,
       1);
  MPI_Irecv(MPI_BOTTOM, 1, to, here, 2, world, &request);
  MPI_Send(MPI_BOTTOM, 1, from, here, 2, world);
  tell("Irecv at MPI_BOTTOM", MPI_Wait(&request, MPI_STATUS_IGNORE), moved, 1);
  MPI_Type_free(&from);
  MPI_Type_free(&to);
}

/* Every rank makes the same wrong call, so that none waits for the others. */
static void wrong_arguments(void) {
  const MPI_Datatype f = MPI_FLOAT, none = MPI_DATATYPE_NULL;
  const MPI_Op sum = MPI_SUM;
  tell("Allreduce of a negative count", MPI_Allreduce(mine, got, -1, f, sum, world), 0, 1);
  tell("Allreduce of no type", MPI_Allreduce(mine, got, n, none, sum, world), 0, 1);
  tell("Allreduce by no operator", MPI_Allreduce(mine, got, n, f, MPI_OP_NULL, world), 0, 1);
  tell("Reduce of bits of numbers", MPI_Reduce(mine, got, n, f, MPI_BAND, 0, world), 0, 1);
  tell("Reduce to a rank too many", MPI_Reduce(mine, got, n, f, sum, P, world), 0, 1);
  tell("Bcast from a rank too many", MPI_Bcast(mine, n, f, P, world), 0, 1);
  tell("Bcast from a negative rank", MPI_Bcast(mine, n, f, -7, world), 0, 1);
  tell("Bcast of no type", MPI_Bcast(mine, n, none, 0, world), 0, 1);
  tell("Gather to a rank too many", MPI_Gather(mine, n, f, got, n, f, P, world), 0, 1);
  tell("Scatter from a negative rank", MPI_Scatter(got, n, f, mine, n, f, -7, world), 0, 1);
  tell("Allgather of a negative count", MPI_Allgather(mine, -1, f, got, n, f, world), 0, 1);
  tell("Alltoall of no type", MPI_Alltoall(mine, n / P, none, got, n / P, f, world), 0, 1);
  tell("Scan of a negative count", MPI_Scan(mine, got, -1, f, sum, world), 0, 1);
  tell("Allreduce on no communicator", MPI_Allreduce(mine, got, n, f, sum, MPI_COMM_NULL), 0, 1);
  tell("Neighbor_allgather without neighbours", MPI_Neighbor_allgather(mine, n, f, got, n, f, world), 0, 1);
  tell("Send to a rank too many", MPI_Send(mine, n, f, P, 0, world), 0, 1);
  tell("Send under a negative tag", MPI_Send(mine, n, f, 0, -5, world), 0, 1);
}

static void misplaced_in_place(void) {
  const MPI_Datatype f = MPI_FLOAT;
  const MPI_Op sum = MPI_SUM;
  tell("Allgather to MPI_IN_PLACE", MPI_Allgather(mine, n, f, MPI_IN_PLACE, n, f, world), 0, 1);
  tell("Allreduce to MPI_IN_PLACE", MPI_Allreduce(mine, MPI_IN_PLACE, n, f, sum, world), 0, 1);
  tell("Alltoall to MPI_IN_PLACE", MPI_Alltoall(mine, n / P, f, MPI_IN_PLACE, n / P, f, world), 0, 1);
  tell("Scan to MPI_IN_PLACE", MPI_Scan(mine, MPI_IN_PLACE, n, f, sum, world), 0, 1);
}

static void aliased_buffers(void) {
  const MPI_Datatype f = MPI_FLOAT;
  const MPI_Op sum = MPI_SUM;
  tell("Allreduce of one buffer", MPI_Allreduce(got, got, n, f, sum, world), 0, 1);
  tell("Scan of one buffer", MPI_Scan(got, got, n, f, sum, world), 0, 1);
  tell("Exscan of one buffer", MPI_Exscan(got, got, n, f, sum, world), 0, 1);
  tell("Allgather of the own block", MPI_Allgather(got + me * n, n, f, got, n, f, world), 0, 1);
  tell("Alltoall of one buffer", MPI_Alltoall(got, n / P, f, got, n / P, f, world), 0, 1);
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(world, &me);
  MPI_Comm_size(world, &P);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  mine = malloc(sizeof *mine * n);
  got = calloc(n * P, sizeof *got);
  for (int i = 0; i < n; ++i) mine[i] = sinf(i * 1e-3f);
  one_buffer_of_several_types();
  sum_of_several_types();
  absolute_addresses();
  misplaced_in_place();
  aliased_buffers();
  if (argc > 1) wrong_arguments(); /* for an MPI that refuses them all */
  MPI_Finalize();
  return 0;
}
