// Fuzz target: any text as a report, for the readers of JSON and of reports, as a variable of the
// environment, and as the coding and policy texts of taut.h's calls. A text is read, or refused with words.
//
//   kind u8 | text
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "cli/jobs/json_reader.hpp"
#include "cli/jobs/report_reader.hpp"
#include "compressor/base/options.hpp"
#include "compressor/file/failure.hpp"
#include "expect.hpp"
#include "input.hpp"

namespace taut::fuzz {
namespace {

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

std::size_t depth_of(const cli::Json& json) {
  std::size_t most = 0;
  for (const cli::Json& item : json.items) most = std::max(most, 1 + depth_of(item));
  for (const auto& [name, member] : json.members) most = std::max(most, 1 + depth_of(member));
  return most;
}

void read_report(const std::string& text) {
  const int descriptor = memfd_create("report", MFD_CLOEXEC);
  expect(descriptor >= 0 && write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
         "the input is in a file");
  refused_or([&] {
    const cli::SeenProgram seen = cli::read_reports({"/proc/self/fd/" + std::to_string(descriptor)});
    expect(seen.ranks >= 1 && seen.files == 1, "a report is that of a rank");
  });
  close(descriptor);
}

void read_variable(const std::string& text) {
  const std::string entry = "TAUT" + text;
  const char* const environment[] = {entry.c_str()};
  const Options read = read_options(environment);
  expect(read.threads >= 1 && read.warnings.size() <= 1, "a variable is understood, or warned of");
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut;
  using namespace taut::fuzz;
  Input input(data, size);
  const auto kind = input.take<std::uint8_t>();
  const std::string text(reinterpret_cast<const char*>(input.rest().data()), input.rest().size());
  switch (kind % 3) {
    case 0:
      refused_or([&] { expect(depth_of(cli::read_json("input", text)) <= 32, "no deeper than that"); });
      break;
    case 1: read_report(text); break;
    default: read_variable(text);
  }
  return 0;
}
