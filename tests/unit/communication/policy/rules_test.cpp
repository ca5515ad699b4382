#include "communication/policy/plan/rules.hpp"

#include <gtest/gtest.h>

namespace taut {
namespace rules_test {

Rules line(const std::string& text) { return Rules(parse_rules_line({"TAUT_RULES", text})); }
Rules toml(const std::string& text) { return Rules(parse_rules_toml({"run.toml", text})); }

constexpr std::size_t MiB = std::size_t{1} << 20;

Call sum_of_f32(std::size_t bytes) {
  return {.collective = Collective::allreduce, .type = DType::f32, .op = Reduction::sum, .bytes = bytes};
}

std::string served_by(const Rules& rules, const Call& call) {
  const Policy* const policy = match(rules, call);
  return policy == nullptr ? "none" : policy->text;
}

std::string rejection(auto parse) {
  try {
    parse();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_policy);
    return error.what();
  }
  return "accepted";
}

// ---- Matching

TEST(Rules, TheFirstThatMatchesWins) {
  const Rules rules =
      line("Allreduce f32 sum >=1MiB : abs=1e-4 on=input ; Bcast,Allgather >=4MiB : lossless ; * : off");
  EXPECT_EQ(served_by(rules, sum_of_f32(MiB)), "abs:1e-4,on=input");
  EXPECT_EQ(served_by(rules, sum_of_f32(MiB - 1)), "none");
  Call call = sum_of_f32(4 * MiB);
  call.type = DType::f64;
  EXPECT_EQ(served_by(rules, call), "none");
  call.collective = Collective::bcast;
  EXPECT_EQ(served_by(rules, call), "lossless");
  call.collective = Collective::allgather;
  EXPECT_EQ(served_by(rules, call), "lossless");
  call.collective = Collective::alltoall;
  EXPECT_EQ(served_by(rules, call), "none");
  EXPECT_EQ(rules.min_bytes(), MiB);
}

// Rules apply to buffers that the user has not examined, so packed integers are kept exactly by default.
TEST(Rules, PackedIntegersAreExactUnlessARuleSaysOtherwise) {
  const auto bits = [](const Rules& rules) { return rules.all()[0].policy.coding.bits; };
  EXPECT_EQ(bits(line("* : abs=1")), PackedBits::exact);
  EXPECT_EQ(bits(line("* : abs=1 bits=rounded")), PackedBits::rounded);
  EXPECT_EQ(bits(toml("[[rule]]\ncall = \"Bcast\"\nbound = \"abs:1\"\n")), PackedBits::exact);
  EXPECT_EQ(parse_policy("abs:1").coding.bits, PackedBits::rounded);
  EXPECT_EQ(parse_policy("abs:1,bits=exact").coding.bits, PackedBits::exact);
}

TEST(Rules, MinimaAndMaximaMustBeNamed) {
  Call call = sum_of_f32(MiB);
  call.op = Reduction::max;
  EXPECT_EQ(served_by(line("* : abs=1"), call), "none");
  EXPECT_EQ(served_by(line("* : off ; * max : abs=1"), call), "none");
  EXPECT_EQ(served_by(line("* sum : abs=2 ; * min,max : abs=1"), call), "abs:1");
  call.collective = Collective::bcast;  // has no operator
  EXPECT_EQ(served_by(line("* sum,min,max : abs=1"), call), "none");
}

TEST(Rules, MessagesHaveRulesOfTheirOwn) {
  const Rules rules = line("Send f32 >=256KiB : abs=1 ; Allreduce : abs=2 ; * : off");
  Call message{.collective = Collective::send, .type = DType::f32, .bytes = 256 << 10};
  EXPECT_EQ(served_by(rules, message), "abs:1");
  EXPECT_EQ(served_by(rules, sum_of_f32(MiB)), "abs:2");
  message.type = DType::f64;
  EXPECT_EQ(served_by(rules, message), "none");
  EXPECT_EQ(served_by(line("* : abs=3"), message), "abs:3");
  EXPECT_EQ(served_by(line("Bcast : abs=3"), message), "none");
  EXPECT_TRUE(rules.all()[0].names(Collective::send));
  EXPECT_FALSE(rules.all()[1].names(Collective::send) || rules.all()[2].names(Collective::send));
  EXPECT_TRUE(line("Send : abs=1 ; * : off").off());  // off for collective calls
  EXPECT_EQ(line("Send >=1KiB : abs=1 ; * >=1MiB : abs=2").min_bytes(), MiB);
  EXPECT_EQ(toml("[[rule]]\ncall = \"Send\"\nbound = \"abs:1\"\n").all()[0].when.calls,
            rules.all()[0].when.calls);
}

TEST(Rules, SizesHaveEveryLimit) {
  EXPECT_EQ(served_by(line("* >1KiB : abs=1"), sum_of_f32(1024)), "none");
  EXPECT_EQ(served_by(line("* >1KiB : abs=1"), sum_of_f32(1025)), "abs:1");
  EXPECT_EQ(served_by(line("* <1KiB : abs=1"), sum_of_f32(1024)), "none");
  EXPECT_EQ(served_by(line("* <=1KiB : abs=1"), sum_of_f32(1024)), "abs:1");
  EXPECT_EQ(served_by(line("* >=1KiB <2KiB : abs=1"), sum_of_f32(2048)), "none");
  EXPECT_EQ(line("* >=4KiB : abs=1").all()[0].policy.min_bytes, 4096u);  // not Taut's own limit
  EXPECT_EQ(line("* : abs=1").all()[0].policy.min_bytes, Policy{}.min_bytes);
}

TEST(Rules, CommunicatorsChooseAmongThem) {
  const Rules rules = line(
      "* comm=name:halo : abs=1 ; * comm=world : abs=2 ; * comm=size:>=8 comm=size:<=9 : abs=3 ; * "
      "scope=inter : "
      "abs=4 ; * scope=intra : abs=5");
  const auto on = [&](const CommFacts& comm) { return served_by(rules.for_comm(comm), sum_of_f32(MiB)); };
  EXPECT_EQ(on({.name = "halo", .ranks = 2}), "abs:1");
  EXPECT_EQ(on({.ranks = 2, .world = true}), "abs:2");
  EXPECT_EQ(on({.ranks = 8}), "abs:3");
  EXPECT_EQ(on({.ranks = 10, .several_nodes = true}), "abs:4");
  EXPECT_EQ(on({.ranks = 7}), "abs:5");
  EXPECT_EQ(line("* comm=size:4 : abs=1").for_comm({.ranks = 4}).all().size(), 1u);
  EXPECT_TRUE(line("* comm=size:4 : abs=1").for_comm({.ranks = 5}).empty());
}

// ---- Properties that only some ranks know

TEST(Rules, TypesOfMovedDataAreOpenUntilRanksAgree) {
  const Rules rules = line("Bcast f32 : abs=1 ; Bcast : lossless");
  Call call{.collective = Collective::bcast, .type = DType::f32, .bytes = MiB};
  EXPECT_TRUE(rules.match(call).rank_dependent);
  EXPECT_FALSE(rules.match(call).off);
  call.type_agreed = true;
  EXPECT_FALSE(rules.match(call).rank_dependent);
  EXPECT_EQ(rules.match(call).rule->policy.text, "abs:1");
  EXPECT_FALSE(rules.match(sum_of_f32(MiB)).rank_dependent);  // reductions have one type
}

TEST(Rules, NothingIsOpenWhereAllIsOff) {
  Call call{.collective = Collective::bcast, .type = DType::f32, .bytes = MiB};
  EXPECT_TRUE(line("Bcast f32 : off ; Allreduce : abs=1").match(call).off);
  EXPECT_FALSE(line("Bcast f32 : off ; Bcast : abs=1").match(call).off);
}

TEST(Rules, UnknownSizesAreOpen) {
  Call call{.collective = Collective::gather, .type = DType::f32, .bytes = 12, .bytes_known = false};
  EXPECT_TRUE(line("Gather >=1MiB : abs=1").match(call).rank_dependent);
  EXPECT_FALSE(line("Gather : abs=1").match(call).rank_dependent);
}

TEST(Rules, CallSitesCountWhereAllRanksAreThere) {
  const Rules rules = line("* callsite=solve : abs=1 ; * : abs=2");
  EXPECT_TRUE(rules.need_callsites());
  Call call = sum_of_f32(MiB);
  EXPECT_TRUE(rules.match(call).rank_dependent);
  call.sites_agreed = true;
  EXPECT_EQ(rules.match(call).rule->policy.text, "abs:1");
  call.sites = 2;
  EXPECT_EQ(rules.match(call).rule->policy.text, "abs:2");
}

// A rank falls back at once only if all ranks do, whatever the types, sizes and call sites of the other ranks
// are.
TEST(Rules, WhatIsOffForOneIsOffForAll) {
  const Rules rules = line(
      "Bcast f32 : off ; Bcast f64 >=1KiB callsite=a : abs=1 ; Gather >1KiB : off ; Gather f32 : lossless ; "
      "Alltoall callsite=b : off ; * u8 : lossless");
  for (const Collective collective : all_collectives) {
    for (const bool known : {false, true}) {
      std::vector<bool> off;
      for (const DType type : {DType{}, DType::f32, DType::f64, DType::u8})
        for (const std::size_t bytes : {std::size_t{0}, std::size_t{4096}})
          for (const std::uint64_t sites : {0, 1, 2, 63}) {
            if ((known && bytes == 0) || (reduces(collective) && type != DType::u8)) continue;
            off.push_back(rules
                              .match({.collective = collective,
                                      .type = type,
                                      .bytes = bytes,
                                      .bytes_known = known,
                                      .sites = sites})
                              .off);
          }
      EXPECT_EQ(std::ranges::count(off, off[0]), std::ssize(off)) << name_of(collective);
    }
  }
}

TEST(Rules, APolicyIsARuleForAllCalls) {
  const Rules rules(parse_policy("abs:1e-3,min_bytes=8"));
  EXPECT_NE(rules.single_policy(), nullptr);
  EXPECT_EQ(rules.min_bytes(), 8u);
  Call call = sum_of_f32(8);
  call.op = Reduction::max;
  EXPECT_EQ(served_by(rules, call), "abs:1e-3,min_bytes=8");
  EXPECT_TRUE(Rules(Policy{}).off());
}

// ---- Texts

TEST(Rules, BothFormsSayTheSame) {
  const Rules one = line(
      "Allreduce,Reduce_scatter f64 sum >=256KiB <=1GiB comm=name:halo scope=inter callsite=libsolver.so : "
      "abs=1e-6 on=input codec=szx algorithm=ring segments=4 checksum=on ; * : off");
  const Rules two = toml(R"(
# comments
[[rule]]
call = ["Allreduce", "Reduce_scatter"]  # two
dtype = "f64"
op = "sum"
min_bytes = "256KiB"
max_bytes = 1073741824
comm = "name:halo"
scope = 'inter'
callsite = "libsolver.so"
bound = "abs:1e-6"
on = "input"
codec = "szx"
algorithm = "ring"
segments = 4
checksum = true

[[rule]]
bound = "off"
)");
  EXPECT_EQ(one.hash(), two.hash());
  ASSERT_EQ(two.all().size(), 2u);
  EXPECT_EQ(
      text_of(two.all()[0]),
      "Allreduce,Reduce_scatter f64 sum >=256KiB <=1GiB comm=name:halo scope=inter callsite=libsolver.so : "
      "abs:1e-6,on=input,codec=szx,algorithm=ring,segments=4,checksum=on");
  for (const Rule& rule : one.all()) EXPECT_EQ(text_of(line(text_of(rule)).all()[0]), text_of(rule));
}

TEST(Rules, LinesOfPythonAreCallSites) {
  const Rules rules = line("Bcast callsite=solver.py:41 : abs=1 ; * : off");
  EXPECT_EQ(rules.all()[0].when.callsite, "solver.py:41");
  EXPECT_EQ(text_of(line(text_of(rules.all()[0])).all()[0]), text_of(rules.all()[0]));
  EXPECT_NE(rejection([] {
              toml("[[rule]]\ncallsite = \"solver.py:\"\nbound = \"abs:1\"\n");
            }).find("solver.py:41)"),
            std::string::npos);
}

TEST(Rules, AnOldSpellingIsReadAndNotShown) {
  for (const Rules& rules :
       {line("Bcast : abs=1 when=pays segments=2"),
        toml("[[rule]]\ncall = \"Bcast\"\nbound = \"abs:1\"\nwhen = \"pays\"\nsegments = 2\n")}) {
    EXPECT_EQ(rules.all()[0].policy.when, Policy::When::profitable);
    EXPECT_EQ(rules.all()[0].policy.text, "abs:1,when=profitable,segments=2");
  }
}

TEST(Rules, FaultsArePointedAt) {
  EXPECT_EQ(
      rejection([] { line("Allreduce f33 : abs=1e-4"); }),
      "TAUT_RULES, column 11: 'f33' is no condition; use a type (f32), an operator (sum), a size (>=1MiB), "
      "comm=, scope= or callsite=, and a colon before the bound\n  Allreduce f33 : abs=1e-4\n            ^");
  EXPECT_EQ(rejection([] { toml("[[rule]]\nbound = \"abs:1\"\n  on = \"inputs\"\n"); }),
            "run.toml, line 3, column 8: option 'on' cannot be 'inputs'; use result, input or likely\n"
            "    on = \"inputs\"\n         ^");
}

struct Fault {
  const char *text, *start;
};

TEST(Rules, EveryFaultOfALineHasItsColumn) {
  for (const auto& [text, start] : std::initializer_list<Fault>{
           {"Allreduce abs=1", "TAUT_RULES, column 1: the rule has no ' : '"},
           {"Allreduce :", "TAUT_RULES, column 11: the rule has no bound"},
           {" : abs=1", "TAUT_RULES, column 2: the rule names no call"},
           {"* : abs=1 ; Bcst : off", "TAUT_RULES, column 13: 'Bcst' is no call"},
           {"Iallreduce : off",
            "TAUT_RULES, column 1: 'Iallreduce' is no call that rules know; use Allreduce,"},
           {"MPI_Alltoallv : off",
            "TAUT_RULES, column 1: 'MPI_Alltoallv' is no call that rules know; use Alltoall,"},
           {"Isend : off", "TAUT_RULES, column 1: 'Isend' is no call that rules know; use Send for messages"},
           {"* >=1MB : off", "TAUT_RULES, column 5: option 'bytes' cannot be '1MB'; give a size"},
           {"* >=2MiB <1MiB : off", "TAUT_RULES, column 1: no message is of a size"},
           {"* f32 f64 : off", "TAUT_RULES, column 7: 'dtype' is there twice"},
           {"* f32,x : off", "TAUT_RULES, column 7: 'x' cannot stand here"},
           {"* comm=halo : off", "TAUT_RULES, column 8: 'halo' cannot stand here; use world"},
           {"* comm=size:x : off", "TAUT_RULES, column 8: 'size:x' cannot stand here; give a number"},
           {"* scope=node : off", "TAUT_RULES, column 9: 'node' cannot stand here; use inter"},
           {"* : abs=x", "TAUT_RULES, column 5: bound cannot be 'abs:x'"},
           {"* : 1e-4", "TAUT_RULES, column 5: bound cannot be '1e-4'"},
           {"* : abs=1 input", "TAUT_RULES, column 11: 'input' is no option"},
           {"* : abs=1 codec=nosuch", "TAUT_RULES, column 17: option 'codec' cannot be 'nosuch'"},
           {"* : abs=1 codex=szx", "TAUT_RULES, column 11: 'codex' is not an option"},
           {"* : pwrel=1e-3 on=likely", "TAUT_RULES, column 5: policy: on=likely needs"},
           {"* : abs=1 on=input on=result", "TAUT_RULES, column 20: 'on' is there twice"},
       })
    EXPECT_TRUE(rejection([text = text] { line(text); }).starts_with(start))
        << text << "\n"
        << rejection([text = text] { line(text); });
}

TEST(Rules, EveryFaultOfAFileHasItsPlace) {
  const std::string head = "[[rule]]\n";
  for (const auto& [text, start] : std::initializer_list<Fault>{
           {"bound = \"off", "run.toml, line 2, column 9: this string has no end"},
           {"bound : \"off\"", "run.toml, line 2, column 7: a = should stand here"},
           {"bound = off",
            "run.toml, line 2, column 9: 'off' is no value that is read here; put it in quotes"},
           {"bound.x = 1", "run.toml, line 2, column 6: keys with points"},
           {"bound = {}", "run.toml, line 2, column 9: inline tables"},
           {"bound = \"\"\"off\"\"\"", "run.toml, line 2, column 9: strings over several lines"},
           {"call = [\"Bcast\"", "run.toml, line 2, column 8: this array has no end"},
           {"call = [1]", "run.toml, line 2, column 9: arrays are of strings"},
           {"call = []\nbound=\"off\"", "run.toml, line 2, column 1: an empty list"},
           {"bound = [\"off\"]", "run.toml, line 2, column 1: 'bound' takes one value"},
           {"segments = 0x10", "run.toml, line 2, column 12: '0x10' is no value"},
           {"on = \"input\"", "run.toml, line 1, column 3: the rule has no bound"},
           {"[run]", "run.toml, line 2, column 1: tables are written [[rule]]"},
           {"[[rules]]", "run.toml, line 1, column 3: the rule has no bound"},
           {"bound = \"off\" on = 1", "run.toml, line 2, column 15: the line should end here"},
           {"bound = \"off\"\nbound = \"off\"", "run.toml, line 3, column 1: 'bound' is there twice"},
           {"bound = \"\\u0041\"", "run.toml, line 2, column 10: this escape"},
           {"bound = \"off\"\nname = \"x\"", "run.toml, line 3, column 1: 'name' is not an option"},
       })
    EXPECT_TRUE(rejection([&, text = text] { toml(head + text); }).starts_with(start))
        << text << "\n"
        << rejection([&, text = text] { toml(head + text); });
  EXPECT_TRUE(
      rejection([] { toml("bound = \"off\"\n"); }).starts_with("run.toml, line 1, column 1: this key"));
}

TEST(Rules, ThereIsALimit) {
  std::string text;
  for (int i = 0; i < 64; ++i) text += "* : off ;";
  EXPECT_EQ(line(text).all().size(), 64u);
  EXPECT_NE(rejection([&] { line(text + "* : off"); }).find("more than 64 rules"), std::string::npos);
}

TEST(Rules, LongLinesAndControlCharactersAreShownWithCare) {
  std::string text(500, ' ');
  text += "\x1b[31m";
  text.append(300, 'x');
  const std::string told = rejection([&] { line(text); });
  EXPECT_EQ(told.find('\x1b'), std::string::npos);
  EXPECT_NE(told.find("column 501"), std::string::npos);
  EXPECT_LT(told.size(), 900u);
}

}  // namespace rules_test
}  // namespace taut
