#include "cli/config_file.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace verbatim::cli {
namespace {

using base::Result;
using base::Status;

constexpr const char* kOption = "--config";
constexpr const char* kVariable = "VERBATIM_CONFIG";
constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 20;

base::Error bad(const std::string& where, const std::string& what) {
  return base::invalid(kOption, where + ": " + what);
}

CLI::App* command_named(CLI::App& program, std::string_view name) {
  for (auto* command : program.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::string place(const std::string& path, const toml::node& node) {
  return path + ":" + std::to_string(node.source().begin.line);
}

bool says(const std::vector<std::string>& arguments, const std::string& option) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == option || argument.starts_with(option + "=");
  });
}

std::optional<std::string> path_in(const std::vector<std::string>& arguments) {
  const std::string with_value = std::string(kOption) + "=";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kOption && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].starts_with(with_value)) return arguments[i].substr(with_value.size());
  }
  const char* variable = std::getenv(kVariable);
  if (variable == nullptr || *variable == '\0') return std::nullopt;
  return variable;
}

// A command, and the one of its own that `arguments` name, which has options too.
struct Chosen {
  CLI::App* command = nullptr;
  CLI::App* options = nullptr;
};

Chosen chosen_by(CLI::App& program, const std::vector<std::string>& arguments) {
  Chosen chosen;
  chosen.command = chosen.options = command_named(program, arguments[0]);
  if (chosen.command == nullptr || arguments.size() < 2) return chosen;
  if (auto* own = command_named(*chosen.command, arguments[1])) chosen.options = own;
  return chosen;
}

// Said already, by whatever name, or in the environment.
bool is_settled(const CLI::Option& option, const std::vector<std::string>& arguments) {
  for (const auto& name : option.get_lnames()) {
    if (says(arguments, "--" + name)) return true;
  }
  const char* variable =
      option.get_envname().empty() ? nullptr : std::getenv(option.get_envname().c_str());
  return variable != nullptr && *variable != '\0';
}

std::optional<std::string> text_of(const toml::node& value) {
  if (const auto text = value.value_exact<std::string>()) return *text;
  if (const auto number = value.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = value.value_exact<bool>()) return *flag ? "true" : "false";
  if (!value.is_floating_point()) return std::nullopt;
  std::ostringstream out;
  out << toml::node_view(value);
  return out.str();
}

Status append(const std::string& path, const std::string& key, const toml::node& value,
              std::vector<std::string>& arguments) {
  if (const auto* list = value.as_array()) {
    for (const auto& each : *list) {
      const auto text = text_of(each);
      if (!text) return bad(place(path, each), key + ": expected strings or numbers in the list");
      arguments.push_back("--" + key + "=" + *text);
    }
    return {};
  }
  const auto text = text_of(value);
  if (!text) return bad(place(path, value), key + ": expected a string, a number, true or false");
  arguments.push_back("--" + key + "=" + *text);
  return {};
}

enum class Unknown { kRefuse, kSkip };

Status take(const std::string& path, const toml::table& table, const std::string& command,
            const CLI::App& options, Unknown unknown, std::vector<std::string>& arguments) {
  const std::vector<std::string> said = arguments;
  for (const auto& [name, value] : table) {
    const std::string key(name.str());
    const auto* option = options.get_option_no_throw("--" + key);
    if (option == nullptr || "--" + key == kOption || key == "help") {
      if (unknown == Unknown::kSkip) continue;
      std::string what = "[";
      what.append(command).append("] ").append(key).append(": ").append(command).append(
          " has no such option; verbatim ");
      return bad(place(path, value), what.append(command).append(" --help lists them"));
    }
    if (is_settled(*option, said)) continue;
    if (auto status = append(path, key, value, arguments); !status.ok()) return status;
  }
  return {};
}

// Read before the other options are: what CLI11 finds here has been used already.
void add_option(CLI::App& command, const std::string& table) {
  command
      .add_option_function<std::string>(
          kOption, [](const std::string&) {},
          "TOML file with options, in a table " + table + "; flags and environment come before it")
      ->envname(kVariable);
}

// Does the command also take from [serve] what both know? Of a store, both or neither of its
// options: a directory of one place and a file of another would not go together.
bool shares_with_serve(const CLI::App& command, const CLI::App& options,
                       const std::vector<std::string>& arguments) {
  if (command.get_name() == "doctor") return true;
  if (command.get_name() != "store" || &options == &command) return false;
  return !is_settled(*options.get_option("--store"), arguments) &&
         !is_settled(*options.get_option("--data-dir"), arguments);
}

}  // namespace

void add_config_options(CLI::App& program) {
  for (auto* command : program.get_subcommands({})) {
    const std::string table = "[" + command->get_name() + "]";
    add_option(*command, table);
    for (auto* own : command->get_subcommands({})) add_option(*own, table);
  }
}

Result<std::vector<std::string>> with_config(CLI::App& program, base::Files& files,
                                             std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  const auto [command, options] = chosen_by(program, arguments);
  const auto path = path_in(arguments);
  if (command == nullptr || !path) return arguments;
  const auto text = files.read(*path, kMaxFile);
  if (!text) return bad(*path, text.error().message);
  const auto parsed = toml::parse(std::string_view(*text), std::string_view(*path));
  if (!parsed) {
    const auto& error = parsed.error();
    return bad(*path + ":" + std::to_string(error.source().begin.line),
               std::string(error.description()));
  }
  const toml::table& root = parsed.table();
  for (const auto& [name, value] : root) {
    const std::string key(name.str());
    if (!value.is_table()) {
      return bad(place(*path, value), key +
                                          " stands outside a table: options go into [serve], or "
                                          "the table of another command");
    }
    if (command_named(program, key) == nullptr)
      return bad(place(*path, value), "[" + key + "]: there is no command of that name");
  }
  if (const auto* table = root[command->get_name()].as_table()) {
    auto status = take(*path, *table, command->get_name(), *options, Unknown::kRefuse, arguments);
    if (!status.ok()) return status.error();
  }
  if (shares_with_serve(*command, *options, arguments)) {
    if (const auto* table = root["serve"].as_table()) {
      auto status = take(*path, *table, command->get_name(), *options, Unknown::kSkip, arguments);
      if (!status.ok()) return status.error();
    }
  }
  return arguments;
}

}  // namespace verbatim::cli
