// The value types that the codec quantises. This list is the only one.
#pragma once

#include <tuple>

#include "compressor/values/half.hpp"

// Expands DO(type) for each type, for explicit instantiations.
#define TAUT_PLANES_TYPES(DO) DO(float) DO(double) DO(f16) DO(bf16)

namespace taut::planes {

template <class, class... T>
struct TypeList {
  template <template <class> class Table>
  using Tables = std::tuple<Table<T>...>;

  // Returns the results of make_one.operator()<T>().
  template <class Make>
  static constexpr auto each(Make make_one) {
    return std::tuple{make_one.template operator()<T>()...};
  }
};

#define TAUT_NEXT_TYPE(T) , T
using ValueTypes = TypeList<void TAUT_PLANES_TYPES(TAUT_NEXT_TYPE)>;
#undef TAUT_NEXT_TYPE

// One Table<T> for each type.
template <template <class> class Table>
using ForEachType = ValueTypes::Tables<Table>;

}  // namespace taut::planes
