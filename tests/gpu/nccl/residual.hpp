// Repeated sums with a residual on simulated GPUs, and what is expected of them.
#pragma once

#include <cmath>

#include "gpu/nccl/calls.hpp"

namespace taut::test {

// Way of the calls of a series.
struct Way {
  std::string policy = "block:8";
  int P = 3;
  std::size_t count = 193;  // of each rank's values
  bool scatter = false, mean = false, in_place = false;

  std::string whole_policy() const { return policy + ",when=always,min_bytes=1"; }
  std::size_t out_count() const { return scatter ? count / static_cast<std::size_t>(P) : count; }
};

// Repeated sums of the same values, and what the ranks have of them.
template <class T>
class Series {
 public:
  using R = ComputedIn<T>;
  // `value(rank, i)`: value i of a rank.
  template <class Value>
  Series(const Way& way, const Value& value)
      : way_(way), ranks_(way.P, way.whole_policy()), totals_(static_cast<std::size_t>(way.P)) {
    for (int r = 0; r < way.P; ++r) {
      std::vector<T> x(way.count);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(static_cast<R>(value(r, i)));
      values_.push_back(x);
      in_.push_back(std::make_unique<OnGpu<T>>(std::max<std::size_t>(x.size(), 1)));
      write(*in_.back(), x);
      out_.push_back(
          std::make_unique<OnGpu<T>>(std::max<std::size_t>(way.in_place ? way.count : way.out_count(), 1)));
      residuals_.push_back(std::make_unique<OnGpu<R>>(std::vector<R>(way.count + 1)));
      totals_[static_cast<std::size_t>(r)].resize(way.out_count());
    }
  }

  // Makes calls, and adds up their results. `feedback`: false: residuals are set to 0 before each call.
  void run(int calls, bool feedback = true) {
    ranks_.run([&](NcclRank& me) {
      for (int k = 0; k < calls; ++k) {
        if (!feedback) write(*residuals_[at(me)], std::vector<R>(way_.count));
        ASSERT_EQ(call(me), 0) << TAUT_Nccl_last_error();
        ASSERT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0) << TAUT_Nccl_last_error();
        const std::vector<T> result = results(me.rank);
        for (std::size_t i = 0; i < result.size(); ++i)
          totals_[at(me)][i] += static_cast<double>(static_cast<R>(result[i]));
      }
    });
    calls_ += calls;
    EXPECT_EQ(fake_nccl::take_report(), "");
  }

  int call(const NcclRank& me) {
    const OnGpu<T>&in = *in_[at(me)], &out = *out_[at(me)];
    if (way_.in_place) write(out, values_[at(me)]);
    const void* const from = way_.in_place ? out.data() : in.data();
    T* const to = out.data() + (way_.in_place && way_.scatter ? at(me) * way_.out_count() : 0);
    const auto function =
        way_.scatter ? TAUT_Nccl_ReduceScatter_with_residual : TAUT_Nccl_AllReduce_with_residual;
    return function(from, to, way_.out_count(), nccl_type(dtype_of<T>), way_.mean ? ncclAvg : ncclSum,
                    residuals_[at(me)]->data(), me.comm, me.stream);
  }

  // Returns the results of a rank's last call.
  std::vector<T> results(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    const std::vector<T> all = out_[r]->peek(out_[r]->size());
    const std::size_t first = way_.in_place && way_.scatter ? r * way_.out_count() : 0;
    return {all.begin() + static_cast<std::ptrdiff_t>(first),
            all.begin() + static_cast<std::ptrdiff_t>(first + way_.out_count())};
  }
  std::vector<R> residual(int rank) const {
    return residuals_[static_cast<std::size_t>(rank)]->peek(way_.count);
  }
  void set(int rank, std::size_t i, double value) {
    const auto r = static_cast<std::size_t>(rank);
    values_[r][i] = static_cast<T>(static_cast<R>(value));
    write(*in_[r], values_[r]);
  }
  NcclRanks& ranks() { return ranks_; }

  // Returns the exact result at index i of the values.
  double exact(std::size_t i) const {
    double sum = 0;
    for (const auto& x : values_) sum += static_cast<double>(static_cast<R>(x[i]));
    return way_.mean ? sum / way_.P : sum;
  }
  // Returns the sum of all results at index i of the values.
  double total(std::size_t i) const {
    return way_.scatter ? totals_[i / way_.out_count()][i % way_.out_count()] : totals_[0][i];
  }
  // Returns the parts of all results that the residuals hold.
  std::vector<double> held() const {
    std::vector<double> sums(way_.count);
    for (int r = 0; r < way_.P; ++r) {
      const Range own = part_range(way_.count, static_cast<std::size_t>(r), static_cast<std::size_t>(way_.P));
      const std::vector<R> of_rank = residual(r);
      for (std::size_t i = 0; i < way_.count; ++i) {
        const bool of_result = i - own.first < own.count;
        sums[i] += static_cast<double>(of_rank[i]) / (way_.mean && !of_result ? way_.P : 1);
      }
    }
    return sums;
  }
  // Returns the greatest error of the mean result.
  double error() const {
    double most = 0;
    for (std::size_t i = 0; i < way_.count; ++i)
      most = std::max(most, std::fabs(total(i) / calls_ - exact(i)));
    return most;
  }

  // Expects that results and residuals together are what was summed, within `relative` of each call's.
  void expect_nothing_lost(double relative) const {
    const std::vector<double> rest = held();
    for (std::size_t i = 0; i < way_.count; ++i)
      ASSERT_NEAR(total(i) + rest[i], calls_ * exact(i), relative * calls_ * way_.P) << "value " << i;
  }
  void expect_equal_bits() const {
    for (int r = 1; r < way_.P && !way_.scatter && way_.count > 0; ++r)
      EXPECT_EQ(
          std::memcmp(static_cast<const void*>(results(r).data()), results(0).data(), way_.count * sizeof(T)),
          0)
          << "rank " << r;
  }
  void expect_finite_residuals() const {
    for (int r = 0; r < way_.P; ++r)
      for (const R x : residual(r)) ASSERT_TRUE(std::isfinite(x)) << "rank " << r;
  }

 private:
  static std::size_t at(const NcclRank& me) { return static_cast<std::size_t>(me.rank); }
  template <class V>
  static void write(const OnGpu<V>& to, const std::vector<V>& from) {
    stand_in_copy(to.data(), from.data(), from.size() * sizeof(V));
  }

  Way way_;
  NcclRanks ranks_;
  std::vector<std::vector<T>> values_;
  std::vector<std::vector<double>> totals_;
  std::vector<std::unique_ptr<OnGpu<T>>> in_, out_;
  std::vector<std::unique_ptr<OnGpu<R>>> residuals_;
  int calls_ = 0;
};

// One value in four is large; what frames leave out of the others is a large part of them, and always the
// same.
inline double gradient(int rank, std::size_t i) {
  if (i % 4 == 0) return i % 8 == 0 ? 1 : -1;
  return 0.003 * static_cast<double>(1 + (7 * i + 3 * static_cast<std::size_t>(rank)) % 5);
}

template <class T>
constexpr double rounding_of = is_half<T>                 ? 1e-6
                               : std::is_same_v<T, float> ? 3e-7
                                                          : 1e-14;

// Means over the calls come near the exact result as 1 / calls, and do not without feedback.
template <class T>
void expect_convergence(const Way& way, double left_out) {
  SCOPED_TRACE(testing::Message() << way.policy << " of " << name_of(dtype_of<T>) << " on " << way.P
                                  << (way.scatter ? " scattered" : "") << (way.mean ? " mean" : "")
                                  << (way.in_place ? " in place" : ""));
  constexpr int calls = 30;
  const double allowed = left_out * (way.mean ? 1 : way.P) / calls;
  Series<T> kept(way, gradient), dropped(way, gradient);
  kept.run(calls);
  kept.expect_nothing_lost(rounding_of<T>);
  kept.expect_equal_bits();
  EXPECT_LE(kept.error(), allowed);
  dropped.run(2, false);
  EXPECT_GT(dropped.error(), allowed);
}

// NaN and infinities reach all ranks, and leave nothing behind.
template <class T>
void expect_special_values_pass(const std::string& policy) {
  SCOPED_TRACE(policy + " of " + name_of(dtype_of<T>));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Series<T> series({.policy = policy, .P = 3, .count = 193}, gradient);
  series.run(2);
  series.set(0, 5, std::numeric_limits<double>::quiet_NaN());
  series.set(1, 70, infinity);
  series.set(2, 140, -infinity);
  series.run(2);
  series.expect_equal_bits();
  series.expect_finite_residuals();
  const std::vector<T> special = series.results(0);
  for (std::size_t i = 0; i < 193; ++i) {
    const auto x = static_cast<double>(static_cast<ComputedIn<T>>(special[i]));
    if (i == 5) {
      EXPECT_TRUE(std::isnan(x));
    } else if (i == 70 || i == 140) {
      EXPECT_EQ(x, i == 70 ? infinity : -infinity);
    } else {
      EXPECT_NEAR(x, series.exact(i), 0.1) << "value " << i;
    }
  }
  for (const auto& [rank, i] : {std::pair<int, std::size_t>{0, 5}, {1, 70}, {2, 140}})
    series.set(rank, i, gradient(rank, i));
  series.run(1);
  const std::vector<T> usual = series.results(0);
  for (std::size_t i = 0; i < 193; ++i)
    EXPECT_NEAR(static_cast<double>(static_cast<ComputedIn<T>>(usual[i])), series.exact(i), 0.1) << i;
}

}  // namespace taut::test
