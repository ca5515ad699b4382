/* Calls in the surroundings of real programs: threads, communicators made in loops and in other numbers on
 * other ranks, handles freed while calls are in flight, other rounding modes, infinite and subnormal numbers.
 * Seen in mpi4py #784, open-mpi/ompi #2427 (threads), dolfinx #3065, MPI.jl (communicators), mpi-issues #675
 * (handles). */
#include <fenv.h>
#include <pthread.h>

#include "program.h"

enum { n = 1 << 16, threads = 4 };
static double *values, *result, *other;
static const MPI_Comm world = MPI_COMM_WORLD;

static void expect_values(const double* found, int count, double factor) {
  for (int i = 0; i < count; ++i) deviates_by(found[i] - factor * values[i]);
}

static MPI_Comm of_thread[threads];
static double worst_of_thread[threads];

static void* work(void* argument) { /* each thread has a communicator of its own */
  const int t = *(int*)argument, next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  double* found = malloc(sizeof(double) * n);
  for (int k = 0; k < 5; ++k) {
    MPI_Request request;
    MPI_Allreduce(values, found, n, MPI_DOUBLE, MPI_SUM, of_thread[t]);
    for (int i = 0; i < n; ++i)
      worst_of_thread[t] = fmax(worst_of_thread[t], fabs(found[i] - ranks * values[i]));
    MPI_Irecv(found, n, MPI_DOUBLE, previous, k, of_thread[t], &request);
    MPI_Send(values, n, MPI_DOUBLE, next, k, of_thread[t]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) worst_of_thread[t] = fmax(worst_of_thread[t], fabs(found[i] - values[i]));
    MPI_Ibcast(rank == 0 ? values : found, n, MPI_DOUBLE, 0, of_thread[t], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(found);
  return NULL;
}
static void calls_in_threads(void) {
  pthread_t running[threads];
  int numbers[threads], provided;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) return;
  for (int t = 0; t < threads; ++t) MPI_Comm_dup(world, of_thread + t);
  for (int t = 0; t < threads; ++t) numbers[t] = t, pthread_create(running + t, NULL, work, numbers + t);
  for (int t = 0; t < threads; ++t) pthread_join(running[t], NULL), deviates_by(worst_of_thread[t]);
  for (int t = 0; t < threads; ++t) MPI_Comm_free(of_thread + t);
}

static void unequal_communicators(
    void) { /* other numbers of duplicates on other ranks; one of a rank alone */
  enum { many = 20 };
  MPI_Comm half, duplicates[many], alone;
  MPI_Group all, first;
  const int zero = 0, mine = rank % 2 ? many : 3;
  MPI_Comm_split(world, rank % 2, rank, &half);
  for (int k = 0; k < mine; ++k) {
    MPI_Comm_dup(half, duplicates + k);
    MPI_Allreduce(values, result, n, MPI_DOUBLE, MPI_SUM, duplicates[k]);
  }
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 1, &zero, &first);
  MPI_Comm_create(world, first, &alone);
  if (alone != MPI_COMM_NULL) {
    MPI_Allreduce(values, result, n, MPI_DOUBLE, MPI_SUM, alone);
    expect_values(result, n, 1);
    MPI_Comm_free(&alone);
  }
  for (int k = 0; k < mine; ++k) MPI_Comm_free(duplicates + k);
  MPI_Comm_free(&half);
  MPI_Group_free(&all);
  MPI_Group_free(&first);
}
static void communicators_in_a_loop(void) {
  for (int k = 0; k < 30; ++k) {
    MPI_Comm duplicate;
    MPI_Request request;
    MPI_Comm_dup(world, &duplicate);
    MPI_Iallreduce(values, result, n, MPI_DOUBLE, MPI_SUM, duplicate, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_values(result, n, ranks);
    MPI_Comm_free(&duplicate);
  }
}
static void freed_in_flight(void) { /* MPI keeps a communicator and a datatype until the call is complete */
  MPI_Comm duplicate;
  MPI_Datatype spaced;
  MPI_Request requests[4];
  MPI_Comm_dup(world, &duplicate);
  MPI_Type_vector(n / 2, 1, 2, MPI_DOUBLE, &spaced);
  MPI_Type_commit(&spaced);
  MPI_Iallreduce(values, result, n, MPI_DOUBLE, MPI_SUM, duplicate, requests);
  MPI_Ibcast(rank == 0 ? values : other, n, MPI_DOUBLE, 0, duplicate, requests + 1);
  MPI_Irecv(other + n, 1, spaced, (rank + ranks - 1) % ranks, 3, duplicate, requests + 2);
  MPI_Isend(values, 1, spaced, (rank + 1) % ranks, 3, duplicate, requests + 3);
  MPI_Type_free(&spaced);
  MPI_Comm_free(&duplicate);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  expect_values(result, n, ranks);
  if (rank) expect_values(other, n, 1);
  for (int i = 0; i < n; i += 2) deviates_by(other[n + i] - values[i]);
}

/* Subnormal values stay what they are, whatever the rounding mode; other values are within the bound. */
static void in_rounding_mode(int mode) {
  for (int i = 0; i < n; ++i) other[i] = i % 5 ? values[i] : 5e-324 * (i + 1);
  fesetround(mode);
  MPI_Sendrecv(other, n, MPI_DOUBLE, (rank + 1) % ranks, 0, result, n, MPI_DOUBLE, (rank + ranks - 1) % ranks,
               0, world, MPI_STATUS_IGNORE);
  MPI_Allreduce(other, other + n, n, MPI_DOUBLE, MPI_SUM, world);
  fesetround(FE_TONEAREST);
  for (int i = 0; i < n; ++i) {
    deviates_by(result[i] - other[i]);
    deviates_by(other[n + i] - ranks * other[i]);
  }
}
static void rounding_up(void) { in_rounding_mode(FE_UPWARD); }
static void rounding_to_zero(void) { in_rounding_mode(FE_TOWARDZERO); }

static void numbers_of_any_size(void) { /* the bits of NaN and infinity arrive; huge values are exact */
  static const double special[] = {INFINITY, -INFINITY, 1e300, -1e300, 5e-324, -0.0};
  for (int i = 0; i < n; ++i) other[i] = i % 7 ? values[i] : special[i / 7 % 6];
  if (!rank)
    memcpy(result, other, sizeof(double) * n);
  else
    memset(result, 0, sizeof(double) * n);
  MPI_Bcast(result, n, MPI_DOUBLE, 0, world);
  for (int i = 0; i < n; ++i) {
    if (isinf(other[i]) || fabs(other[i]) > 1e200)
      expect(result[i] == other[i]);
    else
      deviates_by(result[i] - other[i]);
  }
}

static const Case cases[] = {
    {"calls_in_threads", calls_in_threads},
    {"unequal_communicators", unequal_communicators},
    {"communicators_in_a_loop", communicators_in_a_loop},
    {"freed_in_flight", freed_in_flight},
    {"rounding_up", rounding_up},
    {"rounding_to_zero", rounding_to_zero},
    {"numbers_of_any_size", numbers_of_any_size},
};

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  values = malloc(sizeof(double) * n);
  result = calloc(n, sizeof(double));
  other = calloc(2 * n, sizeof(double));
  for (int i = 0; i < n; ++i) values[i] = smooth(i);
  run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
  MPI_Finalize();
}
