#include "readers.hpp"

#include "support/subjects.hpp"

namespace taut::fuzz {
namespace {

std::vector<Reader> make_readers() {
  std::vector<Reader> all;
  for (const CodecInfo* info : registered_codecs()) {
    const CodecOptions options = test::subjects_of(*info, false).front().options;
    Reader reader{info, {}};
    for (const char* kernels : test::kernels_of(*info, options)) {
      CodecOptions with = options;
      with.kernels = kernels;
      with.predictor = "auto";
      reader.kernel_sets.push_back(info->make(with));
    }
    all.push_back(std::move(reader));
  }
  return all;
}

}  // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = make_readers();
  return all;
}

const Reader& reader_of(std::uint8_t frame_id) {
  for (const Reader& reader : readers())
    if (reader.info->frame_id == frame_id) return reader;
  return readers()[frame_id % readers().size()];
}

DType posted_type(std::uint8_t number) noexcept {
  if (is_dtype(number)) return DType{number};
  return test::all_types[number % std::size(test::all_types)];
}

}  // namespace taut::fuzz
