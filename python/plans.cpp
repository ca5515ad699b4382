#include "plans.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>

#include "communication/policy/plan/plan.hpp"
#include "communication/policy/plan/policy.hpp"
#include "compressor/api/device_codec.hpp"
#include "errors.hpp"

namespace taut::python {
namespace {

using Room = std::pair<Address, std::size_t>;  // memory: its address and its size in bytes

ConstSlice values_at(Address address, std::size_t count, int type) {
  return {reinterpret_cast<const std::byte*>(address), count, static_cast<DType>(type)};
}

// Returns the text of a policy in today's spelling; raises if it is invalid.
std::string check_policy(const std::string& text) {
  return unlocked([&] { return parse_policy(text).text; });
}

// Returns the text of a policy's coding under `bound`. A bound relative to the range of the values is exact
// if the range is 0; it then drops the codec that was asked for, which may be unable to code without loss.
std::string coding_text(const Coding& coding, Bound bound, const CodecInfo* codec) {
  const bool drops = bound.exact() && !coding.bound.exact();
  Coding one = coding.with(bound);
  one.codec = drops ? nullptr : codec;
  if (drops) one.predictor = {};
  one.dims = {};  // those of an array, not of the parts that ranks send
  one.fill.reset();
  return taut::text_of(one);
}

// Returns the range of values, on the host or on a GPU, if the policy's bound is relative to it, else an
// empty range: least > greatest.
std::pair<double, double> range_for(const std::string& text, Address address, std::size_t count, int type) {
  return unlocked([&] {
    const Coding coding = parse_policy(text).coding;
    const ValueRange range = is_relative(coding.bound)
                                 ? api::range_anywhere(values_at(address, count, type), coding)
                                 : ValueRange{};
    return std::pair(range.least, range.greatest);
  });
}

// Returns the coding of each rank's values in a two-shot sum, and true if its frames are added; an empty text
// if the policy leaves the call uncompressed. `least` and `greatest`: range of all ranks' values.
std::pair<std::string, bool> sum_coding(const std::string& text, int type, std::size_t count, int ranks,
                                        bool mean, double least, double greatest) {
  return unlocked([&]() -> std::pair<std::string, bool> {
    Policy policy = parse_policy(text);
    policy.algorithm = "two_shot";
    policy.by_nodes = Policy::ByNodes::off;
    Call call{
        .collective = Collective::allreduce, .type = static_cast<DType>(type), .ranks = ranks, .mean = mean};
    call.bytes = count * size_of(call.type);
    CandidateTable table;
    const Bound bound = resolved(policy.coding.bound, {least, greatest});
    const Plan plan = make_plan(policy, call, bound, table);
    if (plan.fallback != Fallback::none) return {"", false};
    const CodecInfo* const codec = plan.candidates[0].codec;
    return {coding_text(policy.coding, plan.bound, codec), plan.arithmetic == Arithmetic::frames};
  });
}

// Returns the coding of values that a call moves; an empty text if the policy leaves them uncompressed.
std::string move_coding(const std::string& text, Address address, std::size_t count, int type) {
  return unlocked([&]() -> std::string {
    const Policy policy = parse_policy(text);
    const ConstSlice values = values_at(address, count, type);
    if (policy.off || values.bytes() < policy.min_bytes) return "";
    const Bound asked = bound_for(values.type, policy.coding.bound);
    const ValueRange range = is_relative(asked) ? api::range_anywhere(values, policy.coding) : ValueRange{};
    return coding_text(policy.coding, resolved(asked, range), policy.coding.codec);
  });
}

// Encodes values into `room` and returns the size of the frame in bytes.
std::size_t encode_into(Address address, std::size_t count, int type, const std::string& text, Room room) {
  std::size_t bytes = 0;
  check(unlocked([&] {
    return TAUT_Encode(reinterpret_cast<const void*>(address), count, static_cast<TAUT_Type>(type),
                       text.c_str(), reinterpret_cast<void*>(room.first), room.second, &bytes);
  }));
  return bytes;
}

// Adds two frames into `room` and returns the size of the sum in bytes.
std::size_t add_into(Room a, Room b, Room room) {
  std::size_t bytes = 0;
  check(unlocked([&] {
    return TAUT_Frame_add(reinterpret_cast<const void*>(a.first), a.second,
                          reinterpret_cast<const void*>(b.first), b.second,
                          reinterpret_cast<void*>(room.first), room.second, &bytes);
  }));
  return bytes;
}

}  // namespace

void add_plan_functions(nb::module_& module) {
  module.def("check_policy", check_policy, nb::arg("text"));
  module.def("range_for", range_for, nb::arg("text"), nb::arg("address"), nb::arg("count"), nb::arg("type"));
  module.def("sum_coding", sum_coding, nb::arg("text"), nb::arg("type"), nb::arg("count"), nb::arg("ranks"),
             nb::arg("mean"), nb::arg("least"), nb::arg("greatest"));
  module.def("move_coding", move_coding, nb::arg("text"), nb::arg("address"), nb::arg("count"),
             nb::arg("type"));
  module.def("encode_into", encode_into, nb::arg("address"), nb::arg("count"), nb::arg("type"),
             nb::arg("text"), nb::arg("room"));
  module.def("add_into", add_into, nb::arg("a"), nb::arg("b"), nb::arg("room"));
}

}  // namespace taut::python
