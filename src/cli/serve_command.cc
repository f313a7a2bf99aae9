#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/exposure.h"
#include "cli/log.h"
#include "cli/model_options.h"
#include "cli/serve_relay.h"
#include "cli/serve_turns.h"
#include "net/asio_network.h"

namespace verbatim::cli {
namespace {

// Replicas are of one kind and mode: what one shows of itself holds for those that can't be asked
// yet.
base::Result<std::vector<Chosen>> choose_engines(const std::vector<engine::Choice>& asked,
                                                 Log& log) {
  auto answers = inspect_engines(asked);
  std::vector<const engine::Inspected*> found;
  for (auto& answer : answers) {
    if (!answer.ok()) return std::move(answer).error();
    if (const auto& fits = answer->fits; !fits.ok()) {
      if (fits.error().kind == base::ErrorKind::kUnsupported) return fits.error();
      const bool ids = !by_messages(answer->choice);
      log.tell(LogLevel::kWarn,
               "it is not certain yet that the engine " +
                   std::string(ids ? "reads token ids" : "has the route of this mode") + ": " +
                   fits.error().message);
    }
    found.push_back(&*answer);
  }
  if (auto status = of_one_kind(found); !status.ok()) return status.error();
  std::string known;
  for (const auto* each : found) {
    if (each->reached.ok()) known = each->choice.kind;
  }
  std::vector<Chosen> engines;
  for (const auto* each : found) {
    const auto& models = each->identity.models;
    engines.push_back(
        {each->choice, each->reached.ok(), each->probe, models.empty() ? "" : models.front().id});
    if (!known.empty()) engines.back().choice.kind = known;
  }
  return engines;
}

using Names = std::vector<const char*>;

// Options that only the token path knows, and that were given.
Names token_options(const ServeOptions& options) {
  Names names;
  if (!options.model.tokenizer_dir.empty()) names.push_back("--tokenizer");
  if (!options.model.chat_template.empty()) names.push_back("--chat-template");
  if (options.model.vocab_size != 0) names.push_back("--vocab-size");
  if (!options.model.cache_dir.empty()) names.push_back("--cache-dir");
  return names;
}

// Those that say something of a model or of records, which a relay has not.
Names turn_options(const ServeOptions& options) {
  Names names = token_options(options);
  if (!options.record_dir.empty()) names.push_back("--record-dir");
  if (!options.api_keys.empty()) names.push_back("--api-keys");
  if (!options.session_header.empty()) names.push_back("--session-header");
  if (const char* profiles = options.profiles.given()) names.push_back(profiles);
  if (options.session_ttl != 0) names.push_back("--session-ttl");
  if (options.store.owner_sessions != 0) names.push_back("--max-sessions");
  if (options.store.memory_mb != 0) names.push_back("--store-memory");
  if (const char* store = options.store.given()) names.push_back(store);
  if (!options.model.name.empty()) names.push_back("--model-name");
  if (options.max_model_len != 0) names.push_back("--max-model-len");
  return names;
}

// The first of these that this command was asked for; null: none. What the environment says alone
// is meant for whatever runs in it: that it is not used here is told, and no reason to refuse. But
// whoever names keys wants them asked for.
const char* asked_for(const ServeOptions& options, const Names& names, Log& log) {
  for (const char* name : names) {
    if (!options.by_environment.contains(name) || name == std::string_view("--api-keys"))
      return name;
  }
  for (const char* name : names)
    log.notice(std::string(name) +
               ": the environment's value is not used on this path to the engine");
  return nullptr;
}

std::string not_for_messages(const char* option, const engine::Choice& choice) {
  return std::string(option) + ": not for --engine-mode " + choice.mode +
         ", in which messages go up and tokens are not exact. Leave it out, or name a mode that is "
         "driven by token ids";
}

void tell_by_messages(const engine::Choice& choice, Log& log) {
  const auto* kind = engine::find_kind(choice.kind);
  const auto* mode = engine::find_mode(*kind, choice.mode);
  const std::string exact = engine::mode_names(*kind, engine::Path::kTokens);
  log.notice(
      "messages go up over POST " + std::string(mode->route) + " (mode " + std::string(mode->name) +
      "): tokens are not exact, and turns are recorded but never exported as samples. For exact "
      "tokens give --tokenizer and " +
      (exact.empty() ? "--engine-kind, of " + engine::kinds_by_ids()
                     : "--engine-mode, of " + exact));
}

// The first model that one of them lists; empty: none.
std::string listed_model(const std::vector<Chosen>& engines) {
  for (const auto& each : engines) {
    if (!each.model.empty()) return each.model;
  }
  return {};
}

// The message path: sessions and records without token ids.
Exit run_by_messages(const ServeOptions& options, std::vector<engine::Choice> asked,
                     gateway::ApiKeys keys, gateway::ClientProfiles profiles, Log& log) {
  if (const char* option = asked_for(options, token_options(options), log))
    return usage(not_for_messages(option, asked.front()));
  for (auto& choice : asked) choice.model = options.model.name;
  auto chosen = choose_engines(asked, log);
  if (!chosen.ok()) return log.fail(chosen.error(), Exit::kUsage);
  const engine::Choice& choice = chosen->front().choice;
  if (engine::find_kind(choice.kind) == nullptr)
    return usage("--engine-kind: the engine does not answer yet, so it can't be found out; say it");
  if (!by_messages(choice)) return usage(needs_tokenizer(choice));
  auto model = std::make_shared<gateway::Model>();
  model->profiles = std::move(profiles);
  model->name = options.model.name.empty() ? listed_model(*chosen) : options.model.name;
  if (model->name.empty()) return usage("--model-name: missing, and the engine names no model yet");
  tell_by_messages(choice, log);
  return serve_turns(options, std::move(model), std::move(*chosen), std::move(keys), log);
}

Exit run(const ServeOptions& options) {
  auto asked = options.engine.choices(options.host + ":" + std::to_string(options.port));
  if (!asked.ok()) return usage(asked.error().message);
  const auto files = base::system_files();
  auto keys = read_keys(*files, options.api_keys);
  if (!keys.ok()) return fail(keys.error(), Exit::kUsage);
  if (auto status = check_exposure({options.host, !keys->empty(), options.no_auth}); !status.ok())
    return fail(status.error(), Exit::kUsage);
  if (auto status = check_session_header(options.session_header); !status.ok())
    return fail(status.error(), Exit::kUsage);
  auto profiles = options.profiles.load(*files);
  if (!profiles.ok()) return fail(profiles.error(), Exit::kUsage);
  const auto clock = net::system_clock();
  Log log(options.log, *clock, base::thread_worker("log"));
  const bool exact = !options.model.tokenizer_dir.empty();
  // A mode that several kinds have goes by ids where a tokenizer is given.
  const bool known = engine::find_kind(asked->front().kind) != nullptr;
  if (by_messages(asked->front()) && (known || !exact))
    return run_by_messages(options, *asked, std::move(*keys), std::move(*profiles), log);
  if (relays(asked->front()) || !exact) {
    return serve_relay(*asked, {options.host, options.port, options.threads, options.version},
                       asked_for(options, turn_options(options), log), log);
  }
  auto model = load_model(*files, options.model);
  if (!model) return log.fail(model.error(), Exit::kUsage);
  (*model)->profiles = std::move(*profiles);
  log.notice("model family " + (*model)->renderer->family().name + "; " +
             (*model)->renderer->describe_classes());
  for (auto& choice : *asked) {
    choice.vocab_size = (*model)->vocab_size;
    choice.model = (*model)->name;
  }
  auto chosen = choose_engines(*asked, log);
  if (!chosen.ok()) return log.fail(chosen.error(), Exit::kUsage);
  for (const auto& each : *chosen) {
    if (by_messages(each.choice)) return usage(not_for_messages("--tokenizer", each.choice));
  }
  return serve_turns(options, std::move(*model), std::move(*chosen), std::move(*keys), log);
}

}  // namespace

Run add_serve(CLI::App& program) {
  auto* command = program.add_subcommand(
      "serve",
      "the gateway: agents speak chat to it, it drives the engine by token ids, or by "
      "messages");
  auto options = std::make_shared<ServeOptions>();
  const std::string version = program.version();  // "verbatim 1.2.3"
  options->version = version.substr(version.rfind(' ') + 1);
  options->engine.add(*command);
  options->model.add_tokenizer(*command);
  command->get_option("--tokenizer")
      ->required(false)
      ->description(
          "folder with tokenizer.json; not where messages go up (--engine-kind openai, "
          "--engine-mode chat-text, responses, messages)");
  options->model.add_template(*command);
  command
      ->add_option("--model-name", options->model.name,
                   "name of the served model (default: the folder's name)")
      ->envname("VERBATIM_MODEL_NAME");
  command
      ->add_option("--vocab-size", options->model.vocab_size,
                   "the model's vocab_size (default: config.json's, else the tokenizer's)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{UINT32_MAX} + 1))
      ->envname("VERBATIM_VOCAB_SIZE");
  command
      ->add_option("--max-model-len", options->max_model_len,
                   "context length in tokens (default: what the engine says)")
      ->envname("VERBATIM_MAX_MODEL_LEN");
  options->store.add(*command);
  options->log.add(*command);
  command
      ->add_option("--record-dir", options->record_dir,
                   "folder for one record file per session (default: none)")
      ->envname("VERBATIM_RECORD_DIR");
  command
      ->add_option("--session-ttl", options->session_ttl,
                   "seconds without a turn after which a session is deleted (default: never)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{UINT32_MAX}))
      ->envname("VERBATIM_SESSION_TTL");
  command
      ->add_option(
          "--max-sessions", options->store.owner_sessions,
          "sessions that one owner may have made with POST /sessions (default: any number)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{UINT32_MAX}))
      ->envname("VERBATIM_MAX_SESSIONS");
  command
      ->add_option("--store-memory", options->store.memory_mb,
                   "MiB of the turns in a file that are kept in memory too, of the sessions used "
                   "last (default: 256)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24))
      ->envname("VERBATIM_STORE_MEMORY");
  command->add_option("--host", options->host, "address to listen on")
      ->capture_default_str()
      ->envname("VERBATIM_HOST");
  command
      ->add_option("--api-keys", options->api_keys,
                   "file with lines OWNER KEY; owners don't see each other's sessions (default: no "
                   "key is needed, and only loopback addresses are served)")
      ->envname("VERBATIM_API_KEYS");
  command
      ->add_flag("--no-auth", options->no_auth,
                 "serve other addresses without keys: whoever reaches the port can use it")
      ->envname("VERBATIM_NO_AUTH");
  command
      ->add_option("--session-header", options->session_header,
                   "header field by which your agents name their session, beside those that are "
                   "known")
      ->envname("VERBATIM_SESSION_HEADER");
  options->profiles.add(*command);
  command->add_option("--port", options->port, "port to listen on, 0 for a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str()
      ->envname("VERBATIM_PORT");
  command->add_option("--threads", options->threads, "threads (default: one per core)")
      ->check(CLI::Range(1, 1024))
      ->envname("VERBATIM_THREADS");
  command->footer(
      "Example: verbatim serve --engine http://127.0.0.1:30000 --tokenizer models/qwen3 "
      "--record-dir records --port 8080\n"
      "`verbatim doctor --engine URL` shows what an engine is and how it would be driven.\n"
      "SIGTERM or Ctrl-C ends it: running answers have 30 s to end; a second one ends them at "
      "once, and their clients are told.");
  return [options, command] {
    options->by_environment = said_by_environment(*command);
    return run(*options);
  };
}

}  // namespace verbatim::cli
