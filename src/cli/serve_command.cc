#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "api/instance.h"
#include "base/pause.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/exposure.h"
#include "cli/log.h"
#include "cli/model_options.h"
#include "cli/profile_options.h"
#include "cli/serve_records.h"
#include "cli/serve_relay.h"
#include "cli/store_options.h"
#include "engine/background.h"
#include "engine/late_engine.h"
#include "engine/pool/engine.h"
#include "gateway/session_expiry.h"
#include "net/asio_network.h"
#include "net/asio_threads.h"

namespace verbatim::cli {
namespace {

using base::Task;

constexpr base::Duration kProbeTimeout = std::chrono::seconds(5);
constexpr base::Duration kProbeAgain = std::chrono::seconds(2);
constexpr int kDrainSeconds = 30;
constexpr base::Duration kDrainTime = std::chrono::seconds(kDrainSeconds);

struct ServeOptions {
  ModelOptions model;
  EngineOptions engine;
  StoreOptions store;
  LogOptions log;
  std::string record_dir;
  std::uint64_t session_ttl = 0;  // seconds; 0: sessions stay
  std::string host = "127.0.0.1";
  std::string api_keys;
  bool no_auth = false;
  std::string session_header;
  ProfileOptions profiles;
  std::uint16_t port = 8080;
  unsigned threads = 0;
  std::uint64_t max_model_len = 0;
  std::string version;                                // of this program
  std::set<std::string, std::less<>> by_environment;  // options that it alone says
};

// One thread's part of the gateway.
struct Part {
  Part(net::AsioLoop& loop, base::Files& files, base::Worker& worker)
      : network(net::asio_network(loop)),
        runtime{loop, *network, *random, files, worker},
        learning(loop) {}
  std::unique_ptr<base::Random> random = base::system_random();
  std::unique_ptr<base::Network> network;
  base::Runtime runtime;
  std::optional<engine::EngineMetrics> engine_metrics;  // of the one engine there is
  std::unique_ptr<api::Instance> instance;
  base::CancelSignal stop_learning;
  engine::Background learning;
};

enum class Talk { kTell, kQuiet };

void say_found(Log& log, const std::string& engine, const engine::Probe& probe,
               const gateway::Model& model) {
  const std::string& version = probe.engine_version;
  const auto context = model.max_model_len.load();
  log.notice("engine " + engine + " answers" + (version.empty() ? "" : ", version " + version) +
             ", context " + (context == 0 ? "not said" : std::to_string(context) + " tokens"));
}

// Until the engine has answered once; it may start after the gateway. Each part asks for itself:
// what an engine says of itself decides how its streams are read.
Task<void> learn(Part& part, const std::string& engine, gateway::Model& model, Log& log,
                 Talk talk) {
  bool told = talk == Talk::kQuiet;
  while (!part.stop_learning.fired()) {
    const auto probe = co_await part.instance->learn(part.runtime.clock().now() + kProbeTimeout);
    if (probe) {
      if (talk == Talk::kQuiet) co_return;
      say_found(log, engine, *probe, model);
      co_return;
    }
    if (!told)
      log.tell(LogLevel::kWarn, "engine " + engine + " does not answer yet (" +
                                    probe.error().message + "); trying again");
    told = true;
    base::Pause pause(part.runtime.executor, kProbeAgain, part.stop_learning);
    (void)co_await pause;
  }
}

Task<void> shut_down(Part& part, net::AsioLoop& loop) {
  co_await part.learning.idle();
  co_await part.instance->drain(part.runtime.clock().now() + kDrainTime);
  loop.stop();
}

// How the engine is driven, and whether it answered already. An engine that may come up later is
// looked at when it does.
struct Chosen {
  engine::Choice choice;
  bool reached = false;
  std::optional<engine::Probe> probe;  // what it said then
  std::string model;                   // the first that it lists; empty: none
};

// What becomes of replicas, for operators. Each thread finds it out for itself; it is told once.
class Notices {
 public:
  explicit Notices(Log& log) : log_(log) {}

  void tell(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (line == last_) return;
    log_.tell(LogLevel::kWarn, line);
    last_ = line;
  }

 private:
  Log& log_;
  std::mutex mutex_;
  std::string last_;
};

std::string names_of(const std::vector<Chosen>& engines) {
  std::string names;
  for (const auto& each : engines) {
    names.append(names.empty() ? "" : ", ");
    names.append(address_of(each.choice));
  }
  return names;
}

class Serving {
 public:
  Serving(const ServeOptions& options, std::shared_ptr<gateway::Model> model,
          std::vector<Chosen> chosen, gateway::ApiKeys keys, std::unique_ptr<StoreHome> store,
          Log& log)
      : options_(options),
        model_(std::move(model)),
        keys_(std::move(keys)),
        chosen_(std::move(chosen)),
        engine_name_(names_of(chosen_)),
        log_(log),
        notices_(log),
        loops_(options.threads == 0 ? net::usable_cores() : options.threads),
        store_(std::move(store)) {}

  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  ~Serving() { log_.stop_counting(); }

  base::Status start() {
    monitoring_.set_version(options_.version);
    log_.count_in(monitoring_.metrics());
    if (auto* database = store_->database())
      database->writer().count_in(monitoring_.metrics(), loops_[0].clock());
    for (std::size_t i = 0; i < loops_.size(); ++i)
      parts_.push_back(std::make_unique<Part>(loops_[i], *files_, *worker_));
    if (!options_.record_dir.empty()) {
      auto records = Records::open(*files_, options_.record_dir, model_->checkpoint, *store_, log_);
      if (!records) return std::move(records).error().within("--record-dir");
      records_ = std::move(*records);
      records_->recorder().count_in(monitoring_.metrics());
    }
    if (auto status = check_port(); !status.ok()) return status;
    std::uint16_t port = options_.port;
    api::InstanceOptions instance;
    instance.running = &running_;
    instance.replays = &replays_;
    instance.keys = &keys_;
    instance.session_header = options_.session_header;
    if (options_.session_ttl != 0) instance.runner.in_use = &in_use_;
    instance.monitoring = &monitoring_;
    instance.tell = [this](const gateway::TurnReport& report) { log_.turn(report); };
    for (const auto& part : parts_) {
      auto engine = make_engines(part->runtime);
      if (!engine.ok()) return std::move(engine).error();
      instance.runner.engine = nullptr;
      if (chosen_.size() == 1) {
        instance.runner.engine = &part->engine_metrics.emplace(
            monitoring_.metrics(), net::url_text(chosen_.front().choice.url));
      }
      part->instance = std::make_unique<api::Instance>(
          part->runtime, *model_, std::move(*engine), store_->on(part->runtime.executor),
          records_ ? &records_->recorder() : nullptr, store_->key(), instance);
      const auto use =
          parts_.size() == 1 ? base::Network::PortUse::kExclusive : base::Network::PortUse::kShared;
      const auto bound = part->instance->start(options_.host, port, use);
      if (!bound) return cannot_listen(bound.error());
      port = *bound;
    }
    expire_sessions();
    const auto& first = chosen_.front().choice;
    const std::string how = by_messages(first) ? " by messages (" + first.mode + ")" : "";
    log_.flush();
    announce("serving " + model_->name + " on http://" + options_.host + ":" +
             std::to_string(port) + " (engine " + engine_name_ + ", " + first.kind + how + ", " +
             std::to_string(parts_.size()) + " threads)");
    return {};
  }

  void run() {
    model_->max_model_len.store(options_.max_model_len);
    // Replicas have to agree, so a pool asks them all itself.
    const auto& known = chosen_.front().probe;
    if (chosen_.size() == 1 && known) {
      for (const auto& part : parts_) part->instance->adopt(*known);
      say_found(log_, engine_name_, *known, *model_);
      return loop();
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      loops_[i].post([this, i] {
        parts_[i]->learning.run(
            learn(*parts_[i], engine_name_, *model_, log_, i == 0 ? Talk::kTell : Talk::kQuiet));
      });
    }
    loop();
  }

 private:
  void loop() {
    loops_[0].on_terminate([this](int) { stop(); });
    loops_.run();
    if (records_) records_->close();
  }

  // On the first loop, beside its turns.
  void expire_sessions() {
    if (options_.session_ttl == 0) return;
    auto& executor = parts_[0]->runtime.executor;
    expiry_ = std::make_unique<gateway::SessionExpiry>(executor, store_->on(executor), in_use_,
                                                       records_ ? &records_->recorder() : nullptr,
                                                       std::chrono::seconds(options_.session_ttl));
    loops_[0].post([this] { parts_[0]->learning.run(expiry_->run(parts_[0]->stop_learning)); });
  }

  using Made = base::Result<std::unique_ptr<engine::Engine>>;

  static Made make_engine(base::Runtime& runtime, const Chosen& chosen) {
    if (chosen.reached) return engine::make_engine(runtime, chosen.choice);
    return std::unique_ptr<engine::Engine>(
        std::make_unique<engine::LateEngine>(runtime, chosen.choice));
  }

  // One engine is driven directly, several as the replicas of one.
  Made make_engines(base::Runtime& runtime) {
    if (chosen_.size() == 1) return make_engine(runtime, chosen_.front());
    std::vector<engine::pool::Member> replicas;
    for (const auto& chosen : chosen_) {
      auto engine = make_engine(runtime, chosen);
      if (!engine.ok()) return std::move(engine).error();
      replicas.push_back({net::url_text(chosen.choice.url), std::move(*engine)});
    }
    engine::pool::Options pool;
    pool.tell = [this](const std::string& line) { notices_.tell(line); };
    pool.metrics = &monitoring_.metrics();
    return std::unique_ptr<engine::Engine>(
        std::make_unique<engine::pool::Pool>(runtime, std::move(replicas), std::move(pool)));
  }

  base::Status check_port() {
    if (parts_.size() == 1 || options_.port == 0) return {};
    return cli::check_port(*parts_[0]->network, options_.host, options_.port);
  }

  void stop() {
    if (std::exchange(stopping_, true)) return;
    log_.notice("shutting down: running turns may end within " + std::to_string(kDrainSeconds) +
                " s");
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      loops_[i].post([this, i] {
        parts_[i]->stop_learning.fire("shutting down");
        base::spawn(shut_down(*parts_[i], loops_[i]));
      });
    }
  }

  const ServeOptions& options_;
  std::shared_ptr<gateway::Model> model_;
  const gateway::ApiKeys keys_;
  const std::vector<Chosen> chosen_;
  const std::string engine_name_;
  Log& log_;
  Notices notices_;
  std::unique_ptr<base::Files> files_ = base::system_files();
  api::Monitoring monitoring_{*files_};
  gateway::RunningTurns running_;
  gateway::Replays replays_;
  gateway::SessionsInUse in_use_;
  bool stopping_ = false;
  net::LoopThreads loops_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::unique_ptr<StoreHome> store_;  // ends before the loops that it answers on
  std::unique_ptr<base::Worker> worker_ = base::thread_worker("files");
  std::unique_ptr<Records> records_;
  std::unique_ptr<gateway::SessionExpiry> expiry_;
};

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

Exit serve(const ServeOptions& options, std::shared_ptr<gateway::Model> model,
           std::vector<Chosen> chosen, gateway::ApiKeys keys, Log& log) {
  auto store = StoreHome::open(*base::system_files(), options.store);
  if (!store.ok()) return log.fail(store.error(), Exit::kUsage);
  log.notice("conversations are kept in " + (*store)->describe());
  Serving serving(options, std::move(model), std::move(chosen), std::move(keys), std::move(*store),
                  log);
  if (auto status = serving.start(); !status.ok()) return log.fail(status.error());
  serving.run();
  return Exit::kOk;
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
  return serve(options, std::move(model), std::move(*chosen), std::move(keys), log);
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
  return serve(options, std::move(*model), std::move(*chosen), std::move(*keys), log);
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
      "`verbatim doctor --engine URL` shows what an engine is and how it would be driven.");
  return [options, command] {
    options->by_environment = said_by_environment(*command);
    return run(*options);
  };
}

}  // namespace verbatim::cli
