// A rank's share of the user's fields.
#pragma once

#include <string>
#include <vector>

namespace stacking {

// The shares of all ranks add up to the sum of the files. A file that several ranks share is weighted by each
// with a smooth gain of its own, as if each had lit another part of it; a rank that has several files adds
// them.
template <class T>
std::vector<T> share_of(const std::vector<std::string>& files, std::size_t count, int rank, int ranks);

// Values in the file, if it holds whole values of T only.
template <class T>
std::size_t count_of(const std::string& file);

}  // namespace stacking
