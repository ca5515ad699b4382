// Objects of the process that are never destroyed, because requests of the program, callbacks of MPI and the
// progress thread may use them after static destructors have run.
#pragma once

namespace taut {

// Returns the one lasting object of this type.
template <class T>
T& lasting() {
  static auto* const object = new T;
  return *object;
}

}  // namespace taut
