#include "exhaustive/proof.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "compressor/values/half.hpp"
#include "exhaustive/patterns.hpp"
#include "support/subjects.hpp"

namespace taut::exhaustive {
namespace {

constexpr std::size_t frame_values = 65536, distance = 4;  // distance: spacing of patterns in noise

constexpr Dims extents{{8, 64, 128}, 3};  // of a frame, where a predictor has lags: of a row, a plane, both

constexpr struct {
  Bound bound;
  bool also_alone;  // the usual bound of its kind is also proved with a frame for each pattern
} bounds[] = {
    {Bound(), true},
    {{Bound::Kind::absolute, 1e-30}, false},
    {{Bound::Kind::absolute, 1e-3}, true},
    {{Bound::Kind::absolute, 1e9}, false},
    {{Bound::Kind::snap, 1e-3}, true},
    {{Bound::Kind::pointwise, 1e-3}, true},
    {{Bound::Kind::pointwise, 0.5}, false},
    {{Bound::Kind::rate, 16}, true},
    {{Bound::Kind::rate, 8}, false},
};

const char* name_of(Bound::Kind kind) noexcept {
  constexpr const char* names[] = {"lossless", "abs", "snap", "pwrel", "rate"};
  return names[static_cast<int>(kind)];
}

// The values of a frame, as bits and as numbers.
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
    const SizeOrStatus size = codec_.encode({{x_.data(), n, proof_.type}}, frame_);
    const Status status = size.status != Status::ok ? size.status
                                                    : codec_.decode(ConstBytes(frame_).first(size.bytes),
                                                                    {{y_.data(), n, proof_.type}});
    findings.values += n;
    if (status != Status::ok) return note(findings, n, describe(status));
    double most = 0;  // greatest of the errors that are quickly seen to be allowed
    for (std::size_t i = 0; i < n; ++i) {
      const double error = std::abs(static_cast<double>(x_[i]) - static_cast<double>(y_[i]));
      if (error <= surely_allowed_) {
        most = std::max(most, error);
        continue;
      }
      const double excess = excess_of(x_[i], y_[i]);
      if (excess > findings.worst) findings.worst = excess;
      if (!(excess <= 1)) note(findings, 1, example(x_[i], y_[i]).c_str());
    }
    if (bound_.kind == Bound::Kind::absolute && !bound_.exact())
      findings.worst = std::max(findings.worst, most / bound_.value);
  }

 private:
  // Returns the error divided by the allowed error.
  double excess_of(T x, T y) const {
    if (std::memcmp(&x, &y, sizeof x) == 0) return 0;
    const auto a = static_cast<double>(x), b = static_cast<double>(y);
    if (std::isnan(a) && std::isnan(b) && !bound_.exact()) return 0;
    if (bound_.exact() || !std::isfinite(a) || !std::isfinite(b)) return INFINITY;
    if (bound_.kind == Bound::Kind::rate) return 0;
    if (bound_.kind == Bound::Kind::snap && !is_multiple(b, step_)) return INFINITY;
    const long double error = std::abs(static_cast<long double>(a) - b);
    const long double most = bound_.kind == Bound::Kind::pointwise
                                 ? bound_.value * std::abs(static_cast<long double>(a))
                                 : bound_.value;
    return most > 0 ? static_cast<double>(error / most) : INFINITY;
  }
  // Returns a difference of finite values, rounded to double, up to which the error is certainly allowed;
  // below 0: a closer look is needed. The comparison is false for NaN and infinities.
  static double surely_allowed(const Bound& bound) {
    if (bound.kind == Bound::Kind::rate) return std::numeric_limits<double>::max();
    return bound.kind == Bound::Kind::absolute && !bound.exact() ? bound.value * (1 - 0x1p-50) : -1;
  }
  static double step_of(double bound) { return std::exp2(std::floor(std::log2(2 * bound))); }
  // Returns true if the value is a multiple of the step. Division by a power of two is exact, and a quotient
  // of 2^53 or more is always whole.
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
  const Bound bound_ = codec_.contract().bound;
  const double surely_allowed_ = surely_allowed(bound_);
  const double step_ = step_of(bound_.value);  // step of snapping bounds
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

// Returns a pattern around 0, within 2^63 times `unit`, a power of two that is constant within a frame.
template <class T>
T noise(std::uint64_t place, double unit) {
  return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(scramble(place))) * unit);
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
    const double unit = std::ldexp(1, static_cast<int>(scramble(i) % 32) - 16 - 63);
    const std::size_t shift = scramble(i) / 32 % distance;
    for (std::size_t k = 0; k < n * distance; ++k)
      piece[k] = k % distance == shift ? value_of<T>(proof.type, i + k / distance) : noise<T>(i + k, unit);
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
  return predictor == "auto" ? text : text + (' ' + predictor);
}

std::unique_ptr<Codec> codec_of(const Proof& proof) {
  return proof.codec->make({.bound = proof.bound, .predictor = proof.predictor.c_str()});
}

std::vector<Proof> all_proofs() {
  std::vector<Proof> proofs;
  const auto add = [&](const CodecInfo* codec, DType type) {
    for (const auto& [bound, also_alone] : bounds) {
      const bool own_kind = bound.exact() || codec->priority(bound.kind) != CodecInfo::last_resort;
      if (!own_kind || !test::can_be_made(*codec, type, {.bound = bound})) continue;
      proofs.push_back({codec, type, bound, Surroundings::alike});
      proofs.push_back({codec, type, bound, Surroundings::noise});
      if (also_alone) proofs.push_back({codec, type, bound, Surroundings::none});
      if (!bound.exact() || codec->automatic == nullptr) continue;
      for (const NamedPredictor& predictor : codec->automatic(extents))
        if (predictor.lags.any())
          proofs.push_back({codec, type, bound, Surroundings::noise, text_of(predictor)});
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
