#include "communication/dropin/init_finalize.hpp"

#include <taut/taut.h>

#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/rule_binding.hpp"
#include "communication/dropin/counts.hpp"
#include "communication/dropin/creations.hpp"
#include "communication/dropin/interception.hpp"
#include "communication/dropin/next_symbol.hpp"
#include "communication/dropin/nonblocking.hpp"
#include "communication/dropin/program_endpoint.hpp"

namespace taut::dropin {

std::array<void*, std::size(wrapped_names)> nexts{};

namespace {

void* (*find)(const char*) = nullptr;

bool is_alone() noexcept {
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  return size == 1;
}

// Gives the run an identity, which reports show: a number that rank 0 draws. Called by all ranks.
void agree_on_run() noexcept {
  std::uint64_t run = 0;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    if (rank == 0) run = random_mark() | 1;
  } catch (...) {  // without a source of random numbers the run has no identity
  }
  const BypassScope bypass;
  PMPI_Bcast(&run, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  taut::api::set_run(run);
}

int started(int code) noexcept {
  if (code == MPI_SUCCESS) after_init();
  return code;
}

// Ends what Taut has begun in MPI_Init. MPI calls this function in MPI_Finalize, as a callback of
// MPI_COMM_SELF. The attribute is set in MPI_Init and such attributes are deleted last in, first out, so that
// the program's own callbacks have run: they may receive messages and complete requests.
void end_all() noexcept {
  end_interception();
  end_creations();
  end_nonblocking();
  end_messages();
}

}  // namespace

void* next_of(const char* name) noexcept { return find(name); }

void after_init() noexcept {
  begin_counting_unserved();
  const bool all_here = begin_interception();
  bool same_rules = false;
  if (all_here || is_alone()) agree_on_run();
  try {
    api::at_finalize(end_all);
    const BypassScope bypass;
    same_rules = all_here && api::compare_rules_in_world();
  } catch (...) {  // each communicator then compares its rules by itself
  }
  if (!all_here) return;
  begin_messages();
  if (begin_nonblocking() && same_rules) begin_creations();
}

// A tool loaded before this library may turn the program's MPI_Finalize into a direct call of MPI's own,
// which this library does not see. Coding then stops in end_all().
void before_finalize() noexcept {
  stop_serving();
  leave_calls_to_program();
}

void control(int level) noexcept {
  constexpr int off = 9000, on = 9001, report = 9002;
  if (level == off || level == on) switch_on(level == on);
  if (level == report) api::write_reports_so_far();
}

}  // namespace taut::dropin

using namespace taut::dropin;

extern "C" {

TAUT_API int taut_dropin_MPI_Init_thread(int* argc, char*** argv, int required, int* provided);

// Initialises the layer. libtaut_preload.so calls this function once, before any other. `next_function`
// returns the next function of a name, or null.
TAUT_API void taut_dropin_start(void* (*next_function)(const char*)) {
  find = next_function;
  for (std::size_t i = 0; i < nexts.size(); ++i) nexts[i] = find(wrapped_names[i]);
}

TAUT_API int taut_dropin_MPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  if (wants_nonblocking()) return taut_dropin_MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  return started(next_as<int (*)(int*, char***)>(Wrapped::MPI_Init)(argc, argv));
}

TAUT_API int taut_dropin_MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  if (wants_nonblocking()) required = MPI_THREAD_MULTIPLE;
  return started(
      next_as<int (*)(int*, char***, int, int*)>(Wrapped::MPI_Init_thread)(argc, argv, required, provided));
}

TAUT_API int taut_dropin_MPI_Finalize() {
  before_finalize();
  return next_as<int (*)()>(Wrapped::MPI_Finalize)();
}

}  // extern "C"
