#include "compressor/file/npy.hpp"

#include <gtest/gtest.h>

#include "compressor/file/failure.hpp"
#include "memory_file.hpp"

namespace taut::file {
namespace {

class Npy : public testing::Test {
 protected:
  static StoredArray read(const std::string& contents, std::optional<DType> wanted = {}) {
    const MemoryFile memory(contents);
    const InputFile file(memory.path());
    EXPECT_TRUE(is_npy(file));
    return read_npy(file, wanted);
  }
  // Returns a file of the version with this dictionary and this many bytes of values.
  static std::string file(int version, const std::string& dictionary, std::size_t bytes) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    text += static_cast<char>(dictionary.size() & 0xFF);
    text += static_cast<char>(dictionary.size() >> 8);
    if (version > 1) text += std::string(2, '\0');
    return text + dictionary + std::string(bytes, '\0');
  }
  static std::string refusal(const std::string& contents, std::optional<DType> wanted = {}) {
    try {
      read(contents, wanted);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  }
};

TEST_F(Npy, HeadersOfAllVersionsAreRead) {
  for (const int version : {1, 2, 3}) {
    const std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }  \n";
    const StoredArray npy = read(file(version, dictionary, 96));
    EXPECT_EQ(npy.array.type, DType::f64);
    EXPECT_EQ(npy.array.shape, (std::vector<std::uint64_t>{3, 4}));
    EXPECT_EQ(npy.values_at, (version == 1 ? 10u : 12u) + dictionary.size());
  }
}

TEST_F(Npy, WhatIsWrittenIsReadBack) {
  for (std::uint8_t code = 1; code <= dtypes; ++code) {
    for (const std::vector<std::uint64_t>& shape :
         {std::vector<std::uint64_t>{}, {5}, {2, 3}, {0}, {1, 2, 3, 4, 5}}) {
      for (const Form form : {Form::npy, Form::npy_fortran}) {
        const Array array{DType{code}, form, shape};
        const std::string header = npy_header(array);
        EXPECT_EQ(header.size() % 64, 0u);
        const StoredArray back = read(header + std::string(array.bytes(), '\0'), array.type);
        EXPECT_EQ(back.array.type, array.type);
        EXPECT_EQ(back.array.shape, array.shape);
        EXPECT_EQ(back.array.form, array.form);
        EXPECT_EQ(back.values_at, header.size());
      }
    }
  }
}

TEST_F(Npy, FortranOrderIsTheReverseShape) {
  const StoredArray npy = read(file(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", 6));
  EXPECT_EQ(npy.array.shape, (std::vector<std::uint64_t>{3, 2}));
}

TEST_F(Npy, WhatIsNotServedIsNamedWithARemedy) {
  const auto of_type = [](const std::string& descr) {
    return file(1, "{'descr': " + descr + ", 'fortran_order': False, 'shape': (2,)}", 64);
  };
  EXPECT_NE(refusal(of_type("'>f4'")).find("newbyteorder"), std::string::npos);
  EXPECT_NE(refusal(of_type("'|O'")).find("'|O'"), std::string::npos);
  EXPECT_NE(refusal(of_type("[('x', '<f4')]")).find("fields"), std::string::npos);
  EXPECT_NE(refusal(of_type("'<V2'")).find("--dtype bf16"), std::string::npos);
  EXPECT_EQ(refusal(of_type("'<V2'"), DType::bf16), "");
  EXPECT_NE(refusal(of_type("'<f4'"), DType::f64).find("holds f32"), std::string::npos);
  EXPECT_NE(refusal(file(4, "", 64)).find("version 4"), std::string::npos);
}

TEST_F(Npy, ShapesBeyondTheFileAreRefused) {
  for (const char* shape : {"(1000,)", "(4294967296, 4294967296)", "(18446744073709551615, 8)",
                            "(0, 4611686018427387905)", "(99999999999999999999,)", "(-1,)"}) {
    const std::string text = std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + "}";
    EXPECT_NE(refusal(file(1, text, 16)), "") << shape;
  }
}

TEST_F(Npy, BrokenHeadersAreRefused) {
  const std::string good = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", 16);
  for (std::size_t size = 6; size < good.size(); ++size) EXPECT_NE(refusal(good.substr(0, size)), "") << size;
  for (std::size_t at = 10; at < good.size() - 18; ++at) {
    std::string broken = good;
    broken[at] = '(';
    if (broken == good) continue;
    EXPECT_NE(refusal(broken), "") << at;
  }
}

}  // namespace
}  // namespace taut::file
