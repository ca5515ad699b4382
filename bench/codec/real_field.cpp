#include "real_field.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace bench {

RealField::RealField(const std::string& file, taut::DType type, taut::Dims dims, std::optional<double> fill)
    : name_(std::filesystem::path(file).stem().string()),
      type_(type),
      dims_(dims),
      fill_(fill),
      count_(std::filesystem::file_size(file) / size_of(type)),
      values_(count_ * size_of(type)) {
  std::ifstream stream(file, std::ios::binary);
  const taut::Bytes bytes = values_.bytes();
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream || count_ == 0) throw std::runtime_error(file + ": cannot be read");
  if (dims.n != 0 && dims.count() != count_)
    throw std::runtime_error(file + ": holds other than its extents' " + std::to_string(dims.count()) +
                             " values");
  range_ = taut::range_of({{bytes.data(), count_, type}}, fill);
  if (!(range_.least < range_.greatest)) throw std::runtime_error(file + ": has no range");
}

Buffer RealField::part(std::size_t first, std::size_t count) const {
  const std::size_t size = size_of(type_);
  Buffer result(count * size);
  for (std::size_t done = 0; done < count;) {
    const std::size_t from = (first + done) % count_, n = std::min(count - done, count_ - from);
    std::memcpy(result.data() + done * size, values_.data() + from * size, n * size);
    done += n;
  }
  return result;
}

std::size_t RealField::shift() const noexcept {
  return dims_.n == 0 ? count_ / 2 : dims_.extent[0] / 2 * dims_.stride(0);
}

}  // namespace bench
