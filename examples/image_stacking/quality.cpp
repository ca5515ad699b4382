#include "quality.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace stacking {
namespace {

// Returns half the distance between neighbours of T at x: the error that rounding to T may add to a sum.
template <class T>
double half_spacing(double x) {
  const T rounded = std::fabs(static_cast<T>(x));
  const T above = std::nextafter(rounded, std::numeric_limits<T>::infinity());
  return (static_cast<double>(above) - static_cast<double>(rounded)) / 2;
}

double range_of(std::span<const double> values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return low < high ? high - low : 0;
}

}  // namespace

template <class T>
std::vector<double> exact_sum(std::span<const T> share, MPI_Comm comm) {
  int me = 0, ranks = 1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  const int bytes = static_cast<int>(sizeof(T));
  constexpr std::size_t part = std::size_t{1} << 20;
  std::vector<double> sum(me == 0 ? share.size() : 0);
  std::vector<T> other(me == 0 ? part : 0);
  for (std::size_t first = 0; first < share.size(); first += part) {
    const std::size_t n = std::min(part, share.size() - first);
    const int size = static_cast<int>(n) * bytes;
    if (me != 0) MPI_Send(share.data() + first, size, MPI_BYTE, 0, 0, comm);
    if (me != 0) continue;
    for (std::size_t i = 0; i < n; ++i) sum[first + i] = static_cast<double>(share[first + i]);
    for (int rank = 1; rank < ranks; ++rank) {
      MPI_Recv(other.data(), size, MPI_BYTE, rank, 0, comm, MPI_STATUS_IGNORE);
      for (std::size_t i = 0; i < n; ++i) sum[first + i] += static_cast<double>(other[i]);
    }
  }
  return sum;
}

template <class T>
Quality compare(std::span<const T> result, std::span<const double> exact, double bound) {
  Quality quality;
  quality.range = range_of(exact);
  double squares = 0;  // errors are divided by the range, so that nothing overflows
  std::size_t finite = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double wanted = exact[i], got = static_cast<double>(result[i]);
    if (!std::isfinite(wanted)) {
      quality.within = quality.within && (std::isnan(wanted) ? std::isnan(got) : wanted == got);
      continue;
    }
    const double error = std::fabs(got - wanted);
    if (!(error <= bound) && !(error <= bound + half_spacing<T>(wanted))) quality.within = false;
    quality.max_error = std::max(quality.max_error, error);
    if (quality.range > 0) squares += (error / quality.range) * (error / quality.range);
    ++finite;
  }
  quality.nrmse = finite ? std::sqrt(squares / static_cast<double>(finite)) : 0;
  quality.psnr = -20 * std::log10(quality.nrmse);
  return quality;
}

std::uint64_t hash(std::span<const std::byte> bytes) {
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    state = (state ^ word) * 0xff51afd7ed558ccdU;
    state ^= state >> 32;
  }
  return state;
}

bool same_everywhere(std::span<const std::byte> bytes, MPI_Comm comm) {
  // One reduction gives the smallest hash and the smallest complement, which is that of the largest hash.
  const std::uint64_t own = hash(bytes);
  std::uint64_t ends[2] = {own, ~own};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MIN, comm);
  return ends[0] == ~ends[1];
}

template std::vector<double> exact_sum(std::span<const float>, MPI_Comm);
template std::vector<double> exact_sum(std::span<const double>, MPI_Comm);
template Quality compare(std::span<const float>, std::span<const double>, double);
template Quality compare(std::span<const double>, std::span<const double>, double);

}  // namespace stacking
