// Any text as a policy and as coding options: read, or rejected with an explanation; nothing else is thrown,
// and the same text always means the same.
//
//   bound f64 | text
#include <cmath>

#include "expect.hpp"
#include "input.hpp"
#include "policy/policy.hpp"

namespace taut::fuzz {
namespace {

// What was thrown; "" for a text that was read.
template <class Parse>
std::string rejection(Parse parse) {
  try {
    parse();
  } catch (const Error& error) {
    expect(error.status() == Status::invalid_policy || error.status() == Status::invalid_argument,
           "a text that cannot be read is an invalid policy");
    expect(error.what()[0] != 0, "a rejection explains itself");
    return error.what();
  } catch (...) {
    expect(false, "only Error is thrown");
  }
  return "";
}

void check_policy(std::string_view text) {
  Policy policy;
  const std::string reason = rejection([&] { policy = parse_policy(text); });
  expect(reason == rejection([&] { parse_policy(text); }), "the same text means the same");
  if (!reason.empty()) return;
  expect(policy.segments >= 0 && policy.segments <= max_segments, "segments are in their range");
  expect(std::isfinite(policy.bound) && policy.bound >= 0, "the bound can be used");
  expect(policy.kind == Policy::Kind::off || policy.coding.codec != nullptr, "a codec was chosen");
}

void check_coding(std::string_view text, double bound) {
  Coding coding;
  const std::string reason = rejection([&] { coding = parse_coding(text, bound); });
  if (!reason.empty()) return;
  expect(coding.codec != nullptr, "a codec was chosen");
  expect(coding.codec->make(coding.options(bound, "")) != nullptr, "what was read can be made");
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut::fuzz;
  Input input(data, size);
  const auto bound = input.take<double>();
  const std::string text(reinterpret_cast<const char*>(input.rest().data()), input.rest().size());
  check_policy(text);
  if (std::isfinite(bound) && bound >= 0) check_coding(text, bound);  // what TAUT_Encode lets through
  return 0;
}
