#include <cmath>
#include <cstring>
#include <numbers>

#include "robustness/random/call.hpp"

namespace taut::test {
namespace {

// Numbers of one type, by kind of content.
template <class T>
class Maker {
 public:
  Maker(Content content, double scale, std::uint64_t seed)
      : content_(content), draw_(seed, 0), scale_(std::min(scale, largest / 8)) {
    phase_ = 3 * uniform();
    constant_ = scale_ * uniform();
  }

  T operator()(std::size_t i) {
    const auto at = static_cast<double>(i);
    switch (content_) {
      case Content::smooth: return number(smooth(at));
      case Content::noise: return number(scale_ * uniform());
      case Content::constant: return number(constant_);
      case Content::zeros: return number(draw_.bits() % 40 == 0 ? scale_ * uniform() : 0);
      case Content::integers: return number(std::floor(smooth(at)));
      case Content::wild: return number(uniform() * std::exp2(exponent()));
      case Content::specials: return draw_.bits() % 12 == 0 ? special() : number(smooth(at));
      case Content::fill: return number(i / 37 % 3 == 1 ? std::min(1e20, largest) : smooth(at));
      case Content::tiny: return number(uniform() * std::exp2(least_exponent + 20));
      case Content::any_bits: break;
    }
    return of_bits(draw_.bits());
  }

 private:
  static constexpr bool is_integer = std::is_integral_v<T>, is_f16 = std::is_same_v<T, f16>;
  static constexpr double largest = is_integer       ? 0x1p60
                                    : sizeof(T) == 8 ? 0x1p1020
                                    : is_f16         ? 0x1p15
                                                     : 0x1p124;
  static constexpr int least_exponent = sizeof(T) == 8 ? -1074 : sizeof(T) == 4 ? -149 : -24;

  double uniform() { return 2 * draw_.uniform() - 1; }  // -1 .. 1
  double smooth(double at) const { return scale_ * std::sin(phase_ + 0.01 * at); }
  double exponent() {
    const int range = sizeof(T) == 8 ? 600 : sizeof(T) == 4 ? 120 : 14;
    return static_cast<double>(draw_.bits() % static_cast<unsigned>(2 * range)) - range;
  }
  static T number(double x) {
    if constexpr (is_integer) {
      constexpr auto most = static_cast<double>(std::numeric_limits<T>::max() / 2);
      return static_cast<T>(std::clamp(x, std::is_signed_v<T> ? -most : 0.0, most));
    } else {
      return static_cast<T>(x);
    }
  }
  static T of_bits(std::uint64_t bits) {
    T x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  T special() {
    if constexpr (is_integer) {
      constexpr T ends[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0}};
      return ends[draw_.bits() % 3];
    } else {
      const double infinity = std::numeric_limits<double>::infinity(), tiny = std::exp2(least_exponent);
      switch (draw_.bits() % 8) {
        case 0: return number(infinity);
        case 1: return number(-infinity);
        case 2: return number(-0.0);
        case 3: return number(tiny * static_cast<double>(1 + draw_.bits() % 1000));
        case 4: return number(1e30);
        case 5: return number(-1e30);
        case 6: return of_bits(nan_bits());
        default: return number(std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
  // Returns the bits of a NaN with a payload and a sign.
  std::uint64_t nan_bits() {
    const std::uint64_t payload = draw_.bits();
    if (sizeof(T) == 8) return 0x7FF8'0000'0000'0000 | (payload & 0x8007'FFFF'FFFF'FFFF);
    if (sizeof(T) == 4) return 0x7FC0'0000 | (payload & 0x803F'FFFF);
    return 0x7FFF;  // a NaN in both 16-bit types
  }

  Content content_;
  Draw draw_;
  double scale_, phase_ = 0, constant_ = 0;
};

}  // namespace

void fill_values(Content content, double scale, DType type, std::uint64_t seed, Bytes out) {
  with_dtype(component_of(type), [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
      Maker<T> make(content, scale, seed);
      for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
        const T x = make(i);
        std::memcpy(out.data() + i * sizeof(T), &x, sizeof x);
      }
    }
  });
}

}  // namespace taut::test
