// taut completion: prints the script by which a shell completes commands and options.
#include <cstdio>

#include "cli/command.hpp"

namespace taut::cli {
namespace {

constexpr const char* details =
    "Bash:  taut completion bash > ~/.local/share/bash-completion/completions/taut\n"
    "Zsh:   taut completion zsh > a folder of $fpath/_taut\n"
    "Fish:  taut completion fish > ~/.config/fish/completions/taut.fish\n\n";

constexpr Option help_option{"help", 'h', "", "what the command does, and its options"};

// Returns the text up to its first line break, with a backslash before each of `special`, quoted for a shell.
std::string quoted(std::string_view text, std::string_view special = "") {
  std::string word = "'";
  for (const char c : text.substr(0, text.find('\n'))) {
    if (special.find(c) != std::string_view::npos) word += '\\';
    c == '\'' ? word.append("'\\''") : word.append(1, c);
  }
  return word + "'";
}

// Calls `visit(name, summary)` for each command, also those of the Python package.
void each_command(auto visit) {
  for (const Command* command : all_commands()) visit(command->name, command->summary);
  for (const PythonCommand& command : python_commands()) visit(command.name, command.summary);
}

// Calls `visit(option)` for each option of a command, and for --help.
void each_option(const Command& command, auto visit) {
  for (const Option& option : command.options) visit(option);
  visit(help_option);
}

std::string bash() {
  std::string names, cases;
  each_command([&](const char* name, const char*) { names.append(name).append(" "); });
  for (const Command* command : all_commands()) {
    cases.append("    ").append(command->name).append(") options='");
    each_option(*command, [&](const Option& option) { cases.append("--").append(option.name).append(" "); });
    cases.back() = '\'';
    cases.append(" ;;\n");
  }
  return "# Completion of the program taut, for bash.\n_taut() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} options=--help\n  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n    mapfile -t COMPREPLY < <(compgen -W '" +
         names + "--help --version' -- \"$word\")\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n" + cases +
         "  esac\n  case $word in\n    -*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") "
         ";;\n"
         "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n  esac\n}\n"
         "complete -o filenames -F _taut taut\n";
}

std::string zsh() {
  std::string names, cases;
  each_command([&](const char* name, const char* summary) {
    names.append("    ").append(quoted(std::string(name) + ":" + summary)).append("\n");
  });
  for (const Command* command : all_commands()) {
    cases.append("    ").append(command->name).append(")\n      _arguments \\\n");
    each_option(*command, [&](const Option& option) {
      const std::string help = quoted(option.help, "[]:");
      cases.append("        --").append(option.name).append(option.may_lack_value() ? "" : "=").append("'[");
      cases.append(help.substr(1, help.size() - 2)).append("]");
      if (!option.may_lack_value()) cases.append(":").append(option.value).append(":_files");
      cases.append("' \\\n");
    });
    cases.append("        '*:file:_files' ;;\n");
  }
  return "#compdef taut\n# Completion of the program taut, for zsh.\n_taut() {\n  local -a commands\n"
         "  commands=(\n" +
         names +
         "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n" +
         cases + "    *) _files ;;\n  esac\n}\n_taut \"$@\"\n";
}

std::string fish() {
  std::string text = "# Completion of the program taut, for fish.\n";
  each_command([&](const char* name, const char* summary) {
    text.append("complete -c taut -f -n __fish_use_subcommand -a ").append(name).append(" -d ");
    text.append(quoted(summary)).append("\n");
  });
  for (const Command* command : all_commands())
    each_option(*command, [&](const Option& option) {
      text.append("complete -c taut -n '__fish_seen_subcommand_from ").append(command->name).append("' -l ");
      text.append(option.name);
      if (option.letter != 0) text.append(" -s ").append(1, option.letter);
      if (!option.may_lack_value()) text.append(" -r");
      text.append(" -d ").append(quoted(option.help)).append("\n");
    });
  return text;
}

Exit run(const Arguments& arguments) {
  const std::string& shell = arguments.only_name("SHELL");
  const auto script = shell == "bash" ? bash : shell == "zsh" ? zsh : shell == "fish" ? fish : nullptr;
  if (script == nullptr) reject("'" + shell + "' is no shell known here; use bash, zsh or fish");
  std::fputs(script().c_str(), stdout);
  return Exit::ok;
}

}  // namespace

extern constinit const Command completion_command{
    "completion", "print a shell's script that completes commands and options", "bash|zsh|fish", details, {},
    run};

}  // namespace taut::cli
