// Loops over arrays of memory.hpp: here on the host (on_gpu/loops.hpp: on a GPU).
#pragma once

namespace wave3d {

// Calls body(row, first, last) so that every row gets all its cells, from 0 to `cells`. The calls of
// different rows, and of different cells of a row, may run at the same time.
template <class Body>
void for_each(int rows, int cells, const Body& body) {
  for (int row = 0; row < rows; ++row) body(row, 0, cells);
}

inline void finish_loops() {}  // waits until all calls have returned

}  // namespace wave3d
