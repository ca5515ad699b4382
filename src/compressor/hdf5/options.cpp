#include "compressor/hdf5/options.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "compressor/file/array.hpp"
#include "compressor/file/failure.hpp"

namespace taut::hdf5 {
namespace {

static_assert(std::endian::native == std::endian::little, "the text lies in words as it lies in memory");

constexpr unsigned version = 1;
constexpr std::size_t longest_coding = 512;  // HDF5 hands out at most 256 words

// Reader of words, which throws at their end.
class Words {
 public:
  explicit Words(std::span<const unsigned> words) : left_(words) {}

  std::span<const unsigned> take(std::size_t count) {
    if (count > left_.size()) file::fail("the words of the filter end too early; get the file again");
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  unsigned next() { return take(1).front(); }

 private:
  std::span<const unsigned> left_;
};

std::size_t words_for(std::size_t bytes) noexcept { return (bytes + 3) / 4; }

}  // namespace

ChunkOptions read_options(std::span<const unsigned> given) {
  ChunkOptions options;
  if (given.empty()) return options;
  Words words(given);
  if (const unsigned found = words.next(); found != version)
    file::fail("the words of the filter are of version " + std::to_string(found) +
               "; this plugin reads version 1");
  if (const unsigned type = words.next(); type != 0) {
    if (type > dtypes)
      file::fail("the words of the filter name type " + std::to_string(type) + ", which is unknown");
    options.type = DType{static_cast<std::uint8_t>(type)};
  }
  const unsigned dims = words.next();
  if (dims > file::max_array_dims) file::fail("the words of the filter name more than 32 extents");
  const auto extents = words.take(dims);
  options.extents.assign(extents.begin(), extents.end());
  const unsigned bytes = words.next();
  if (bytes > longest_coding) file::fail("the bound of the filter is longer than 512 characters");
  const auto text = words.take(words_for(bytes));
  options.coding.assign(reinterpret_cast<const char*>(text.data()), bytes);
  if (!file::has_valid_size({DType::c128, file::Form::npy, options.extents}))
    file::fail("the words of the filter name a chunk of more than 2^62 bytes");
  return options;
}

std::vector<unsigned> words_of(const ChunkOptions& options) {
  std::vector<unsigned> words{version, options.type ? static_cast<unsigned>(*options.type) : 0,
                              static_cast<unsigned>(options.extents.size())};
  for (const std::uint64_t extent : options.extents) {
    if (extent > std::numeric_limits<unsigned>::max())
      file::fail("chunks of 2^32 values along a dimension are not coded");
    words.push_back(static_cast<unsigned>(extent));
  }
  words.push_back(static_cast<unsigned>(options.coding.size()));
  const std::size_t begin = words.size();
  words.resize(begin + words_for(options.coding.size()));
  if (!options.coding.empty()) std::memcpy(&words[begin], options.coding.data(), options.coding.size());
  return words;
}

}  // namespace taut::hdf5
