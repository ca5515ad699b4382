/* Messages in unusual orders: to oneself, head to head, freed requests, received late, in reverse, as bytes,
 * as packed data, in elements of another size. Seen in open-mpi/ompi #1875 (PETSc) and in codes that poll. */
#include "program.h"

enum { n = 1 << 16, many = 12 };
static double *values, *result;
static int next, previous;
static MPI_Request requests[many];
static MPI_Status status;
static const MPI_Comm world = MPI_COMM_WORLD;

static void expect_values(void) {
  for (int i = 0; i < n; ++i) deviates_by(result[i] - values[i]);
  memset(result, 0, sizeof(double) * n);
}
static void expect_count(MPI_Datatype type, int count) {
  int found;
  MPI_Get_count(&status, type, &found);
  expect(found == count);
}
static void send_to(int to, int tag, int i) {
  MPI_Isend(values, n, MPI_DOUBLE, to, tag, world, requests + i);
}
static void recv_from(int from, int tag) { MPI_Recv(result, n, MPI_DOUBLE, from, tag, world, &status); }

static void to_itself(void) {
  MPI_Irecv(result, n, MPI_DOUBLE, rank, 1, world, requests);
  MPI_Send(values, n, MPI_DOUBLE, rank, 1, world);
  MPI_Wait(requests, &status);
  expect_values();
}
static void synchronous_to_itself(void) {
  MPI_Irecv(result, n, MPI_DOUBLE, rank, 1, world, requests);
  MPI_Ssend(values, n, MPI_DOUBLE, rank, 1, world);
  MPI_Wait(requests, &status);
  expect_values();
}
static void sendrecv_with_itself(void) {
  MPI_Sendrecv(values, n, MPI_DOUBLE, rank, 1, result, n, MPI_DOUBLE, rank, 1, world, &status);
  expect_values();
}
static void probed_from_itself(void) {
  send_to(rank, 1, 0);
  MPI_Probe(rank, 1, world, &status);
  expect_count(MPI_DOUBLE, n);
  recv_from(MPI_ANY_SOURCE, MPI_ANY_TAG);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  expect_values();
}
static void freed_send(void) {
  send_to(next, 1, 0);
  MPI_Request_free(requests);
  recv_from(previous, 1);
  expect_values();
}
static void freed_send_received_late(void) {
  send_to(next, 1, 0);
  MPI_Request_free(requests);
  MPI_Barrier(world);
  recv_from(previous, 1);
  MPI_Barrier(world);
  expect_values();
}
static void head_to_head(void) {
  MPI_Irecv(result, n, MPI_DOUBLE, previous, 1, world, requests);
  MPI_Send(values, n, MPI_DOUBLE, next, 1, world);
  MPI_Wait(requests, &status);
  expect_values();
}
static void received_late(void) {
  send_to(next, 1, 0);
  MPI_Barrier(world);
  MPI_Irecv(result, n, MPI_DOUBLE, previous, 1, world, requests + 1);
  MPI_Barrier(world);
  MPI_Wait(requests + 1, &status);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  expect_values();
}
static void received_as_bytes(void) {
  const int bytes = (int)sizeof(double) * n;
  send_to(next, 1, 0);
  MPI_Recv(result, bytes, MPI_BYTE, previous, 1, world, &status);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  expect_count(MPI_BYTE, bytes);
  expect_values();
}
static void received_as_packed(void) {
  const int bytes = (int)sizeof(double) * n;
  char* packed = malloc(bytes);
  int position = 0;
  send_to(next, 1, 0);
  MPI_Recv(packed, bytes, MPI_PACKED, previous, 1, world, &status);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Unpack(packed, bytes, &position, result, n, MPI_DOUBLE, world);
  free(packed);
  expect_values();
}
static void ends_inside_an_element(void) {
  const int sent = n - 3;
  MPI_Datatype seven;
  int elements;
  MPI_Type_contiguous(7, MPI_DOUBLE, &seven);
  MPI_Type_commit(&seven);
  MPI_Isend(values, sent, MPI_DOUBLE, next, 1, world, requests);
  MPI_Recv(result, n / 7, seven, previous, 1, world, &status);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Get_elements(&status, MPI_DOUBLE, &elements);
  expect(elements == sent);
  expect_count(seven, sent % 7 ? MPI_UNDEFINED : sent / 7);
  memcpy(result + sent, values + sent, sizeof(double) * (n - sent));
  MPI_Type_free(&seven);
  expect_values();
}
static void shorter_than_its_room(void) {
  MPI_Isend(values, n / 2, MPI_DOUBLE, next, 1, world, requests);
  recv_from(previous, 1);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  expect_count(MPI_DOUBLE, n / 2);
  for (int i = n / 2; i < n; ++i) expect(result[i] == 0);
  memcpy(result + n / 2, values + n / 2, sizeof(double) * (n / 2));
  expect_values();
}
static void freed_while_active(void) {
  MPI_Send_init(values, n, MPI_DOUBLE, next, 1, world, requests);
  MPI_Recv_init(result, n, MPI_DOUBLE, previous, 1, world, requests + 1);
  MPI_Startall(2, requests);
  MPI_Request_free(requests);
  MPI_Wait(requests + 1, &status);
  MPI_Request_free(requests + 1);
  expect_values();
}
static void started_again(void) {
  MPI_Status statuses[2];
  MPI_Send_init(values, n, MPI_DOUBLE, next, 1, world, requests);
  MPI_Recv_init(result, n, MPI_DOUBLE, previous, 1, world, requests + 1);
  for (int k = 0; k < 3; ++k) {
    MPI_Startall(2, requests);
    for (int done = 0; !done;) MPI_Testall(2, requests, &done, statuses);
    status = statuses[1];
    expect_count(MPI_DOUBLE, n);
    expect_values();
  }
  MPI_Request_free(requests);
  MPI_Request_free(requests + 1);
}
static void one_buffer_in_two_sends(void) { /* allowed since MPI 2.2 */
  send_to(next, 1, 0);
  send_to(next, 2, 1);
  recv_from(previous, 2);
  expect_values();
  recv_from(previous, 1);
  expect_values();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void in_reverse_order(void) {
  for (int i = 0; i < many; ++i) send_to(next, i, i);
  for (int i = many; i-- > 0;) {
    recv_from(previous, i);
    expect_values();
  }
  MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
}

static const Case cases[] = {
    {"to_itself", to_itself},
    {"synchronous_to_itself", synchronous_to_itself},
    {"sendrecv_with_itself", sendrecv_with_itself},
    {"probed_from_itself", probed_from_itself},
    {"freed_send", freed_send},
    {"freed_send_received_late", freed_send_received_late},
    {"head_to_head", head_to_head},
    {"received_late", received_late},
    {"received_as_bytes", received_as_bytes},
    {"received_as_packed", received_as_packed},
    {"ends_inside_an_element", ends_inside_an_element},
    {"shorter_than_its_room", shorter_than_its_room},
    {"freed_while_active", freed_while_active},
    {"started_again", started_again},
    {"one_buffer_in_two_sends", one_buffer_in_two_sends},
    {"in_reverse_order", in_reverse_order},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  next = (rank + 1) % ranks;
  previous = (rank + ranks - 1) % ranks;
  values = malloc(sizeof(double) * n);
  result = calloc(n, sizeof(double));
  for (int i = 0; i < n; ++i) values[i] = smooth(i);
  run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
  MPI_Finalize();
}
