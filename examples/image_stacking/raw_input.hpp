// A rank's share of the user's fields.
#pragma once

#include <string>
#include <vector>

namespace stacking {

// Returns a rank's share; the shares of all ranks add up to the sum of the files. If several ranks share a
// file, each weights it with a smooth gain of its own, as if each had illuminated another part; a rank with
// several files adds them.
template <class T>
std::vector<T> share_of(const std::vector<std::string>& files, std::size_t count, int rank, int ranks);

// Returns the number of values in the file; the file must hold whole values of T only.
template <class T>
std::size_t count_of(const std::string& file);

}  // namespace stacking
