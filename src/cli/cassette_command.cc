#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

#include "cassette/cassette_files.h"
#include "cli/cassette_servers.h"
#include "cli/command.h"

namespace verbatim::cli {
namespace {

Exit validate(const std::vector<std::string>& paths) {
  const auto files = base::system_files();
  const auto found = cassette::validate(*files, paths);
  if (!found) return fail(found.error());
  for (const auto& problem : found->problems) print_line(problem);
  print_line(std::to_string(found->cassettes) + " cassettes, " + std::to_string(found->turns) +
             " turns, " + std::to_string(found->problems.size()) + " problems");
  return found->problems.empty() ? Exit::kOk : Exit::kFailed;
}

template <class Options>
void add_address(CLI::App& command, Options& options) {
  command.add_option("--host", options.host, "address to listen on")->capture_default_str();
  command.add_option("--port", options.port, "port to listen on, 0 for a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
}

// What the chosen one of the commands below runs.
using Chosen = std::shared_ptr<Run>;

void add_record(CLI::App& parent, const Chosen& chosen) {
  auto* command = parent.add_subcommand(
      "record", "stands in front of an engine, passes all on, and writes what crosses to FILE");
  auto options = std::make_shared<RecordCassetteOptions>();
  command->add_option("FILE", options->file, "the cassette; must not be there")->required();
  command->add_option("--engine", options->engine, "URL of the engine")->required();
  add_address(*command, *options);
  command
      ->add_option("--provider", options->provider,
                   "NAME=VALUE: what is said of the engine in the cassette (name, version, model, "
                   "recorded)")
      ->take_all();
  command->add_flag("--all-methods", options->all_methods,
                    "record every request (default: POST, the others are passed on)");
  command->add_flag("--once", options->once, "record a request that comes again only once");
  command->footer(
      "Of headers only those are recorded that say how a body is written; of keys, cookies and\n"
      "accounts nothing is. Bodies are recorded whole: look at them before you share the file.\n"
      "The file holds each turn as soon as its answer has ended. SIGINT or SIGTERM ends the\n"
      "recording; exit code 1 when something could not be recorded, or nothing was asked.\n"
      "Example: verbatim cassette record turn.yaml --engine http://127.0.0.1:8000 --provider "
      "name=dynamo\n"
      "Example: verbatim cassette record start.yaml --engine http://127.0.0.1:8000 --all-methods "
      "--once");
  command->callback(
      [options, chosen] { *chosen = [options] { return record_cassette(*options); }; });
}

void add_replay(CLI::App& parent, const Chosen& chosen) {
  auto* command = parent.add_subcommand(
      "replay", "answers as the engine did when it was recorded, in the order of the recording");
  auto options = std::make_shared<ReplayCassetteOptions>();
  command
      ->add_option("CASSETTE", options->cassettes,
                   "files, or directories of them; one after the other")
      ->required();
  command
      ->add_option("--standing", options->standing,
                   "a cassette whose turns are answered at any time, as often as asked")
      ->take_all();
  command
      ->add_option("--ignore", options->ignored,
                   "a member of the body's top level that is not compared")
      ->take_all();
  command->add_option("--log", options->log,
                      "file for a line per request: what was asked, which turn answered it");
  add_address(*command, *options);
  command->footer(
      "A request must be the next one of the recording: method, path, query and body (keys in any\n"
      "order, null as absent, a string as input as the message it stands for). Any other is\n"
      "answered 409. At the end (SIGINT or SIGTERM) unexpected requests and turns that nobody\n"
      "asked for are told, and make the exit code 1.\n"
      "Example: verbatim cassette replay tests/cassettes/dynamo-1.6.1/"
      "dynamo-stateful-openai-gpt-oss-20b-streaming.yaml\n"
      "Example: verbatim cassette replay turn.yaml --standing start.yaml --ignore metadata");
  command->callback(
      [options, chosen] { *chosen = [options] { return replay_cassettes(*options); }; });
}

void add_validate(CLI::App& parent, const Chosen& chosen) {
  auto* command = parent.add_subcommand(
      "validate", "checks cassettes by every rule of their format; errors name file and line");
  auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("PATH", *paths, "files, or directories with cassettes below them")
      ->required();
  command->footer(
      "Exit code 1 when a rule is broken, or there is no cassette.\n"
      "Example: verbatim cassette validate tests/cassettes");
  command->callback([paths, chosen] { *chosen = [paths] { return validate(*paths); }; });
}

}  // namespace

Run add_cassette(CLI::App& program) {
  auto* command = program.add_subcommand(
      "cassette", "records traffic with an engine, replays it without one, checks recordings");
  command->require_subcommand(1);
  auto chosen = std::make_shared<Run>();
  add_record(*command, chosen);
  add_replay(*command, chosen);
  add_validate(*command, chosen);
  command->footer("Example: verbatim cassette validate tests/cassettes");
  return [chosen] { return (*chosen)(); };
}

}  // namespace verbatim::cli
