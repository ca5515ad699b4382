#include "exhaustive/proof.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/half.hpp"
#include "exhaustive/patterns.hpp"

namespace taut::exhaustive {
namespace {

constexpr std::size_t frame_values = 65536, distance = 4;  // between patterns that stand in noise

constexpr struct {
  Bound bound;
  bool also_alone;  // the usual one of its kind: a frame for each pattern takes its time
} bounds[] = {
    {Bound(), true},
    {{Bound::Kind::absolute, 1e-30}, false},
    {{Bound::Kind::absolute, 1e-3}, true},
    {{Bound::Kind::absolute, 1e9}, false},
    {{Bound::Kind::snap, 1e-3}, true},
    {{Bound::Kind::pointwise, 1e-3}, true},
    {{Bound::Kind::pointwise, 0.5}, false},
    {{Bound::Kind::rate, 16}, true},
};

const char* name_of(Bound::Kind kind) noexcept {
  constexpr const char* names[] = {"lossless", "abs", "snap", "pwrel", "rate"};
  return names[static_cast<int>(kind)];
}

// A frame's values as bits, and as numbers.
template <class T>
class Piece {
 public:
  Piece(const Proof& proof, const Codec& codec)
      : proof_(proof),
        codec_(codec),
        x_(frame_values),
        y_(frame_values),
        frame_(codec.max_bytes(proof.type, frame_values)) {}

  T& operator[](std::size_t i) { return x_[i]; }

  // Encodes and decodes the first n values, and compares.
  void check(std::size_t n, Findings& findings) {
    const Sized size = codec_.encode({{x_.data(), n, proof_.type}}, frame_);
    const Status status = size.status != Status::ok ? size.status
                                                    : codec_.decode(ConstBytes(frame_).first(size.bytes),
                                                                    {{y_.data(), n, proof_.type}});
    findings.values += n;
    if (status != Status::ok) return note(findings, n, describe(status));
    for (std::size_t i = 0; i < n; ++i) {
      const double excess = excess_of(x_[i], y_[i]);
      if (excess > findings.worst) findings.worst = excess;
      if (!(excess <= 1)) note(findings, 1, example(x_[i], y_[i]).c_str());
    }
  }

 private:
  // Error over what is allowed.
  double excess_of(T x, T y) const {
    const Bound bound = codec_.contract().bound;
    if (std::memcmp(&x, &y, sizeof x) == 0) return 0;
    const auto a = static_cast<double>(x), b = static_cast<double>(y);
    if (std::isnan(a) && std::isnan(b) && !bound.exact()) return 0;
    if (bound.exact() || !std::isfinite(a) || !std::isfinite(b)) return INFINITY;
    if (bound.kind == Bound::Kind::rate) return 0;
    if (bound.kind == Bound::Kind::snap && !is_multiple(b, step_)) return INFINITY;
    const long double error = std::abs(static_cast<long double>(a) - b);
    const long double most = bound.kind == Bound::Kind::pointwise
                                 ? bound.value * std::abs(static_cast<long double>(a))
                                 : bound.value;
    return most > 0 ? static_cast<double>(error / most) : INFINITY;
  }
  static double step_of(double bound) { return std::exp2(std::floor(std::log2(2 * bound))); }
  // Powers of two divide exactly; whoever is not below 2^53 steps is a whole number of them anyway.
  static bool is_multiple(double value, double step) {
    const double steps = std::abs(value / step);
    return steps >= 0x1p53 || static_cast<double>(static_cast<std::uint64_t>(steps)) == steps;
  }

  static void note(Findings& findings, std::uint64_t violations, const char* what) {
    if (findings.violations == 0) findings.first_example = what;
    findings.violations += violations;
  }
  static std::string example(T x, T y) {
    char text[80];
    std::snprintf(text, sizeof text, "%a came back as %a", static_cast<double>(x), static_cast<double>(y));
    return text;
  }

  const Proof& proof_;
  const Codec& codec_;
  const double step_ = step_of(codec_.contract().bound.value);  // of snap
  std::vector<T> x_, y_;
  std::vector<std::byte> frame_;
};

template <class T>
T value_of(DType type, std::uint64_t i) {
  const std::uint64_t bits = pattern(type, i);
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Around 0, within some power of two that lasts for a frame.
template <class T>
T noise(std::uint64_t place, int exponent) {
  const auto uniform = static_cast<double>(static_cast<std::int64_t>(scramble(place)));
  return static_cast<T>(std::ldexp(uniform, exponent - 63));
}

template <class T>
Findings prove_as(const Proof& proof, const Codec& codec, std::uint64_t first, std::uint64_t count) {
  Findings findings;
  Piece<T> piece(proof, codec);
  const std::uint64_t end = first + count;
  const std::size_t patterns = proof.surroundings == Surroundings::none    ? 1
                               : proof.surroundings == Surroundings::noise ? frame_values / distance
                                                                           : frame_values;
  for (std::uint64_t i = first; i < end; i += patterns) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(patterns, end - i));
    if (proof.surroundings != Surroundings::noise) {
      for (std::size_t k = 0; k < n; ++k) piece[k] = value_of<T>(proof.type, i + k);
      piece.check(n, findings);
      continue;
    }
    const int exponent = static_cast<int>(scramble(i) % 32) - 16;
    const std::size_t shift = scramble(i) / 32 % distance;
    for (std::size_t k = 0; k < n * distance; ++k)
      piece[k] =
          k % distance == shift ? value_of<T>(proof.type, i + k / distance) : noise<T>(i + k, exponent);
    piece.check(n * distance, findings);
  }
  return findings;
}

}  // namespace

std::string Proof::name() const {
  constexpr const char* surroundings_names[] = {"alike", "noise", "none"};
  char text[96];
  std::snprintf(text, sizeof text, "%s %s %s:%g %s", codec->name, taut::name_of(type), name_of(bound.kind),
                bound.value, surroundings_names[static_cast<int>(surroundings)]);
  return text;
}

std::vector<Proof> all_proofs() {
  std::vector<Proof> proofs;
  const auto add = [&](const CodecInfo* codec, DType type) {
    for (const auto& [bound, also_alone] : bounds) {
      const bool own_kind = bound.exact() || codec->rank(bound.kind) != CodecInfo::last_resort;
      if (!own_kind || !codec->serves(type, bound.kind)) continue;
      proofs.push_back({codec, type, bound, Surroundings::alike});
      proofs.push_back({codec, type, bound, Surroundings::noise});
      if (also_alone) proofs.push_back({codec, type, bound, Surroundings::none});
    }
  };
  for (const CodecInfo* codec : registered_codecs())
    for (std::uint8_t type = 1; type <= dtypes; ++type)
      if (info_of(DType{type}).family == Family::real) add(codec, DType{type});
  return proofs;
}

void Findings::add(const Findings& other) {
  values += other.values;
  if (violations == 0) first_example = other.first_example;
  violations += other.violations;
  worst = std::max(worst, other.worst);
}

Findings prove(const Proof& proof, const Codec& codec, std::uint64_t first, std::uint64_t count) {
  switch (proof.type) {
    case DType::f64: return prove_as<double>(proof, codec, first, count);
    case DType::f16: return prove_as<f16>(proof, codec, first, count);
    case DType::bf16: return prove_as<bf16>(proof, codec, first, count);
    default: return prove_as<float>(proof, codec, first, count);
  }
}

}  // namespace taut::exhaustive
