#include "compressor/frame/lags.hpp"

#include <charconv>
#include <initializer_list>
#include <utility>

namespace taut {
namespace {

// Returns the stride of an extent as a lag; 0: none.
std::uint32_t lag_of(std::uint64_t stride) noexcept {
  if (stride == 0 || stride >= lag_limit) return 0;
  return static_cast<std::uint32_t>((min_lag + stride - 1) / stride * stride);
}

Lags in_order(Lags lags) noexcept {
  if (lags.n == 2 && lags.lag[1] < lags.lag[0]) std::swap(lags.lag[0], lags.lag[1]);
  return lags;
}

Lags lags_of(const Dims& dims, std::initializer_list<unsigned> extents) noexcept {
  Lags lags;
  for (const unsigned i : extents)
    if (const std::uint32_t lag = i < dims.n ? lag_of(dims.stride(i)) : 0; lag != 0) lags.lag[lags.n++] = lag;
  return in_order(lags);
}

bool read_lag(std::string_view text, std::uint32_t& lag) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lag);
  return error == std::errc() && end == text.data() + text.size() && lag >= min_lag && lag < lag_limit;
}

}  // namespace

Lags row_lag(const Dims& d) noexcept { return lags_of(d, {d.n - 2}); }
Lags plane_lag(const Dims& d) noexcept { return lags_of(d, {d.n - 3}); }
Lags row_and_plane_lags(const Dims& d) noexcept { return lags_of(d, {d.n - 2, d.n - 3}); }
Lags slowest_lag(const Dims& d) noexcept { return d.n > 1 ? lags_of(d, {0}) : Lags{}; }

std::optional<Lags> lags_named(std::string_view name) noexcept {
  const std::size_t plus = name.find('+');
  Lags lags;
  if (!read_lag(name.substr(0, plus), lags.lag[lags.n++])) return {};
  if (plus != name.npos && !read_lag(name.substr(plus + 1), lags.lag[lags.n++])) return {};
  return in_order(lags);
}

std::string name_of(const Lags& lags) {
  std::string name;
  for (unsigned k = 0; k < lags.n; ++k) name.append("+").append(std::to_string(lags.lag[k]));
  return name;
}

}  // namespace taut
