// Fuzz target: any bytes as a .taut file, for the reader that `taut` and the filter of HDF5 share, and as a
// .npy file, for the reader of arrays. A file is read, or refused with words; nothing else is thrown. The
// memory taken is bounded by the size of the file.
//
//   repairs u8 | file
//
// With the repair 1 the checksums of a .taut file of one frame are set, so that mutations reach the checks
// behind them; with 2 the bytes are read as .npy; with 4 as a chunk of HDF5.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "compressor/file/coding.hpp"
#include "compressor/file/failure.hpp"
#include "compressor/file/file_format.hpp"
#include "compressor/file/npy.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/hdf5/chunk.hpp"
#include "exact_memory.hpp"
#include "expect.hpp"
#include "input.hpp"

namespace taut::fuzz {
namespace {

constexpr std::size_t footer_bytes = 40, most_decoded = std::size_t{1} << 20;

class Contents final : public file::ByteSource {
 public:
  explicit Contents(ConstBytes bytes) : bytes_(bytes) {}
  const std::string& path() const noexcept override { return name_; }
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  void read(std::uint64_t offset, Bytes out) const override {
    expect(offset <= bytes_.size() && out.size() <= bytes_.size() - offset, "a reader stays inside the file");
    std::ranges::copy(bytes_.subspan(static_cast<std::size_t>(offset), out.size()), out.begin());
  }

 private:
  ConstBytes bytes_;
  std::string name_ = "input";
};

void put(Bytes file, std::size_t at, std::uint32_t value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

// Sets the checksums of header, frame, index and footer of a file with one frame, if its lengths allow it.
void repair(Bytes file) {
  std::uint32_t header_bytes = 0;
  if (file.size() < 24 + footer_bytes + sizeof(file::FrameEntry)) return;
  std::memcpy(&header_bytes, file.data() + 12, sizeof header_bytes);
  const std::size_t footer = file.size() - footer_bytes, index = footer - sizeof(file::FrameEntry);
  if (header_bytes < 28 || header_bytes > index) return;
  const ConstBytes all = file;
  const std::uint32_t header = crc32c(all.first(header_bytes - 4));
  put(file, header_bytes - 4, header);
  put(file, index + 12, crc32c(all.subspan(header_bytes, index - header_bytes)));
  put(file, footer + 16, crc32c(all.subspan(index, sizeof(file::FrameEntry))));
  put(file, footer + 20, header);
  put(file, footer + 28, crc32c(all.subspan(footer, 28)));
}

// Runs `action`, which may refuse the input.
template <class Action>
void refused_or(Action action) {
  try {
    action();
  } catch (const file::Failure& failure) {
    expect(*failure.what() != 0, "a refusal explains itself");
  } catch (...) {
    expect(false, "only Failure is thrown");
  }
}

void read_taut(ConstBytes bytes) {
  const Contents file(bytes);
  file::FrameReader reader(file);
  const DType type = reader.array().type;
  std::uint64_t values = 0;
  for (const file::FrameEntry& entry : reader.entries()) {
    expect(min_frame_bytes(entry.values) <= entry.bytes + 3, "a frame can hold so many values");
    values += entry.values;
    const ConstBytes frame = reader.next();
    file::FrameFacts facts;
    file::read_facts(frame, facts);
    if (entry.values > most_decoded) return;
    const ExactMemory room(entry.values * size_of(type));
    if (!file::decode(frame, entry.values, type, room.bytes())) file::fail("a frame");
  }
  expect(values == reader.array().count(), "the frames hold each value once");
}

void read_chunk(ConstBytes bytes) {
  const Contents file(bytes);
  if (file::FrameReader(file).array().count() > most_decoded) return;
  const file::Buffer values = hdf5::decode_chunk({}, bytes);
  expect(values.bytes <= values.capacity, "a chunk fits into its memory");
}

void read_array(ConstBytes bytes) {
  const int descriptor = memfd_create("npy", MFD_CLOEXEC);
  expect(
      descriptor >= 0 && write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
      "the input is in a file");
  refused_or([&] {
    const file::InputFile file("/proc/self/fd/" + std::to_string(descriptor));
    if (!file::is_npy(file)) return;
    const file::StoredArray found = file::read_npy(file, {});
    expect(found.values_at <= bytes.size() && found.array.bytes() <= bytes.size() - found.values_at,
           "the values lie inside the file");
  });
  close(descriptor);
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut;
  using namespace taut::fuzz;
  Input input(data, size);
  const auto repairs = input.take<std::uint8_t>();
  const ExactMemory file(input.rest().size());
  if (file.size() > 0) std::memcpy(file.data(), input.rest().data(), file.size());
  if ((repairs & 1) != 0) repair(file.bytes());
  if ((repairs & 2) != 0) return read_array(file.bytes()), 0;
  refused_or([&] { (repairs & 4) != 0 ? read_chunk(file.bytes()) : read_taut(file.bytes()); });
  return 0;
}
