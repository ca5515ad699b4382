/* Common parts of the C programs: values that every rank can compute, the check of a call's result, and the
   main program. */
#ifndef TAUT_DROPIN_CALLS_H
#define TAUT_DROPIN_CALLS_H

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LONG_MESSAGES /* messages of two blocks come in segments */
enum { block = 1 << 18, most_ranks = 4 };
#else
enum { block = 1 << 15, most_ranks = 8 }; /* values */
#endif

/* Intel MPI's libmpi_abi ends the program at an error though the handler is MPI_ERRORS_RETURN. */
#ifdef ERRORS_RETURN_ENDS
enum { errors_return = 0 };
#else
enum { errors_return = 1 };
#endif

static int rank, size, made;
static MPI_Comm comm;
static FILE* out;
static float send[most_ranks * block], receive[most_ranks * block];
static double exact[most_ranks * block];

enum { held = most_ranks * block };
static float computed[most_ranks][held]; /* the first values of each rank, as far as they were used */
static long known[most_ranks];

static float compute(int r, long i) { return (float)(floor(2048 * sin(1e-3 * (double)i + r)) / 256); }

/* Value i of rank r: smooth, and exact in float. */
static double value(int r, long i) {
  if (i >= held) return compute(r, i);
  for (; known[r] <= i; ++known[r]) computed[r][known[r]] = compute(r, known[r]);
  return computed[r][i];
}

static double sum(int ranks, long i) { /* over the first ranks */
  double total = 0;
  for (int r = 0; r < ranks; ++r) total += value(r, i);
  return total;
}

static void fill(float* values, long n, long first, int of) {
  const long last = first + n;
  if (n > 0 && last <= held) {
    value(of, last - 1), memcpy(values, &computed[of][first], (size_t)n * sizeof *values);
  } else {
    for (long i = 0; i < n; ++i) values[i] = (float)value(of, first + i);
  }
}

static void begin(void) {
  memset(receive, 0x5a, sizeof receive);
  fill(send, (long)size * block, 0, rank);
}

/* Writes the result of a call: n values were received; exact[] has the expected values. */
static void end(const char* name, long n) {
  enum { lanes = 4 }; /* the processor multiplies for all at once */
  uint64_t hashes[lanes] = {1, 2, 3, 4}, pairs[lanes], hash = 0xCBF29CE484222325;
  double worst = 0;
  for (size_t i = 0; i < sizeof receive; i += sizeof pairs) {
    memcpy(pairs, (unsigned char*)receive + i, sizeof pairs);
    for (int k = 0; k < lanes; ++k)
      hashes[k] = (hashes[k] ^ pairs[k]) * 0x100000001B3, hashes[k] ^= hashes[k] >> 32;
  }
  for (int k = 0; k < lanes; ++k) hash = (hash ^ hashes[k]) * 0x100000001B3, hash ^= hash >> 32;
  for (long i = 0; i < n; ++i) {
    const double off = fabs(receive[i] - exact[i]);
    if (off > worst) worst = off;
  }
  fprintf(out, "%s %016" PRIx64 " %g\n", name, hash, worst);
  ++made;
}

static void expect_sum(long n, long first) {
  for (long i = 0; i < n; ++i) exact[i] = sum(size, first + i);
}
static void expect_prefix(long n, int ranks) {
  for (long i = 0; i < n; ++i) exact[i] = sum(ranks, i);
}
static void expect_blocks(long per_block, int of_rank, long first) { /* of_rank < 0: block r is rank r's */
  for (int r = 0; r < size; ++r)
    for (long i = 0; i < per_block; ++i)
      exact[r * per_block + i] = value(of_rank < 0 ? r : of_rank, first + i);
}

/* Returns true if a receive reported that its message was too long. Intel MPI 2021.19 sometimes reports
   nothing for a plain message. */
static int truncated(int code) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class), MPI_Get_library_version(library, &length);
  return error_class == MPI_ERR_TRUNCATE || (code == MPI_SUCCESS && strncmp(library, "Intel", 5) == 0);
}

/* Layout of vector calls: the block of rank r has block - 1 - r values, with gaps between blocks, in reverse
   order of ranks. places: displacements without gaps. */
struct vectors {
  int counts[most_ranks], displs[most_ranks], mine[most_ranks], places[most_ranks];
};
static struct vectors lay_out(void) {
  struct vectors all;
  for (int r = 0; r < size; ++r) {
    all.counts[r] = block - 1 - r;
    all.displs[r] = (size - 1 - r) * block;
    all.mine[r] = block - 1 - rank;
    all.places[r] = r * all.mine[r];
  }
  return all;
}
static void expect_gaps(const struct vectors* all) {
  float gap;
  memset(&gap, 0x5a, sizeof gap);
  for (int r = 0; r < size; ++r)
    for (long i = 0; i < block; ++i)
      exact[all->displs[r] + i] = i < all->counts[r] ? value(r, i) : (double)gap;
}
/* Sets exact[] to the blocks that all ranks have for this rank, without gaps. */
static void expect_row(const struct vectors* all) {
  const int own = all->counts[rank];
  for (int r = 0; r < size; ++r)
    for (long i = 0; i < own; ++i) exact[r * own + i] = value(r, all->displs[rank] + i);
}

/* Datatypes and byte displacements of the same layouts, for calls with a datatype for each block. */
struct typed {
  int from[most_ranks], to[most_ranks];
  MPI_Datatype types[most_ranks];
};
static struct typed lay_out_bytes(const struct vectors* all) {
  struct typed bytes;
  for (int r = 0; r < size; ++r) {
    bytes.from[r] = all->displs[r] * (int)sizeof(float);
    bytes.to[r] = all->places[r] * (int)sizeof(float);
    bytes.types[r] = MPI_FLOAT;
  }
  return bytes;
}

static void fail(const char* what) {
  fprintf(stderr, "rank %d: %s: not as MPI says\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Sets the communicator for the following calls. */
static void use(MPI_Comm on, const char* title) {
  comm = on;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  fprintf(out, "# %s\n", title);
}

/* Opens the output of this rank, FOLDER/<rank>.txt. */
static void open_out(const char* folder) {
  char name[4096];
  int world, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(name, sizeof name, "%s/%d.txt", folder, world);
  out = fopen(name, "w");
  if (out == NULL || ranks > most_ranks) MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Writes the number of calls that Taut intercepts; of these, the number of nonblocking ones. */
static void close_out(int nonblocking) {
  fprintf(out, "made %d %d\n", made - nonblocking, nonblocking);
  fclose(out);
}

/* Makes all calls on MPI_COMM_WORLD and on a part of it, with output to the folder of the first argument.
   `nonblocking` counts the nonblocking calls among `made`. */
static int make_calls(int argc, char** argv, void (*all_calls)(MPI_Comm on, const char* title),
                      const int* nonblocking) {
  int world;
  MPI_Comm part;
  MPI_Init(&argc, &argv);
  open_out(argc > 1 ? argv[1] : ".");
  MPI_Comm_rank(MPI_COMM_WORLD, &world);

  all_calls(MPI_COMM_WORLD, "world");
  MPI_Comm_split(MPI_COMM_WORLD, world == 0 ? MPI_UNDEFINED : 1, -world,
                 &part); /* all but the first, backwards */
  if (part != MPI_COMM_NULL) {
    all_calls(part, "part");
    MPI_Comm_free(&part);
  }
  close_out(*nonblocking);
  MPI_Finalize();
  return 0;
}

#endif
