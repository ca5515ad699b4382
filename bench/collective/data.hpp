// The values that are communicated. Every rank can compute every other rank's values, so each rank checks its
// own result.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

// A long table of values. Rank r begins r * shift values into the table and continues at the start after its
// end.
class Data {
 public:
  // smooth: slow waves of amplitude 1 with uniform noise of +-noise. random: uniform in -1..1.
  static Data smooth(double noise);
  static Data random();
  static Data file(const std::string& name, bool doubles);

  double at(int rank, std::size_t i) const noexcept {
    return table_[(i + static_cast<std::size_t>(rank) * shift_) % table_.size()];
  }
  // Copies values `first`, `first` + 1, ... of a rank, as T.
  template <class T>
  void fill(T* out, std::size_t count, int rank, std::size_t first = 0) const {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(at(rank, first + i));
  }

 private:
  explicit Data(std::vector<double> table) : table_(std::move(table)), shift_(table_.size() / 7 + 1) {}
  std::vector<double> table_;
  std::size_t shift_;
};

}  // namespace bench
