#include "cli/jobs/json_reader.hpp"

#include <gtest/gtest.h>

#include "compressor/file/failure.hpp"

namespace taut::cli {
namespace {

Json read(std::string_view text) { return read_json("file", text); }

TEST(JsonReader, Values) {
  const Json json = read(R"( {"a": [1, -2.5e3, true, null], "b": "x\n\"\u00e4\\", "c": {}} )");
  EXPECT_EQ(json["a"].items.size(), 4u);
  EXPECT_EQ(json["a"].items[1].number, -2500);
  EXPECT_EQ(json["a"].items[2].number, 1);
  EXPECT_TRUE(json["a"].items[3].is_null());
  EXPECT_EQ(json["b"].text, "x\n\"\xC3\xA4\\");
  EXPECT_EQ(json["c"].kind, Json::Kind::object);
  EXPECT_TRUE(json["d"]["e"].is_null());
}

TEST(JsonReader, WhatIsNone) {
  for (const char* text :
       {"",   "{",   "[",  "[1,]", "{\"a\"}", "{\"a\":}",  "{\"a\":1,}", "{a:1}", "01",    "1.",  "+1", ".5",
        "1e", "nul", "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\n\"",     "1 2",   "[1 2]", "NaN", "-"})
    EXPECT_THROW(read(text), file::Failure) << text;
  EXPECT_THROW(read(std::string(100, '[')), file::Failure);
  EXPECT_THROW(read(std::string_view("\"a\0b\"", 5)), file::Failure);
}

}  // namespace
}  // namespace taut::cli
