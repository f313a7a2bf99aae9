#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/config_file.h"

namespace {

std::string no_command(const std::string& word) {
  return "there is no command \"" + word + "\"; verbatim --help lists them";
}

// What is wrong with the command line, where CLI11 says less or something else: an option with a
// slip of the pen is told before the option that is missing because of it.
std::string explain(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  const auto unknown = program.remaining(true);
  if (chosen.empty())
    return unknown.empty() ? "no command given; verbatim --help lists them"
                           : no_command(unknown.front());
  if (unknown.empty()) return "";
  return chosen.front()->get_name() + " does not take \"" + unknown.front() + "\"; verbatim " +
         chosen.front()->get_name() + " --help lists the options";
}

// Asking for help with a command that isn't there gets the help of all, if CLI11 is let.
bool is_no_command(CLI::App& program, const std::string& word) {
  const auto commands = program.get_subcommands({});
  return !word.starts_with('-') &&
         std::none_of(commands.begin(), commands.end(),
                      [&](const CLI::App* command) { return command->get_name() == word; });
}

}  // namespace

int main(int argc, char** argv) {
  using namespace verbatim::cli;
  CLI::App program{
      "verbatim: a gateway that drives inference engines by token ids and records every token"};
  program.require_subcommand(1);
  program.set_version_flag("--version", "verbatim " VERBATIM_VERSION);
  program.name("verbatim");
  program.footer(
      "Each command explains itself: verbatim COMMAND --help\n"
      "Example: verbatim serve --engine http://127.0.0.1:30000 --tokenizer models/qwen3");

  constexpr std::array<AddCommand, 12> kCommands{add_serve,  add_doctor, add_sim,   add_encode,
                                                 add_decode, add_render, add_parse, add_export,
                                                 add_audit,  add_demo,   add_store, add_cassette};
  std::vector<std::pair<CLI::App*, Run>> commands;
  for (const auto add : kCommands) {
    Run run = add(program);
    commands.emplace_back(program.get_subcommands({}).back(), std::move(run));
  }
  add_config_options(program);
  if (argc > 1 && is_no_command(program, argv[1]))
    return static_cast<int>(usage(no_command(argv[1])));
  auto arguments = with_config(program, *verbatim::base::system_files(), {argv + 1, argv + argc});
  if (!arguments) return static_cast<int>(usage(arguments.error().message));
  std::reverse(arguments->begin(), arguments->end());  // as the library takes them
  try {
    program.parse(std::move(*arguments));
  } catch (const CLI::ParseError& problem) {
    if (const int code = problem.get_exit_code(); code != 0) {
      if (const auto what = explain(program); !what.empty()) return static_cast<int>(usage(what));
    }
    const int code = program.exit(problem);
    return code == 0 ? 0 : static_cast<int>(Exit::kUsage);
  }
  for (const auto& [app, run] : commands) {
    if (app->parsed()) return static_cast<int>(run());
  }
  return static_cast<int>(Exit::kUsage);
}
