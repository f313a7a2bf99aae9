#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>

#include "api/instance.h"
#include "base/pause.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "engine/background.h"
#include "engine/sglang/engine.h"
#include "net/asio_network.h"
#include "net/asio_threads.h"
#include "store/memory_store.h"

namespace verbatim::cli {
namespace {

using base::Task;

constexpr base::Duration kProbeTimeout = std::chrono::seconds(5);
constexpr base::Duration kProbeAgain = std::chrono::seconds(2);
constexpr int kDrainSeconds = 30;
constexpr base::Duration kDrainTime = std::chrono::seconds(kDrainSeconds);

struct ServeOptions {
  ModelOptions model;
  std::string engine;
  std::string engine_kind = "sglang";
  std::string engine_api_key;
  std::string store = "memory";
  std::string record_dir;
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;
  unsigned threads = 0;
  std::uint64_t max_model_len = 0;
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
  std::unique_ptr<api::Instance> instance;
  base::CancelSignal stop_learning;
  engine::Background learning;
};

std::unique_ptr<engine::Engine> make_engine(const ServeOptions& options,
                                            const gateway::Model& model, base::Runtime& runtime,
                                            const net::Url& url) {
  engine::sglang::Options engine;
  engine.url = url;
  engine.api_key = options.engine_api_key;
  engine.vocab_size = model.vocab_size;
  return std::make_unique<engine::sglang::SglangEngine>(runtime, std::move(engine));
}

enum class Talk { kTell, kQuiet };

// Until the engine has answered once; it may start after the gateway. Each part asks for itself:
// what an engine says of itself decides how its streams are read.
Task<void> learn(Part& part, const ServeOptions& options, gateway::Model& model, Talk talk) {
  bool told = talk == Talk::kQuiet;
  while (!part.stop_learning.fired()) {
    const auto probe = co_await part.instance->learn(part.runtime.clock().now() + kProbeTimeout);
    if (probe) {
      if (talk == Talk::kQuiet) co_return;
      std::fprintf(stderr, "verbatim: engine %s answers%s%s, context %llu tokens\n",
                   options.engine.c_str(), probe->engine_version.empty() ? "" : ", version ",
                   probe->engine_version.c_str(),
                   static_cast<unsigned long long>(model.max_model_len.load()));
      co_return;
    }
    if (!told)
      std::fprintf(stderr, "verbatim: engine %s does not answer yet (%s); trying again\n",
                   options.engine.c_str(), probe.error().message.c_str());
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

class Serving {
 public:
  Serving(const ServeOptions& options, std::shared_ptr<gateway::Model> model, net::Url url)
      : options_(options),
        model_(std::move(model)),
        url_(std::move(url)),
        loops_(options.threads == 0 ? net::usable_cores() : options.threads) {}

  base::Status start() {
    for (std::size_t i = 0; i < loops_.size(); ++i)
      parts_.push_back(std::make_unique<Part>(loops_[i], *files_, *worker_));
    if (!options_.record_dir.empty()) {
      recorder_ = std::make_unique<gateway::Recorder>(*files_, *worker_, options_.record_dir,
                                                      model_->checkpoint);
      recorder_->on_failure([](const base::Error& error) {
        std::fprintf(stderr, "verbatim: a record line was not written: %s\n",
                     error.message.c_str());
      });
      if (auto status = recorder_->open(); !status.ok()) return status;
    }
    const std::string key = base::new_hex_id(*parts_[0]->random);
    if (auto status = check_port(); !status.ok()) return status;
    std::uint16_t port = options_.port;
    api::InstanceOptions instance;
    instance.running = &running_;
    for (const auto& part : parts_) {
      part->instance = std::make_unique<api::Instance>(
          part->runtime, *model_, make_engine(options_, *model_, part->runtime, url_), store_,
          recorder_.get(), key, instance);
      const auto use =
          parts_.size() == 1 ? base::Network::PortUse::kExclusive : base::Network::PortUse::kShared;
      const auto bound = part->instance->start(options_.host, port, use);
      if (!bound) return cannot_listen(bound.error());
      port = *bound;
    }
    std::printf("verbatim: serving %s on http://%s:%u (engine %s, %zu threads)\n",
                model_->name.c_str(), options_.host.c_str(), port, options_.engine.c_str(),
                parts_.size());
    std::fflush(stdout);
    return {};
  }

  void run() {
    model_->max_model_len.store(options_.max_model_len);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      loops_[i].post([this, i] {
        parts_[i]->learning.run(
            learn(*parts_[i], options_, *model_, i == 0 ? Talk::kTell : Talk::kQuiet));
      });
    }
    loops_[0].on_terminate([this](int) { stop(); });
    loops_.run();
  }

 private:
  // Threads share the port among themselves, and the kernel would let another gateway of the same
  // user join in and take half of the requests: only an exclusive listener sees that it is taken.
  base::Status check_port() {
    if (parts_.size() == 1 || options_.port == 0) return {};
    const auto alone = parts_[0]->network->listen(options_.host, options_.port,
                                                  base::Network::PortUse::kExclusive);
    if (!alone) return cannot_listen(alone.error());
    (*alone)->close();
    return {};
  }

  void stop() {
    if (std::exchange(stopping_, true)) return;
    std::fprintf(stderr, "verbatim: shutting down: running turns may end within %d s\n",
                 kDrainSeconds);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      loops_[i].post([this, i] {
        parts_[i]->stop_learning.fire("shutting down");
        base::spawn(shut_down(*parts_[i], loops_[i]));
      });
    }
  }

  const ServeOptions& options_;
  std::shared_ptr<gateway::Model> model_;
  net::Url url_;
  std::unique_ptr<base::Files> files_ = base::system_files();
  store::MemoryStore store_;
  gateway::RunningTurns running_;
  bool stopping_ = false;
  net::LoopThreads loops_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::unique_ptr<base::Worker> worker_ = base::thread_worker("files");
  std::unique_ptr<gateway::Recorder> recorder_;
};

Exit run(const ServeOptions& options) {
  auto url = net::parse_url(options.engine);
  if (!url) return usage("--engine: " + url.error().message + ", such as http://127.0.0.1:30000");
  const auto files = base::system_files();
  auto model = load_model(*files, options.model);
  if (!model) return fail(model.error(), Exit::kUsage);
  std::fprintf(stderr, "verbatim: model family %s; %s\n", (*model)->renderer->family().name.c_str(),
               (*model)->renderer->describe_classes().c_str());
  Serving serving(options, std::move(*model), std::move(*url));
  if (auto status = serving.start(); !status.ok()) return fail(status.error());
  serving.run();
  return Exit::kOk;
}

}  // namespace

Run add_serve(CLI::App& program) {
  auto* command = program.add_subcommand(
      "serve", "the gateway: agents speak chat to it, it drives the engine by token ids");
  auto options = std::make_shared<ServeOptions>();
  command->add_option("--engine", options->engine, "URL of the engine")
      ->required()
      ->envname("VERBATIM_ENGINE");
  command->add_option("--engine-kind", options->engine_kind, "what the engine is: sglang")
      ->check(CLI::IsMember({"sglang"}))
      ->capture_default_str()
      ->envname("VERBATIM_ENGINE_KIND");
  command
      ->add_option("--engine-api-key", options->engine_api_key,
                   "bearer token for the engine; the environment is the better place for it")
      ->envname("VERBATIM_ENGINE_API_KEY");
  options->model.add_tokenizer(*command);
  options->model.add_template(*command);
  command
      ->add_option("--model-name", options->model.name,
                   "name of the served model (default: the folder's name)")
      ->envname("VERBATIM_MODEL_NAME");
  command
      ->add_option("--vocab-size", options->model.vocab_size,
                   "the model's vocab_size (default: config.json's, else the tokenizer's)")
      ->envname("VERBATIM_VOCAB_SIZE");
  command
      ->add_option("--max-model-len", options->max_model_len,
                   "context length in tokens (default: what the engine says)")
      ->envname("VERBATIM_MAX_MODEL_LEN");
  command->add_option("--store", options->store, "where conversations are kept: memory")
      ->check(CLI::IsMember({"memory"}))
      ->capture_default_str()
      ->envname("VERBATIM_STORE");
  command
      ->add_option("--record-dir", options->record_dir,
                   "folder for one record file per session (default: none)")
      ->envname("VERBATIM_RECORD_DIR");
  command->add_option("--host", options->host, "address to listen on")
      ->capture_default_str()
      ->envname("VERBATIM_HOST");
  command->add_option("--port", options->port, "port to listen on, 0 for a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str()
      ->envname("VERBATIM_PORT");
  command->add_option("--threads", options->threads, "threads (default: one per core)")
      ->envname("VERBATIM_THREADS");
  command->footer(
      "Example: verbatim serve --engine http://127.0.0.1:30000 --tokenizer models/qwen3 "
      "--record-dir records --port 8080");
  return [options] { return run(*options); };
}

}  // namespace verbatim::cli
