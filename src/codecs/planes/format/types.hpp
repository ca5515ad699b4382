// The value types that the codec quantises. This list is the only one.
#pragma once

#include <tuple>

#include "core/half.hpp"

// Expands DO(type) for each type, for explicit instantiations.
#define TAUT_PLANES_TYPES(DO) DO(float) DO(double) DO(f16) DO(bf16)

namespace taut::planes {

template <class, class... T>
struct TypeList {
  template <template <class> class Table>
  using Tables = std::tuple<Table<T>...>;

  template <class Make>
  static constexpr auto make(Make make_one) {
    return std::tuple{make_one.template operator()<T>()...};
  }
};

#define TAUT_NEXT_TYPE(T) , T
using ValueTypes = TypeList<void TAUT_PLANES_TYPES(TAUT_NEXT_TYPE)>;
#undef TAUT_NEXT_TYPE

// One Table<T> for each type, and the tuple of the results of make_one.operator()<T>().
template <template <class> class Table>
using ForEachType = ValueTypes::Tables<Table>;
template <class Make>
constexpr auto for_each_type(Make make_one) {
  return ValueTypes::make(make_one);
}

}  // namespace taut::planes
