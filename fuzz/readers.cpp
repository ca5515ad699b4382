#include "readers.hpp"

#include <utility>

#include "support/subjects.hpp"

namespace taut::fuzz {
namespace {

// Returns a reader for the first bound of each kind, for the first type that the codec serves.
std::vector<Reader> make_readers() {
  std::vector<Reader> all;
  for (const CodecInfo* info : registered_codecs()) {
    bool seen[frame_bound_kinds] = {};
    for (const test::Subject& subject : test::subjects_of(*info, false)) {
      bool& made = seen[static_cast<std::size_t>(subject.options.bound.kind)];
      if (!std::exchange(made, true))
        all.push_back({info, test::with_all_kernels(*info, {.bound = subject.options.bound})});
    }
  }
  return all;
}

}  // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = make_readers();
  return all;
}

const CodecInfo& codec_of(std::uint8_t frame_id) {
  const auto all = registered_codecs();
  for (const CodecInfo* info : all)
    if (info->frame_id == frame_id) return *info;
  return *all[frame_id % all.size()];
}

DType posted_type(std::uint8_t number) noexcept {
  return DType{is_dtype(number) ? number : static_cast<std::uint8_t>(1 + number % dtypes)};
}

}  // namespace taut::fuzz
