#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/engine_options.h"

namespace verbatim::cli {
namespace {

void print(std::string what, const std::string& value) {
  constexpr std::size_t kWidth = 10;
  what.resize(std::max(what.size(), kWidth), ' ');
  print_line(what + " " + value);
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
  print("mode",
        std::string(mode->name) + " (" +
            (asked.mode.empty() ? first_of(*kind) : std::string("as told")) + "): POST " +
            std::string(mode->route) +
            (mode->since.empty() ? "" : ", from release " + std::string(mode->since) + " on"));
  for (const auto& [what, path] :
       {std::pair{"by ids", engine::Path::kTokens}, {"by messages", engine::Path::kMessages}}) {
    if (const auto names = engine::mode_names(*kind, path); !names.empty())
      print("modes", std::string(what) + ": " + names);
  }
}

void print_release(const engine::Inspected& found) {
  const std::string& release = found.identity.release;
  const auto* kind = engine::find_kind(found.choice.kind);
  if (release.empty() || kind == nullptr) return;
  const bool recorded = engine::is_recorded(*kind, release);
  print("release", release + (recorded ? " (as recorded from a running server)"
                                       : " (unverified: no server of this release was recorded; it "
                                         "is driven by what its source says)"));
}

void print_models(const engine::Identity& identity) {
  for (const auto& model : identity.models) {
    print("model",
          model.id + (model.max_model_len == 0
                          ? ", context not said"
                          : ", context " + std::to_string(model.max_model_len) + " tokens"));
  }
}

Exit tell_fit(const engine::Inspected& found) {
  const auto path = engine::path_of(found.choice);
  const bool shown = found.fits.ok();
  if (path == engine::Path::kTokens) {
    print("ids", shown ? "read as they are sent" : "not shown to be read");
  } else {
    print("ids", "not sent: it is driven by messages, and tokens can't be exact");
  }
  if (path == engine::Path::kMessages) print("route", shown ? "there" : "not shown to be there");
  if (shown || path == engine::Path::kRelay) return Exit::kOk;
  const bool never = found.fits.error().kind == base::ErrorKind::kUnsupported;
  return fail(found.fits.error(), never ? Exit::kUsage : Exit::kFailed);
}

Exit tell(const engine::Choice& asked, const base::Result<engine::Inspected>& found) {
  print("engine", address_of(asked));
  if (!found.ok()) {
    return fail(found.error(),
                found.error().kind == base::ErrorKind::kUnsupported ? Exit::kUsage : Exit::kFailed);
  }
  if (!found->reached.ok()) {
    return fail(base::error(base::ErrorKind::kUnavailable,
                            "nothing answers at " + net::host_field(asked.url.endpoint) +
                                ": is the server up, and does it listen on that address?"));
  }
  for (const auto& line : found->identity.evidence) print("found", line);
  print_release(*found);
  print_models(found->identity);
  print_mode(asked, found->choice);
  return tell_fit(*found);
}

// Of several, the worst counts.
Exit run(const EngineOptions& options) {
  auto asked = options.choices("");
  if (!asked.ok()) return usage(asked.error().message);
  const auto found = inspect_engines(*asked);
  std::vector<const engine::Inspected*> replicas;
  Exit worst = Exit::kOk;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i > 0) print_line("");
    worst = std::max(worst, tell((*asked)[i], found[i]));
    std::fflush(stdout);  // what is said on stderr comes behind it
    if (found[i].ok()) replicas.push_back(&*found[i]);
  }
  if (auto status = of_one_kind(replicas); !status.ok()) return fail(status.error(), Exit::kUsage);
  return worst;
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
      "--engine several times: of the replicas of one engine, all asked at once.\n"
      "Exit: 0 it can be driven; 1 it does not answer; 2 it can not be driven so, "
      "stderr says the remedy");
  return [options] { return run(*options); };
}

}  // namespace verbatim::cli
