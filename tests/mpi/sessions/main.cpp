// A program of MPI sessions alone (MPI 4.0, section 11.3): its communicators get no policy, and calls on them
// fall back.
#include <taut/taut.h>

#include <cstdio>
#include <vector>

#if MPI_VERSION >= 4
namespace {

bool expect(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "sessions: %s\n", what);
  return holds;
}

bool works_on(MPI_Comm comm) {
  const int code = TAUT_Comm_set_policy(comm, "abs:1e-3,when=always");
  bool good =
      expect(TAUT_Error_status(code) == TAUT_ERR_ARGUMENT, "a policy was taken, or another error given");
  std::vector<float> x(100000, 1), y(x.size());
  int size = 0;
  MPI_Comm_size(comm, &size);
  good &= expect(TAUT_Allreduce(x.data(), y.data(), 100000, MPI_FLOAT, MPI_SUM, comm) == MPI_SUCCESS,
                 "TAUT_Allreduce failed");
  return good & expect(y[5] == static_cast<float>(size), "TAUT_Allreduce gave another sum");
}

}  // namespace

int main() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "taut", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  const bool good = works_on(comm);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  return good ? 0 : 1;
}
#else
int main() {
  std::puts("this MPI has no sessions");
  return 0;
}
#endif
