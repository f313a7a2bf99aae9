#include <cstdio>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/command.h"
#include "cli/store_exchange.h"
#include "cli/store_options.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/tools.h"

namespace verbatim::cli {
namespace {

using store::sqlite::ToolTarget;

base::Result<ToolTarget> target_of(base::Files& files, const StoreOptions& options) {
  auto path = store_path(options);
  if (!path) return std::move(path).error();
  if (path->empty())
    return base::invalid("--store",
                         "a store in memory has no file; expected sqlite or sqlite:FILE");
  return ToolTarget{files, std::move(*path), ""};
}

// Of a file that can't be read as a store at all.
Exit fail_at(base::Error error) {
  if (error.kind == base::ErrorKind::kInternal)
    error.message += "; restore a copy of it, or name another file";
  return fail(error);
}

Exit check(const ToolTarget& target) {
  const auto report = store::sqlite::check_file(
      target, [](std::uint64_t sessions) { say(std::to_string(sessions) + " sessions"); });
  if (!report) return fail_at(report.error());
  for (const auto& problem : report->problems) print_line(problem);
  print_line(target.path + ": " + std::to_string(report->sessions) + " sessions, " +
             std::to_string(report->turns) + " turns, " + std::to_string(report->tokens) +
             " tokens, " + std::to_string(report->problems.size()) + " problems");
  return report->problems.empty() ? Exit::kOk : Exit::kFailed;
}

Exit migrate(const ToolTarget& target) {
  StoreOptions options;
  options.store = "sqlite:" + target.path;
  auto home = StoreHome::open(target.files, options, StoreHome::Open::kMigrate);
  if (!home) return fail(home.error());
  print_line(target.path + ": schema version " + std::to_string(store::sqlite::kSchemaVersion) +
             ", was " + std::to_string((*home)->database()->schema_found()));
  return Exit::kOk;
}

Exit compact(const ToolTarget& target) {
  const auto compacted = store::sqlite::compact_file(target);
  if (!compacted) return fail_at(compacted.error());
  print_line(target.path + ": " + std::to_string(compacted->after) + " bytes, was " +
             std::to_string(compacted->before));
  return Exit::kOk;
}

struct Tool {
  const char* name;
  const char* description;
  Exit (*run)(const ToolTarget& target);  // or:
  Exit (*exchange)(const ToolTarget& target, const std::string& file) = nullptr;
};
constexpr Tool kTools[] = {
    {"check", "reads all of a store and says what is wrong; exit 1 when something is", check},
    {"migrate", "brings a store to the schema of this version; save a copy before", migrate},
    {"compact", "gives back the room of deleted sessions", compact},
    {"export", "writes all of a store to a file of lines, its key included", nullptr, export_store},
    {"import", "puts an export into a store: all of it, or nothing", nullptr, import_store},
};

constexpr const char* kExits =
    "A store in memory has no file to look after.\n"
    "Exit: 0 done, nothing is wrong; 1 something is wrong with the store, or it is in use or not "
    "there; 2 options that can't be";

}  // namespace

Run add_store(CLI::App& program) {
  auto* command = program.add_subcommand("store", "looks after a store that nobody serves");
  auto options = std::make_shared<StoreOptions>();
  auto chosen = std::make_shared<const Tool*>(nullptr);
  auto file = std::make_shared<std::string>();
  command->require_subcommand(1);
  for (const auto& tool : kTools) {
    auto* sub = command->add_subcommand(tool.name, tool.description);
    options->add(*sub);
    if (tool.exchange != nullptr)
      sub->add_option("FILE", *file, "file of the export; - for standard output or input")
          ->required();
    sub->footer(std::string("Example: verbatim store ") + tool.name +
                (tool.exchange == nullptr ? "" : " conversations.jsonl") +
                " --store sqlite:conversations.db\n" + kExits);
    sub->callback([chosen, &tool] { *chosen = &tool; });
  }
  command->footer("Example: verbatim store check --store sqlite:conversations.db");
  return [options, chosen, file] {
    const auto files = base::system_files();
    const auto target = target_of(*files, *options);
    if (!target) return fail(target.error(), Exit::kUsage);
    const Tool& tool = **chosen;
    return tool.exchange == nullptr ? tool.run(*target) : tool.exchange(*target, *file);
  };
}

}  // namespace verbatim::cli
