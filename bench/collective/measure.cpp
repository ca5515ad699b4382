#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "variant.hpp"

namespace bench {
namespace {

// Returns the bytes that this host has sent over the interface so far.
double sent_over(const std::string& interface) {
  if (interface.empty()) return 0;
  double bytes = -1;
  std::ifstream("/sys/class/net/" + interface + "/statistics/tx_bytes") >> bytes;
  if (bytes < 0) throw std::runtime_error("no counter of sent bytes for interface " + interface);
  return bytes;
}

// Returns true if all ranks with values have the same ones.
template <class T>
bool same_on_all(const T* values, std::size_t count) {
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, values + i, sizeof(T));
    state = (state ^ word) * 0xff51afd7ed558ccdU;
    state ^= state >> 32;
  }
  std::uint64_t ends[2] = {state, ~state};  // smallest value, and complement of the largest one
  if (count == 0) ends[0] = ends[1] = ~std::uint64_t{0};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  return ends[0] == ~ends[1] || ends[0] == ends[1];  // equal: no rank has values
}

// Measures one collective at one size with values of type T.
template <class T>
class Measurement {
 public:
  Measurement(const Collective& collective, std::size_t bytes, const Options& options, const Data& data)
      : collective_(collective), options_(options), data_(data) {
    MPI_Comm_rank(MPI_COMM_WORLD, &call_.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &call_.ranks);
    const auto ranks = static_cast<std::size_t>(call_.ranks);
    call_.type = sizeof(T) == 4 ? MPI_FLOAT : MPI_DOUBLE;
    call_.value_bytes = sizeof(T);
    call_.count = bytes / sizeof(T) / ranks * ranks;
    if (call_.count == 0 || call_.count > std::numeric_limits<int>::max())
      throw std::invalid_argument("a size that cannot be measured");
    send_.resize(call_.count);
    receive_.resize(call_.count);
    data_.fill(send_.data(), call_.count, call_.rank);
    call_.send = reinterpret_cast<std::byte*>(send_.data());
    call_.receive = reinterpret_cast<std::byte*>(receive_.data());
  }

  std::vector<Result> run() {
    std::vector<Variant> all = variants(options_);
    std::vector<Result> results;
    for (const Variant& variant : all) results.push_back(start(variant));
    for (int k = 0; k < options_.warmup; ++k)
      for (const Variant& variant : all) once(variant);
    for (std::size_t v = 0; v < all.size(); ++v) {
      once(all[v]);
      check(results[v]);
      all[v].forget();
    }
    for (int k = 0; k < options_.iterations; ++k)
      for (std::size_t v = 0; v < all.size(); ++v) time(all[v], results[v]);
    for (std::size_t v = 0; v < all.size(); ++v) account(all[v], results[v]);
    return results;
  }

 private:
  Result start(const Variant& variant) const {
    Result result;
    result.operation = collective_.name;
    result.bytes = call_.count * sizeof(T);
    result.variant = variant.name;
    result.policy = variant.policy;
    result.bound = variant.bound;
    result.ideal_bytes = collective_.busiest_sends(static_cast<double>(result.bytes), call_.ranks);
    return result;
  }

  // Makes one call on fresh buffers; returns this rank's seconds.
  double once(const Variant& variant) {
    std::fill(receive_.begin(), receive_.end(), std::numeric_limits<T>::quiet_NaN());
    if (call_.rank == 0 && !collective_.reduces)
      receive_ = send_;  // input of a broadcast; harmless for other calls
    Call call = call_;
    call.comm = variant.comm;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    (variant.plain() ? collective_.plain : collective_.taut)(call);
    return MPI_Wtime() - start;
  }

  void time(const Variant& variant, Result& result) {
    const double before = sent_over(options_.interface);
    double seconds = once(variant);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);  // every rank has finished
    result.us.push_back(seconds * 1e6);
    if (!options_.interface.empty())
      result.wire_bytes = std::max(0.0, result.wire_bytes) + sent_over(options_.interface) - before;
  }

  void check(Result& result) const {
    const std::size_t count = collective_.received(call_);
    double largest = 0;
    int good = 1;
    for (std::size_t i = 0; i < count; ++i) {
      const double exact = collective_.exact(call_, data_, i), got = static_cast<double>(receive_[i]);
      if (std::isnan(exact) && std::isnan(got)) continue;
      const double error = exact == got ? 0 : std::fabs(got - exact);
      if (!(error <= result.bound + rounding(exact))) good = 0;
      largest = std::max(largest, error);
    }
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    result.max_error = largest;
    result.within_bound = good != 0;
    if (collective_.same_on_all) result.identical = same_on_all(receive_.data(), count);
  }

  // Error that rounding to T may add: one rounding for a compressed call, one for each addition of an exact
  // call.
  double rounding(double exact) const {
    const int terms = collective_.reduces ? call_.ranks : 1;
    return std::numeric_limits<T>::epsilon() * (std::fabs(exact) + terms) * terms;
  }

  // Fills in the bytes that the busiest rank sends in a call, and the ratio over all ranks.
  void account(const Variant& variant, Result& result) const {
    const TAUT_Stats stats = variant.stats();
    const double calls = options_.iterations;
    const std::uint64_t coding = stats.encode_ns + stats.combine_ns + stats.decode_ns;
    double busiest[4] = {
        static_cast<double>(stats.sent_bytes) / calls, std::max(0.0, result.wire_bytes) / calls,
        static_cast<double>(stats.compressed_calls), static_cast<double>(coding) / 1e3 / calls};
    double sums[2] = {static_cast<double>(stats.value_bytes), static_cast<double>(stats.frame_bytes)};
    MPI_Allreduce(MPI_IN_PLACE, busiest, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    result.compressed = busiest[2] > 0;
    result.sent_bytes = busiest[0];
    result.coding_us = busiest[3];
    if (!options_.interface.empty()) result.wire_bytes = busiest[1];
    if (result.compressed && sums[1] > 0) result.ratio = sums[0] / sums[1];
  }

  const Collective& collective_;
  const Options& options_;
  const Data& data_;
  Call call_{};
  std::vector<T> send_, receive_;
};

}  // namespace

double Result::average() const {
  return std::accumulate(us.begin(), us.end(), 0.0) / static_cast<double>(us.size());
}
double Result::least() const { return *std::min_element(us.begin(), us.end()); }
double Result::most() const { return *std::max_element(us.begin(), us.end()); }
double Result::median() const {
  std::vector<double> sorted = us;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

std::vector<Result> measure(const Collective& collective, std::size_t bytes, const Options& options,
                            const Data& data) {
  if (options.doubles) return Measurement<double>(collective, bytes, options, data).run();
  return Measurement<float>(collective, bytes, options, data).run();
}

}  // namespace bench
