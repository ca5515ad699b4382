#include "compressor/frame/candidates.hpp"

#include <gtest/gtest.h>

namespace taut {
namespace {

using Kind = Bound::Kind;

TEST(Coding, EveryKindOfBoundIsRead) {
  EXPECT_EQ(parse_coding("lossless").bound, Bound());
  EXPECT_EQ(parse_coding("abs:1e-3").bound, Bound(Kind::absolute, 1e-3));
  EXPECT_EQ(parse_coding("rel:1e-3").bound, Bound(Kind::range, 1e-3));
  EXPECT_EQ(parse_coding("psnr:80").bound, Bound(Kind::psnr, 80));
}

TEST(Coding, ABoundMayHaveAnEqualsSign) {
  EXPECT_EQ(parse_coding(" abs = 1e-3 ,codec=raw"), parse_coding("abs:1e-3,codec=raw"));
  EXPECT_EQ(with_colon("rel=1e-3,fill=1e20"), "rel:1e-3,fill=1e20");
  for (const char* text : {"", "lossless,codec=raw", "codec=raw", "abs:1", ",", "absolute=1"})
    EXPECT_EQ(with_colon(text), text);
}

TEST(Coding, OptionsAreRead) {
  const Coding coding = parse_coding("rel:1e-2, codec=raw ,checksum=on,dims=3x400x500,fill=1e20");
  EXPECT_STREQ(coding.codec->name, "raw");
  EXPECT_TRUE(coding.checksum);
  EXPECT_EQ(coding.dims, (Dims{{3, 400, 500}, 3}));
  EXPECT_EQ(coding.fill, 1e20);
  EXPECT_EQ(parse_coding("abs:1,codec=auto").codec, nullptr);
}

TEST(Coding, ItIsNoPolicy) {
  for (const char* text : {"", "off", "codec=raw", "abs:1,on=input", "abs:1,segments=3"})
    EXPECT_THROW(parse_coding(text), Error) << text;
}

TEST(Coding, ExtentsThatAreNone) {
  for (const char* dims : {"", "0", "x", "3x", "x3", "3x0", "3x4x5x6x7", "3 x 4", "-1", "4294967296",
                           "4000000000x4000000000x4000000000"})
    EXPECT_THROW(parse_coding(std::string("abs:1,dims=") + dims), Error) << dims;
}

TEST(Coding, ItsTextIsReadAgain) {
  for (const char* text :
       {"lossless", "abs:0.001", "rel:0.01,fill=1e+20", "snap:0.5,codec=planes,predictor=delta+192+18432",
        "pwrel:0.001,predictor=d3+64,bits=exact,checksum=on", "rate:8,codec=zfp,dims=3x400x500",
        "abs:1,predictor=lorenzo3,dims=3x400x500,threads=1", "psnr:80,codec=planes,threads=7"}) {
    const Coding coding = parse_coding(text);
    EXPECT_EQ(parse_coding(text_of(coding)), coding) << text_of(coding);
    EXPECT_EQ(text_of(parse_coding(text_of(coding))), text_of(coding)) << text;
  }
  EXPECT_EQ(text_of(parse_coding(" abs:1e-3, codec=planes ,predictor=delta+1000+500")),
            "abs:0.001,codec=planes,predictor=delta+500+1000");
  EXPECT_NE(parse_coding("abs:1"), parse_coding("abs:1,predictor=delta"));
}

TEST(Coding, APredictorIsOneOfACodecThatServesTheBound) {
  const auto reason = [](const char* text) -> std::string {
    try {
      parse_coding(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(reason("abs:1,predictor=fourth")
                .find("column 17: option 'predictor' cannot be 'fourth'; use one of auto, "),
            std::string::npos)
      << reason("abs:1,predictor=fourth");
  for (const char* text :
       {"lossless,predictor=delta", "abs:1,predictor=d1", "abs:1,codec=szx,predictor=delta",
        "lossless,codec=raw,predictor=d1", "lossless,codec=mpc,predictor=pairs", "rate:8,predictor=none",
        "abs:1,predictor=lorenzo2", "abs:1,predictor=lorenzo3,dims=100x200", "abs:1,predictor=auto+64",
        "abs:1,predictor=lorenzo2+64,dims=100x200", "abs:1,predictor=delta+63", "abs:1,predictor="})
    EXPECT_NE(reason(text).find("; "), std::string::npos) << text << ": " << reason(text);
}

TEST(Coding, LagsFollowFromTheExtents) {
  const Coding coding = parse_coding("abs:1,predictor=lorenzo3,dims=15x40x90");
  EXPECT_EQ(candidates(coding, DType::f32, coding.bound).at(0).predictor, NamedPredictor("delta+90+3600"));
  const Coding exact = parse_coding("lossless,predictor=lorenzo2,dims=15x40x90");
  EXPECT_EQ(candidates(exact, DType::f32, exact.bound).at(0).predictor, NamedPredictor("d1+90"));
}

TEST(Candidates, ServeTheTypeUnderTheBound) {
  for (const char* text : {"lossless", "abs:1", "rel:0.1", "psnr:60"}) {
    const Coding coding = parse_coding(text);
    for (const DType type : {DType::f32, DType::f64}) {
      const Bound bound = resolved(coding.bound, {0, 1});
      const std::vector<Coding> all = candidates(coding, type, bound);
      ASSERT_FALSE(all.empty()) << text;
      for (const Coding& candidate : all) {
        EXPECT_TRUE(candidate.codec->serves(type, bound.kind));
        EXPECT_EQ(candidate.make()->contract().bound.exact(), bound.exact()) << text;
      }
    }
  }
}

TEST(Candidates, TheUsualCodecComesFirstAndNamesAreObeyed) {
  const auto first = [](const char* text) {
    const Coding coding = parse_coding(text);
    return candidates(coding, DType::f32, coding.bound)[0];
  };
  EXPECT_STREQ(first("abs:1").codec->name, "planes");
  EXPECT_STREQ(first("abs:1,codec=raw").codec->name, "raw");
  EXPECT_EQ(first("abs:1,predictor=none").predictor, "none");
}

// Values with a range of zero have nothing to lose; the named codec need not be lossless.
TEST(Candidates, ARangeOfZeroIsExact) {
  const Coding coding = parse_coding("rel:0.1,codec=planes,predictor=none");
  const std::vector<Coding> all = candidates(coding, DType::f32, resolved(coding.bound, {7, 7}));
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(all[0].make()->contract().bound.exact());
}

TEST(Candidates, AnotherCodecHasToGainSomething) {
  const CodecInfo a{}, b{};
  const Coding all[] = {{.codec = &a}, {.codec = &a}, {.codec = &b}};
  const auto best = [&](float p, float q, float other) {
    const float ratios[] = {p, q, other};
    return best_candidate(all, ratios);
  };
  EXPECT_EQ(best(5, 4, 5.2f), 0u);
  EXPECT_EQ(best(5, 5.1f, 5.2f), 1u);
  EXPECT_EQ(best(5, 4, 6), 2u);
  EXPECT_EQ(best(5, 5, 5), 0u);
}

}  // namespace
}  // namespace taut
