#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/engine_options.h"

namespace verbatim::cli {
namespace {

void print(const char* what, const std::string& value) {
  std::printf("%-10s %s\n", what, value.c_str());
}

std::string first_of(const engine::Kind& kind) {
  return "the first mode of " + std::string(kind.product);
}

// Why this mode: asked for, or the first that there is.
void print_mode(const engine::Choice& asked, const engine::Choice& choice) {
  const auto* kind = engine::find_kind(choice.kind);
  const auto* mode = engine::find_mode(*kind, choice.mode);
  print("kind",
        std::string(kind->name) + (asked.kind == "auto" ? " (as it shows itself)" : " (as told)"));
  print("mode", std::string(mode->name) + " (" +
                    (asked.mode.empty() ? first_of(*kind) : std::string("as told")) + "): POST " +
                    std::string(mode->route) + ", from release " + std::string(mode->since) +
                    " on");
}

void print_models(const engine::Identity& identity) {
  for (const auto& model : identity.models) {
    print("model",
          model.id + (model.max_model_len == 0
                          ? ", context not said"
                          : ", context " + std::to_string(model.max_model_len) + " tokens"));
  }
}

Exit run(const EngineOptions& options) {
  auto all = options.choices("");
  if (!all.ok()) return usage(all.error().message);
  if (all->size() > 1)
    return usage("--engine: one at a time, found " + std::to_string(all->size()));
  const auto* asked = &all->front();
  print("engine", net::host_field(asked->url.endpoint) + asked->url.base_path);
  auto found = inspect_engine(*asked);
  if (!found.ok()) {
    return fail(found.error(),
                found.error().kind == base::ErrorKind::kUnsupported ? Exit::kUsage : Exit::kFailed);
  }
  if (!found->reached) {
    return fail(base::error(base::ErrorKind::kUnavailable,
                            "nothing answers at " + net::host_field(asked->url.endpoint) +
                                ": is the server up, and does it listen on that address?"));
  }
  for (const auto& line : found->identity.evidence) print("found", line);
  if (!found->identity.release.empty()) print("release", found->identity.release);
  print_models(found->identity);
  print_mode(*asked, found->choice);
  if (engine::find_kind(found->choice.kind)->path() == engine::Path::kMessages) {
    print("ids", "not sent: it is driven by messages, and tokens can't be exact");
    return Exit::kOk;
  }
  if (!found->ids.ok()) {
    print("ids", "not shown to be read");
    const bool never = found->ids.error().kind == base::ErrorKind::kUnsupported;
    return fail(found->ids.error(), never ? Exit::kUsage : Exit::kFailed);
  }
  print("ids", "read as they are sent");
  return Exit::kOk;
}

}  // namespace

Run add_doctor(CLI::App& program) {
  auto* command = program.add_subcommand(
      "doctor", "what an engine is, how it would be driven, and whether it reads token ids");
  auto options = std::make_shared<EngineOptions>();
  options->add(*command);
  command->footer(
      "Samples one token where a GET does not show that ids are read.\n"
      "Example: verbatim doctor --engine http://127.0.0.1:8000\n"
      "Exit: 0 it can be driven; 1 it does not answer; 2 it can not be driven so, "
      "stderr says the remedy");
  return [options] { return run(*options); };
}

}  // namespace verbatim::cli
