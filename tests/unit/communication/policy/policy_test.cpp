#include "communication/policy/plan/policy.hpp"

#include <gtest/gtest.h>

namespace taut {
namespace {

std::string complaint(std::string_view text) {
  try {
    parse_policy(text);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_policy) << text;
    return error.what();
  }
}

TEST(Policy, EmptyAndOffCompressNothing) {
  for (const char* text : {"", "  ", "off"}) EXPECT_TRUE(parse_policy(text).off);
}

TEST(Policy, ABoundAloneLeavesTheRestToTaut) {
  const Policy p = parse_policy("abs:1e-4");
  EXPECT_FALSE(p.off);
  EXPECT_EQ(p.coding.bound, Bound(1e-4));
  EXPECT_EQ(p.on, Policy::On::result);
  EXPECT_EQ(p.coding.codec, nullptr);
  EXPECT_EQ(p.coding.predictor, "auto");
  EXPECT_EQ(p.algorithm, "");
  EXPECT_EQ(p.reducing, Policy::Reducing::automatic);
  EXPECT_EQ(p.segments, 0);
  EXPECT_EQ(p.min_bytes, 65536u);
}

TEST(Policy, ABoundMayHaveAnEqualsSignAndIsShownWithAColon) {
  EXPECT_EQ(parse_policy("rel=1e-3, when=pays").text, "rel:1e-3, when=profitable");
}

TEST(Policy, EveryOptionIsRead) {
  const Policy p = parse_policy(
      " abs:2.5 , on=input, codec=planes,algorithm = ring "
      ",reduction=values,segments=7,min_bytes=1MiB,predictor=none,"
      "checksum=on,same_bits=on");
  EXPECT_EQ(p.coding.bound, Bound(2.5));
  EXPECT_EQ(p.on, Policy::On::input);
  EXPECT_STREQ(p.coding.codec->name, "planes");
  EXPECT_EQ(p.algorithm, "ring");
  EXPECT_EQ(p.reducing, Policy::Reducing::values);
  EXPECT_EQ(p.segments, 7);
  EXPECT_EQ(p.min_bytes, 1u << 20);
  EXPECT_EQ(p.coding.predictor, "none");
  EXPECT_TRUE(p.coding.checksum);
  EXPECT_TRUE(p.same_bits);
  EXPECT_FALSE(parse_policy("abs:1").same_bits);
}

TEST(Policy, Sizes) {
  EXPECT_EQ(parse_policy("lossless,min_bytes=0").min_bytes, 0u);
  EXPECT_EQ(parse_policy("lossless,min_bytes=123").min_bytes, 123u);
  EXPECT_EQ(parse_policy("lossless,min_bytes=5B").min_bytes, 5u);
  EXPECT_EQ(parse_policy("lossless,min_bytes=3KiB").min_bytes, 3072u);
  EXPECT_EQ(parse_policy("lossless,min_bytes=2GiB").min_bytes, std::size_t{2} << 30);
  for (const char* size :
       {"", "KiB", "-1", "1.5MiB", "64kB", "64 KB", "99999999999999999999", "9999999999GiB"})
    EXPECT_NE(complaint(std::string("lossless,min_bytes=") + size), "") << size;
}

TEST(Policy, BoundsThatAreNone) {
  for (const char* text : {"abs",
                           "abs:",
                           "abs:0",
                           "abs:-1",
                           "abs:inf",
                           "abs:nan",
                           "abs:1e999",
                           "abs:1e-4x",
                           "rel:0",
                           "rel:1.5",
                           "rel",
                           "psnr:-3",
                           "psnr:301",
                           "pwrel:1",
                           "rate:0",
                           "rate:65",
                           "block:5",
                           "block:8,codec=zfp",
                           "snap:0",
                           "absolute:1",
                           "lossless,on=likely",
                           "pwrel:0.1,on=likely",
                           "rate:8,on=likely",
                           "fast",
                           "on=result",
                           ",",
                           "abs:1,",
                           "abs:1,,on=input"})
    EXPECT_NE(complaint(text), "") << text;
}

TEST(Policy, WideSumsNeedLosslessCoding) {
  EXPECT_TRUE(parse_policy("lossless,sum=wide").wide_sums);
  EXPECT_FALSE(parse_policy("lossless,sum=wide").only_if_profitable());
  EXPECT_EQ(complaint("abs:1e-4,sum=wide"),
            "policy: sum=wide adds values that travel without loss; use lossless");
  for (const char* other :
       {"algorithm=ring", "reduction=frames", "nodes=on", "nodes=frames", "when=profitable"})
    EXPECT_NE(complaint(std::string("lossless,sum=wide,") + other).find("leave out"), std::string::npos)
        << other;
  EXPECT_EQ(complaint("lossless,sum=wide,algorithm=rank_order,when=always"), "");
}

TEST(Policy, SlotsAreOffOrARatio) {
  EXPECT_EQ(parse_policy("abs:1e-4").slots, 0);
  EXPECT_EQ(parse_policy("abs:1e-4,slots=off").slots, 0);
  EXPECT_EQ(parse_policy("abs:1e-4,slots=2.5").slots, 2.5);
  for (const char* const wrong : {"0.5", "-1", "nan", "inf", "1e999", "two", ""})
    EXPECT_NE(complaint(std::string("abs:1e-4,slots=") + wrong).find("use off or a ratio"), std::string::npos)
        << wrong;
}

TEST(Policy, ErrorsNameOptionColumnAndRemedy) {
  EXPECT_EQ(complaint("abs:1e-4,on=results"),
            "policy, column 13: option 'on' cannot be 'results'; use result, input or likely");
  EXPECT_EQ(
      complaint("abs:1e-4,size=3"),
      "policy, column 10: 'size' is not an option; the options are on, algorithm, reduction, nodes, "
      "segments, "
      "same_bits, history, history_bytes, min_bytes, when, sum, slots, codec, predictor, dims, fill, bits, "
      "threads and checksum");
  const std::string misspelled = complaint("abs:1e-4,codc=planes");
  EXPECT_TRUE(misspelled.ends_with("threads and checksum. Did you mean codec?")) << misspelled;
  for (const char* bound : {"aps:1e-4", "aps=1e-4", "absolute:1e-4", "Abs:1e-4"})
    EXPECT_TRUE(complaint(bound).ends_with(". Did you mean abs:1e-4?")) << complaint(bound);
  EXPECT_EQ(complaint("off=1e-4").find("Did you mean"), std::string::npos);
  EXPECT_EQ(complaint("abs=-1"), complaint("abs:-1"));
  EXPECT_EQ(complaint("abs:-1"),
            "policy, column 1: bound cannot be 'abs:-1'; give a bound above 0: abs:1e-4");
  EXPECT_EQ(
      complaint("1e-4"),
      "policy, column 1: bound cannot be '1e-4'; say what the number limits: abs:1e-4 (the error of a "
      "value), rel:1e-4 (its share of the value range) or pwrel:1e-4 (its share of the value); the forms "
      "are lossless, abs:E, rel:R, psnr:D, pwrel:R, rate:B, block:B or snap:E");
  EXPECT_EQ(complaint("abs:1,segments=65"),
            "policy, column 16: option 'segments' cannot be '65'; use auto or a number from 1 to 64");
  EXPECT_NE(complaint("abs:1,codec=zip").find("use auto or "), std::string::npos);
  for (const CodecInfo* codec : registered_codecs())
    EXPECT_NE(complaint("abs:1,codec=zip").find(std::string(" or ") + codec->name), std::string::npos);
  EXPECT_NE(complaint("abs:1,algorithm=rings").find("recursive_doubling"), std::string::npos);
}

TEST(Policy, AnOldSpellingIsReadAndNotShown) {
  for (const auto* const text : {"abs:1 , when = pays,codec=raw", "abs:1,min_bytes=0,when=pays"}) {
    const Policy old = parse_policy(text);
    std::string shown = text;
    shown.replace(shown.find("pays"), 4, "profitable");
    EXPECT_EQ(old.when, Policy::When::profitable);
    EXPECT_EQ(old.text, shown);
    EXPECT_EQ(parse_policy(shown).text, shown);
    EXPECT_TRUE(old.only_if_profitable());
  }
  EXPECT_EQ(parse_policy("abs:1,when=pays,when=pays,segments=2").text,
            "abs:1,when=profitable,when=profitable,segments=2");
  EXPECT_EQ(complaint("abs:1,when=pay"),
            "policy, column 12: option 'when' cannot be 'pay'; use auto, profitable or always");
  EXPECT_NE(complaint("abs:1,codec=pays"), "");
}

TEST(Policy, OptionsThatContradictEachOther) {
  EXPECT_NE(complaint("abs:1,codec=raw,reduction=frames").find("use reduction=values"), std::string::npos);
  EXPECT_NE(complaint("abs:1,algorithm=cpr_p2p,reduction=frames").find("use reduction=values"),
            std::string::npos);
  EXPECT_NE(complaint("lossless,codec=planes").find("does not serve this bound; use "), std::string::npos);
  EXPECT_NE(complaint("abs:1,fill=1e20").find("rel: and psnr:"), std::string::npos);
  EXPECT_NE(complaint("abs:1,predictor=psychic"), "");
  EXPECT_NE(complaint("abs:1,codec=planes,predictor=psychic").find("psychic"), std::string::npos);
}

}  // namespace
}  // namespace taut
