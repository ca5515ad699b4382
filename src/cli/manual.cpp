// taut manual: prints the manual page taut(1).
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <cstdio>

#include "cli/command.hpp"
#include "compressor/base/options.hpp"

namespace taut::cli {
namespace {

constexpr const char* details = "The page is in the language of troff: taut manual | man -l -\n\n";

// Returns text that troff prints as it is. A line break stays one.
std::string roff(std::string_view text) {
  std::string page;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) page += "\\&";
    if (c == '\\')
      page += "\\e";
    else if (c == '-')
      page += "\\-";
    else
      page += c;
    begins = c == '\n';
  }
  return page;
}

std::string section(const char* name) { return ".SH " + std::string(name) + "\n"; }

// Returns a paragraph with a bold heading and an indented text.
std::string entry(const std::string& heading, std::string_view text) {
  return ".TP\n.B " + roff(heading) + "\n" + roff(text) + "\n";
}

std::string text_of(const Option& option) {
  std::string heading = option.letter != 0 ? std::string("-") + option.letter + ", " : "";
  heading.append("--").append(option.name);
  if (!option.value.empty()) heading.append(option.may_lack_value() ? "" : " ").append(option.value);
  return entry(heading, option.help);
}

std::string text_of(const Command& command) {
  std::string text = ".SS taut " + roff(command.name) + " " + roff(command.synopsis) + "\n";
  text += roff(command.summary) + ".\n";
  for (const Option& option : command.options) text += text_of(option);
  std::string_view rest = command.details;
  while (rest.ends_with('\n')) rest.remove_suffix(1);
  return rest.empty() ? text : text + ".PP\n.nf\n" + roff(rest) + "\n.fi\n";
}

std::string text_of(const PythonCommand& command) {
  const std::string extra = command.extra[0] == 0 ? "" : " with its extra [" + roff(command.extra) + "]";
  return ".SS taut " + roff(command.name) + "\n" + roff(command.summary) +
         (command.is_alone ? ". Needs python3.\n" : ". In the Python package" + extra + ".\n");
}

std::string variables() {
  std::string text = section("ENVIRONMENT");
  for (const OptionInfo& option : known_options()) {
    const std::string_view value = option.default_value;
    const std::string otherwise = value.empty() ? "" : " (default " + std::string(value) + ")";
    text += entry(std::string(option.name) + "=" + option.type, option.summary + otherwise);
  }
  return text;
}

std::string version() {
  int major = 0, minor = 0, patch = 0;
  TAUT_Get_version(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

Exit run(const Arguments& arguments) {
  if (!arguments.names().empty())
    reject("'" + arguments.names()[0] + "' belongs to no option; manual takes no names");
  std::string page = ".TH TAUT 1 \"\" \"Taut " + version() + "\" \"User Commands\"\n";
  page += section("NAME") + "taut \\- " + roff(program_summary) + "\n";
  page += section("SYNOPSIS") + ".B taut\nCOMMAND [ARGUMENTS]\n" + section("COMMANDS");
  for (const Command* command : all_commands()) page += text_of(*command);
  for (const PythonCommand& command : python_commands()) page += text_of(command);
  page += variables() + section("EXIT STATUS") + roff(exit_codes);
  std::fputs(page.c_str(), stdout);
  return Exit::ok;
}

}  // namespace

extern constinit const Command manual_command{"manual", "print the manual page taut(1)", "", details, {},
                                              run};

}  // namespace taut::cli
