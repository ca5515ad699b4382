#include "robustness/random/promise.hpp"

#include <algorithm>
#include <cstring>

#include "robustness/random/exact_sum.hpp"
#include "support/group.hpp"

namespace taut::test {
namespace {

std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }

using Numbers = std::vector<long double>;

bool same_bytes(ConstBytes a, ConstBytes b) noexcept {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Returns the numbers of some bytes. A long double represents 64-bit integers exactly.
Numbers numbers_of(DType type, ConstBytes bytes) {
  Numbers numbers(bytes.size() / size_of(component_of(type)));
  with_dtype(component_of(type), [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T> || is_half<T>) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        T x;
        std::memcpy(&x, bytes.data() + i * sizeof x, sizeof x);
        if constexpr (is_half<T>)
          numbers[i] = static_cast<double>(x);
        else
          numbers[i] = x;
      }
    }
  });
  return numbers;
}

long double largest(DType type) noexcept {
  switch (component_of(type)) {
    case DType::f64: return std::numeric_limits<double>::max();
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.FEp127L;
    default: return std::numeric_limits<float>::max();
  }
}

// Checks the numbers one after the other.
class Judge {
 public:
  // `may_overflow`: partial sums at a rate may leave the range of the type.
  Judge(const Promise& promise, const Call& call, bool may_overflow, Errors& errors)
      : promise_(promise), call_(call), may_overflow_(may_overflow), errors_(errors) {}

  bool moved(long double x, long double y, bool same_bits) const {
    if (promise_.kind == Promise::Kind::classes) return same_class(x, y);
    if (!std::isfinite(x) || promise_.bound == 0) return same_bits;
    return std::isfinite(y) && within(std::abs(x - y), allowed(x));
  }

  bool extreme(const std::vector<long double>& inputs, long double y) const {
    if (std::ranges::any_of(inputs, [](long double x) { return std::isnan(x); })) return std::isnan(y);
    const long double x = call_.op == Reduction::min ? std::ranges::min(inputs) : std::ranges::max(inputs);
    if (promise_.kind == Promise::Kind::classes) return same_class(x, y);
    if (std::isinf(x) || promise_.bound == 0) return y == x;
    return within(std::abs(x - y), allowed(x));
  }

  bool sum(const std::vector<long double>& inputs, long double y) const {
    if (promise_.kind == Promise::Kind::pointwise) return true;
    ExactSum exact;
    long double infinities = 0, magnitude = 0;
    for (const long double x : inputs) {
      if (std::isnan(x)) return std::isnan(y);
      if (std::isinf(x)) {
        infinities += x;  // infinities of both signs: NaN
      } else {
        exact.add(x);
        magnitude += std::abs(x);
      }
    }
    if (promise_.kind == Promise::Kind::classes) return may_overflow_ || same_class(infinities, y);
    const bool frames = promise_.how == Arithmetic::frames;
    // If a partial sum may leave the range of the type, the result is as in plain MPI.
    if (!frames && magnitude + parts() * promise_.bound >= largest(call_.type)) return true;
    if (infinities != 0) return std::isnan(infinities) ? std::isnan(y) : y == infinities;
    return finite_sum(exact, magnitude, y);
  }

 private:
  static bool same_class(long double x, long double y) {
    return std::isnan(x) ? std::isnan(y) : std::isinf(x) ? y == x : std::isfinite(y);
  }
  long double allowed(long double x) const {
    return promise_.kind == Promise::Kind::pointwise ? promise_.bound * std::abs(x) : promise_.bound;
  }
  bool within(long double error, long double bound) const {
    if (bound > 0) errors_.worst = std::max(errors_.worst, static_cast<double>(error / bound));
    return error <= bound;
  }

  // A mean is a divided sum: its error counts P times as much in the sum.
  long double parts() const noexcept { return call_.mean ? call_.P : 1; }

  long double half_ulp(long double x) const noexcept {  // for the greatest numbers as for those before them
    const long double most = largest(call_.type);
    const long double ulp = spacing(call_.type, static_cast<double>(std::min(x, most / 2)));
    return x > most / 2 ? ulp : ulp / 2;  // denormals: the result is less than a double can hold
  }

  // Returns the rounding error of a sum of about `size`, and of its division.
  long double rounding_of_sum(long double magnitude, long double size, long double y) const {
    const long double bound = parts() * promise_.bound;
    const long double division = call_.mean ? parts() * half_ulp(std::abs(y)) * (1 + 0x1p-8L) : 0;
    if (promise_.exact_sums) return division;
    if (promise_.how == Arithmetic::values)
      return division + static_cast<long double>(call_.P - 1) * half_ulp(magnitude + bound);
    const bool hidden = !promise_.power_of_two_step && half_ulp(size) * 0x1p8L <= bound / 2;
    return division + (hidden ? 0 : half_ulp(size) * (1 + 0x1p-27L));
  }

  bool finite_sum(ExactSum& exact, long double magnitude, long double y) const {
    const long double total = exact.value(), bound = parts() * promise_.bound, most = largest(call_.type);
    if (std::isinf(y)) return std::abs(total) + bound + half_ulp(most) >= most && (y > 0) == (total > 0);
    exact.add(-parts() * y);
    const long double error = std::abs(exact.value());
    const long double size = parts() * std::abs(y) * (call_.mean ? 1 + 0x1p-7L : 1);
    const long double rounding = rounding_of_sum(magnitude, size, y);
    if (rounding < 0.001L * bound) return within(error, bound + rounding);
    return error <= (bound + rounding) * (1 + 0x1p-50L);
  }

  const Promise& promise_;
  const Call& call_;
  bool may_overflow_;
  Errors& errors_;
};

// Returns true if partial sums at a rate may leave the range of the type. At low rates, zfp decodes some
// values to several times their size, at each of the encodings.
bool may_overflow(const Promise& promise, const Memory& memory) {
  const Call& call = memory.call();
  if (promise.kind != Promise::Kind::classes || !reduces(call.collective)) return false;
  const ValueRange range = range_of_all(memory, {});
  const long double most = std::max(std::abs(range.least), std::abs(range.greatest));
  return range.least <= range.greatest && most * 0x1p40L * call.P > largest(call.type);
}

std::uint64_t integer_at(ConstBytes bytes, std::size_t size, std::size_t i) noexcept {
  std::uint64_t x = 0;
  std::memcpy(&x, bytes.data() + i * size, size);  // little-endian, as in frames
  return x;
}

bool integer_sum(const Memory& memory, int ranks, std::size_t from, std::size_t i, ConstBytes got) {
  const std::size_t size = size_of(memory.call().type);
  std::uint64_t sum = 0;
  for (int r = 0; r < ranks; ++r) sum += integer_at(memory.contributed(r, from), size, i);
  const std::uint64_t mask = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
  return (sum & mask) == integer_at(got, size, i);
}

std::string explained(const Memory& memory, int rank, std::size_t block, std::size_t i, long double got,
                      const std::vector<long double>& from) {
  std::string text = "rank " + std::to_string(rank) + " block " + std::to_string(block) + " number " +
                     std::to_string(i) + ": ";
  const auto add = [&](long double x) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.18Lg", x);
    text += buffer;
  };
  add(got);
  text += " from";
  for (std::size_t k = 0; k < std::min<std::size_t>(from.size(), 9); ++k) {
    text += ' ';
    add(from[k]);
  }
  return text + (memory.call().any_blocks() ? " (any blocks)" : "");
}

std::string other_bits(const Memory& memory, int rank, int other, std::size_t block) {
  const ConstBytes here = memory.received(rank, block), there = memory.received(other, block);
  const auto at = std::ranges::mismatch(here, there).in1 - here.begin();
  const DType type = memory.call().type;
  const std::size_t i = static_cast<std::size_t>(at) / size_of(component_of(type));
  return "other bits than on rank " + std::to_string(other) + ": " +
         explained(memory, rank, block, i, numbers_of(type, here)[i], {numbers_of(type, there)[i]});
}

std::string broken_block(const Judge& judge, const Memory& memory, int rank, std::size_t block) {
  const Call& call = memory.call();
  const ConstBytes got = memory.received(rank, block);
  const std::size_t size = size_of(component_of(call.type));
  const bool integers = info_of(call.type).family == Family::integer;
  const std::size_t from = call.collective == Collective::reduce_scatter ? index(rank) : 0;
  const bool reducing = reduces(call.collective);
  const Call::Source source = reducing ? Call::Source{} : call.source(rank, block);
  const int addends = call.addends(rank);
  std::vector<ConstBytes> blocks;
  for (int r = 0; r < addends && reducing; ++r) blocks.push_back(memory.contributed(r, from));
  if (!reducing) blocks.push_back(memory.contributed(source.rank, source.block));
  if (!reducing && same_bytes(got, blocks[0])) return "";  // exact values keep every promise
  std::vector<Numbers> sent;
  for (const ConstBytes bytes : blocks) sent.push_back(numbers_of(call.type, bytes));
  const Numbers received = numbers_of(call.type, got);
  Numbers inputs(blocks.size());
  for (std::size_t i = 0; i < received.size(); ++i) {
    for (std::size_t k = 0; k < inputs.size(); ++k) inputs[k] = sent[k][i];
    const long double y = received[i];
    bool good = false;
    if (!reducing)
      good = judge.moved(inputs[0], y,
                         std::memcmp(got.data() + i * size, blocks[0].data() + i * size, size) == 0);
    else if (call.op != Reduction::sum)
      good = judge.extreme(inputs, y);
    else
      good = integers ? integer_sum(memory, addends, from, i, got) : judge.sum(inputs, y);
    if (!good) return explained(memory, rank, block, i, y, inputs);
  }
  return "";
}

}  // namespace

std::string broken(const Promise& promise, const Memory& memory, Errors& errors,
                   const std::vector<int>& ranks) {
  const Call& call = memory.call();
  const Judge judge(promise, call, may_overflow(promise, memory), errors);
  const bool same = call.neighbours.empty() && Job::same_everywhere(call.collective);
  const int first = ranks.empty() ? 0 : ranks[0];
  for (int r = 0; r < call.P; ++r) {
    if (!ranks.empty() && std::ranges::find(ranks, r) == ranks.end()) continue;
    for (std::size_t block = 0; block < call.blocks_out(r).size(); ++block) {
      const int judged = call.stays(first, block) ? (first + 1) % call.P : first;  // a rank that received it
      if (same && r != judged && !call.stays(r, block)) {
        if (same_bytes(memory.received(r, block), memory.received(judged, block))) continue;
        if (promise.same_bits && ranks.empty()) return other_bits(memory, r, judged, block);
      }
      if (std::string text = broken_block(judge, memory, r, block); !text.empty()) return text;
    }
  }
  return "";
}

ValueRange range_of_all(const Memory& memory, std::optional<double> fill) {
  const Call& call = memory.call();
  Values rounded(component_of(call.type), 1);  // the fill value, in the type
  rounded.set(0, fill.value_or(0));
  const double excluded = rounded.at(0);
  ValueRange range;
  for (int r = 0; r < call.P; ++r) {
    for (std::size_t block = 0; block < call.blocks_in(r).size(); ++block) {
      for (const long double number : numbers_of(call.type, memory.contributed(r, block))) {
        const auto x = static_cast<double>(number);
        if (std::isfinite(x) && !(fill && x == excluded)) range.merge({x, x});
      }
    }
  }
  return range;
}

Promise promise_of(Bound bound, const Call& call, Arithmetic how) {
  Promise promise{.bound = bound.value, .how = how};
  const bool half = size_of(component_of(call.type)) == 2;
  promise.power_of_two_step = half || bound.kind == Bound::Kind::snap;
  if (bound.kind == Bound::Kind::pointwise) promise.kind = Promise::Kind::pointwise;
  if (bound.kind == Bound::Kind::rate) promise.kind = Promise::Kind::classes;
  return promise;
}

}  // namespace taut::test
