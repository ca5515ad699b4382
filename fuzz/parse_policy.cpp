// Fuzz target: any text as a policy, as a coding and in TAUT_Encode. The text is accepted, or rejected with
// an explanation; no other exception is thrown, the same text always gives the same result, and an accepted
// policy works.
//
//   text
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <cmath>
#include <string>

#include "communication/policy/plan/policy.hpp"
#include "communication/team/algorithm.hpp"
#include "expect.hpp"
#include "input.hpp"

namespace taut::fuzz {
namespace {

// Returns the message of the exception; "" for a text that was accepted.
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

bool usable(Bound bound) noexcept {
  return bound.exact() ? bound.value == 0 : std::isfinite(bound.value) && bound.value > 0;
}

void check_policy(const std::string& text) {
  Policy policy;
  const std::string reason = rejection([&] { policy = parse_policy(text); });
  expect(reason == rejection([&] { parse_policy(text); }), "the same text means the same");
  if (!reason.empty()) return;
  expect(policy.segments >= 0 && policy.segments <= max_segments, "segments are in their range");
  expect(policy.off || usable(policy.coding.bound), "the bound can be used");
}

// Checks that values of some type can be encoded and decoded under an accepted coding.
void check_coding(const std::string& text) {
  Coding coding;
  const bool read = rejection([&] { coding = parse_coding(text); }).empty();
  if (read) expect(usable(coding.bound), "the bound can be used");
  if (text.find('\0') != std::string::npos) return;  // a C string would end there
  constexpr std::size_t n = 40;
  double values[n];
  for (std::size_t i = 0; i < n; ++i)
    values[i] = std::ldexp(static_cast<double>(i * i), static_cast<int>(i) - 20);
  std::string frame(TAUT_Max_bytes(TAUT_FLOAT64, n, 1), 0);
  std::size_t bytes = 0;
  constexpr std::size_t extents[] = {5, 8};
  const int as_field =
      TAUT_Encode_nd(values, 2, extents, TAUT_FLOAT64, text.c_str(), frame.data(), frame.size(), &bytes);
  expect(as_field != TAUT_ERR_INTERNAL && (read || as_field != TAUT_SUCCESS),
         "a field is encoded, or refused");
  const int status = TAUT_Encode(values, n, TAUT_FLOAT64, text.c_str(), frame.data(), frame.size(), &bytes);
  expect(read || status == TAUT_ERR_POLICY || status == TAUT_ERR_ARGUMENT,
         "TAUT_Encode reads what parse_coding reads");
  if (status == TAUT_SUCCESS) {
    expect(TAUT_Decode(frame.data(), bytes, values, n, TAUT_FLOAT64) == TAUT_SUCCESS, "a frame decodes");
    return;
  }
  const bool told = status == TAUT_ERR_TYPE || status == TAUT_ERR_POLICY || status == TAUT_ERR_ARGUMENT;
  expect(told, "values are encoded, or it is said why not");
  expect(TAUT_Last_error()[0] != 0, "a rejection explains itself");
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut::fuzz;
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_policy(text);
  check_coding(text);
  return 0;
}
