// Operator of ADIOS2: a plugin that ADIOS2 loads from ADIOS2_PLUGIN_PATH. A block of a variable becomes the
// contents of a .taut file (docs/spec/file.md).
#include <adios2/plugin/PluginOperatorInterface.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "compressor/file/chunk.hpp"
#include "compressor/file/failure.hpp"

namespace taut::adios2_operator {
namespace {

struct Coded {
  adios2::DataType of_adios2;
  DType type;
};
constexpr Coded coded_types[] = {
    {adios2::DataType::Int8, DType::i8},          {adios2::DataType::Int16, DType::i16},
    {adios2::DataType::Int32, DType::i32},        {adios2::DataType::Int64, DType::i64},
    {adios2::DataType::UInt8, DType::u8},         {adios2::DataType::UInt16, DType::u16},
    {adios2::DataType::UInt32, DType::u32},       {adios2::DataType::UInt64, DType::u64},
    {adios2::DataType::Float, DType::f32},        {adios2::DataType::Double, DType::f64},
    {adios2::DataType::FloatComplex, DType::c64}, {adios2::DataType::DoubleComplex, DType::c128}};

const Coded* find(adios2::DataType type) noexcept {
  const auto* const found = std::ranges::find(coded_types, type, &Coded::of_adios2);
  return found != std::end(coded_types) ? found : nullptr;
}

file::Array array_of(DType type, adios2::Dims extents) {
  return {type, file::Form::npy, {extents.begin(), extents.end()}};
}

// Returns the bound that the parameters name; throws Failure. ADIOS2 hands out names in lower case, and its
// own parameters among them.
const std::string& bound_of(const adios2::Params& parameters) {
  for (const auto& [name, value] : parameters)
    if (name != "bound" && name != "pluginname" && name != "pluginlibrary" && name != "verbose")
      file::fail("the parameter '" + name + "' is unknown; name a bound, as in bound=abs:1e-3");
  const auto found = parameters.find("bound");
  if (found == parameters.end())
    file::fail("the parameter 'bound' is missing; set it to abs:1e-3 or lossless");
  return found->second;
}

class Operator final : public adios2::plugin::PluginOperatorInterface {
 public:
  using PluginOperatorInterface::PluginOperatorInterface;

  bool IsDataTypeValid(adios2::DataType type) const override { return find(type) != nullptr; }

  void AddExtraParameters(const adios2::Params& parameters) override {
    if (const auto name = parameters.find("VariableName"); name != parameters.end())
      variable_ = "variable '" + name->second + "': ";
  }

  std::size_t GetEstimatedSize(std::size_t, std::size_t value_bytes, std::size_t dims,
                               const std::size_t* extents) const override {
    const auto bound = m_Parameters.find("bound");
    const std::string longest = lossless + (bound != m_Parameters.end() ? bound->second : "");
    std::size_t most = 0;
    for (const auto& [of_adios2, type] : coded_types)
      if (size_of(type) == value_bytes)
        most = std::max(most, file::most_chunk_bytes(array_of(type, {extents, extents + dims}), longest));
    return most;
  }

  std::size_t Operate(const char* values, const adios2::Dims&, const adios2::Dims& extents,
                      adios2::DataType type, char* out) override {
    const Coded* const coded_type = find(type);
    if (coded_type == nullptr) throw std::invalid_argument("taut: values of this type are not coded");
    const file::Array block = array_of(coded_type->type, extents);
    const file::Buffer coded = encode(block, {reinterpret_cast<const std::byte*>(values), block.bytes()});
    std::memcpy(out, coded.data.get(), coded.bytes);
    return coded.bytes;
  }

  std::size_t InverseOperate(const char* coded, std::size_t bytes, char* out) override {
    try {
      file::ChunkReader reader({reinterpret_cast<const std::byte*>(coded), bytes});
      const std::size_t size = reader.array().bytes();
      reader.decode({reinterpret_cast<std::byte*>(out), size});
      return size;
    } catch (const file::Failure& failure) {
      throw std::runtime_error("taut: " + variable_ + failure.what());
    }
  }

 private:
  static constexpr const char* lossless = "lossless";

  // Encodes without loss where the parameters do not name a bound that can be met, and says so. An exception
  // would end the program: engines of ADIOS2 call operators from functions that are noexcept, and others
  // crash when they are closed after it.
  file::Buffer encode(const file::Array& block, ConstBytes values) {
    constexpr const char* what = "a block of an ADIOS2 variable";
    try {
      return file::encode_chunk(block, bound_of(m_Parameters), values, what);
    } catch (const file::Failure& failure) {
      if (!told_)
        std::fprintf(stderr, "taut: error: %s%s; the values are written without loss\n", variable_.c_str(),
                     failure.what());
      told_ = true;
    }
    return file::encode_chunk(block, lossless, values, what);
  }

  std::string variable_;
  bool told_ = false;
};

}  // namespace
}  // namespace taut::adios2_operator

// ADIOS2 calls these by name.
extern "C" {

[[gnu::visibility("default")]] adios2::plugin::PluginOperatorInterface* OperatorCreate(
    const adios2::Params& parameters) {
  return new taut::adios2_operator::Operator(parameters);
}

[[gnu::visibility("default")]] void OperatorDestroy(adios2::plugin::PluginOperatorInterface* operation) {
  delete operation;
}

}  // extern "C"
