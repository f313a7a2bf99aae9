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

const CLI::App* command_named(const CLI::App& program, std::string_view name) {
  for (const auto* command : program.get_subcommands({})) {
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

Status take(const std::string& path, const toml::table& table, const CLI::App& command,
            Unknown unknown, std::vector<std::string>& arguments) {
  const std::vector<std::string> said = arguments;
  for (const auto& [name, value] : table) {
    const std::string key(name.str());
    const auto* option = command.get_option_no_throw("--" + key);
    if (option == nullptr || "--" + key == kOption || key == "help") {
      if (unknown == Unknown::kSkip) continue;
      return bad(place(path, value), "[" + command.get_name() + "] " + key + ": " +
                                         command.get_name() + " has no such option; verbatim " +
                                         command.get_name() + " --help lists them");
    }
    if (is_settled(*option, said)) continue;
    if (auto status = append(path, key, value, arguments); !status.ok()) return status;
  }
  return {};
}

}  // namespace

void add_config_options(CLI::App& program) {
  for (auto* command : program.get_subcommands({})) {
    // Read before the other options are: what CLI11 finds here has been used already.
    command
        ->add_option_function<std::string>(
            kOption, [](const std::string&) {},
            "TOML file with options, in a table [" + command->get_name() +
                "]; flags and environment come before it")
        ->envname(kVariable);
  }
}

Result<std::vector<std::string>> with_config(CLI::App& program, base::Files& files,
                                             std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  const auto* command = command_named(program, arguments[0]);
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
    auto status = take(*path, *table, *command, Unknown::kRefuse, arguments);
    if (!status.ok()) return status.error();
  }
  if (command->get_name() == "doctor") {
    if (const auto* table = root["serve"].as_table()) {
      auto status = take(*path, *table, *command, Unknown::kSkip, arguments);
      if (!status.ok()) return status.error();
    }
  }
  return arguments;
}

}  // namespace verbatim::cli
