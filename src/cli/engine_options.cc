#include "cli/engine_options.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "net/asio_network.h"

namespace verbatim::cli {
namespace {

using base::Result;
using base::Status;
using base::Task;

constexpr base::Duration kAskTime = std::chrono::seconds(5);
constexpr std::uint64_t kMaxKeyFile = 64 * 1024;
constexpr std::uint64_t kAnyVocabulary = UINT32_MAX;

std::vector<std::string> kind_words() {
  std::vector<std::string> words = {"auto"};
  for (const auto& kind : engine::kinds()) words.emplace_back(kind.name);
  return words;
}

std::vector<std::string> mode_words() {
  std::vector<std::string> words = {"auto"};
  for (const auto& kind : engine::kinds()) {
    for (const auto& mode : kind.modes) {
      if (std::find(words.begin(), words.end(), mode.name) == words.end())
        words.emplace_back(mode.name);
    }
  }
  return words;
}

base::Error refused(const char* option, const std::string& message) {
  return base::invalid(option, std::string(option) + ": " + message);
}

Result<std::string> read_key(const std::string& path) {
  auto text = base::system_files()->read(path, kMaxKeyFile);
  if (!text) return refused("--engine-api-key-file", text.error().message);
  const auto end = text->find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return refused("--engine-api-key-file", path + " is empty");
  text->resize(end + 1);
  if (!net::is_field_value(*text))
    return refused("--engine-api-key-file", path + ": expected a key of one line");
  return std::move(*text);
}

// The one variable that names a server, of the kind asked for.
Result<std::pair<std::string, std::string>> discover(const std::string& kind) {
  std::vector<std::pair<std::string, std::string>> found;
  std::string names;
  std::string asked;
  for (const auto& known : engine::kinds()) {
    if (known.variable.empty()) continue;
    asked.append(asked.empty() ? "" : ", ").append(known.variable);
    if (kind != "auto" && kind != known.name) continue;
    auto url = environment(known.variable);
    if (url.empty()) continue;
    names.append(names.empty() ? "" : " and ").append(known.variable);
    found.emplace_back(known.name, std::move(url));
  }
  if (found.size() == 1) return std::move(found[0]);
  if (found.empty()) {
    return refused("--engine",
                   "no engine given: --engine http://127.0.0.1:30000, or one of the "
                   "variables VERBATIM_ENGINE, " +
                       asked);
  }
  return refused("--engine-kind",
                 names + " are both set: say which with --engine-kind or --engine");
}

// Each once.
Result<std::vector<net::Url>> read_addresses(const std::vector<std::string>& addresses,
                                             const std::string& listen) {
  std::vector<net::Url> urls;
  for (const auto& address : addresses) {
    auto url = net::parse_url(address);
    if (!url) return refused("--engine", url.error().message + ", such as http://127.0.0.1:30000");
    if (net::host_field(url->endpoint) == listen)
      return refused("--engine", address + " is this gateway's own address");
    *url = engine::server_root(std::move(*url));
    for (const auto& other : urls) {
      if (net::url_text(other) == net::url_text(*url))
        return refused("--engine", address + " is given twice");
    }
    urls.push_back(std::move(*url));
  }
  return urls;
}

// Asks each, at the same time, and lets go of the engines: they belong to this loop.
class Inspection {
 public:
  explicit Inspection(const std::vector<engine::Choice>& choices)
      : choices_(choices), results_(choices.size()), left_(choices.size()) {}

  std::vector<Result<engine::Inspected>> run() {
    for (std::size_t i = 0; i < choices_.size(); ++i)
      loop_.post([this, i] { base::spawn(ask(i)); });
    loop_.run();
    std::vector<Result<engine::Inspected>> all;
    for (auto& result : results_) all.push_back(std::move(*result));
    return all;
  }

 private:
  Task<void> ask(std::size_t at) {
    auto found = co_await engine::inspect(runtime_, choices_[at], loop_.clock().now() + kAskTime);
    if (found.ok() && found->engine != nullptr) {
      co_await found->engine->stop();
      found->engine.reset();
    }
    results_[at].emplace(std::move(found));
    if (--left_ == 0) loop_.stop();
  }

  const std::vector<engine::Choice>& choices_;
  net::AsioLoop loop_;
  std::unique_ptr<base::Network> network_ = net::asio_network(loop_);
  std::unique_ptr<base::Random> random_ = base::system_random();
  std::unique_ptr<base::Files> files_ = base::system_files();
  std::unique_ptr<base::Worker> worker_ = base::thread_worker("inspect");
  base::Runtime runtime_{loop_, *network_, *random_, *files_, *worker_};
  std::vector<std::optional<Result<engine::Inspected>>> results_;
  std::size_t left_;
};

}  // namespace

std::string environment(std::string_view variable) {
  const char* value = std::getenv(std::string(variable).c_str());
  return value == nullptr ? "" : value;
}

std::set<std::string, std::less<>> said_by_environment(const CLI::App& command) {
  std::set<std::string, std::less<>> names;
  for (const CLI::Option* option : command.get_options()) {
    const std::string value = environment(option->get_envname());
    if (!value.empty() && option->results() == std::vector<std::string>{value})
      names.insert(option->get_name());
  }
  return names;
}

void EngineOptions::add(CLI::App& command) {
  command
      .add_option("--engine", urls,
                  "URL of the engine, a trailing /v1 is left out; given several times (or with "
                  "commas), of its replicas (default: SGLANG_BASE_URL, VLLM_BASE_URL or "
                  "DYNAMO_BASE_URL, where one is set)")
      ->delimiter(',')
      ->envname("VERBATIM_ENGINE");
  command.add_option("--engine-kind,--backend-kind", kind, "what the engine is")
      ->check(CLI::IsMember(kind_words()))
      ->capture_default_str()
      ->envname("VERBATIM_ENGINE_KIND");
  command
      .add_option(
          "--engine-mode", mode,
          "how it is driven; auto: the first that its kind has (sglang, vllm: generate; dynamo: "
          "chat; openai: relay). By messages, so that tokens are not exact: chat-text, responses, "
          "messages; chat of openai")
      ->check(CLI::IsMember(mode_words()))
      ->capture_default_str()
      ->envname("VERBATIM_ENGINE_MODE");
  command
      .add_option("--engine-api-key", api_key,
                  "bearer token for the engine; a file or the environment is the better place")
      ->envname("VERBATIM_ENGINE_API_KEY");
  command.add_option("--engine-api-key-file", api_key_file, "file that holds the bearer token")
      ->envname("VERBATIM_ENGINE_API_KEY_FILE");
}

Result<std::vector<engine::Choice>> EngineOptions::choices(const std::string& listen) const {
  engine::Choice choice;
  choice.kind = kind;
  choice.mode = mode == "auto" ? "" : mode;
  choice.vocab_size = kAnyVocabulary;
  std::vector<std::string> addresses = urls;
  if (addresses.empty()) {
    auto found = discover(kind);
    if (!found.ok()) return std::move(found).error();
    choice.kind = found->first;
    addresses.push_back(found->second);
  }
  if (!net::is_field_value(api_key))
    return refused("--engine-api-key", "expected a key of one line, without control characters");
  choice.api_key = api_key;
  if (!api_key_file.empty()) {
    if (!api_key.empty()) {
      return refused("--engine-api-key-file", "a key was given too; say one of the two");
    }
    auto key = read_key(api_key_file);
    if (!key) return std::move(key).error();
    choice.api_key = std::move(*key);
  }
  if (const auto* known = engine::find_kind(choice.kind);
      known != nullptr && engine::find_mode(*known, choice.mode) == nullptr) {
    return refused("--engine-mode", choice.mode + " is no mode of " + choice.kind +
                                        "; expected one of " + engine::mode_names(*known));
  }
  auto servers = read_addresses(addresses, listen);
  if (!servers.ok()) return std::move(servers).error();
  std::vector<engine::Choice> choices;
  for (auto& url : *servers) {
    choices.push_back(choice);
    choices.back().url = std::move(url);
  }
  return choices;
}

std::vector<Result<engine::Inspected>> inspect_engines(const std::vector<engine::Choice>& choices) {
  return Inspection(choices).run();
}

std::string address_of(const engine::Choice& choice) {
  return net::host_field(choice.url.endpoint) + choice.url.base_path;
}

Status of_one_kind(const std::vector<const engine::Inspected*>& replicas) {
  const engine::Inspected* known = nullptr;
  for (const auto* each : replicas) {
    if (!each->reached.ok()) continue;
    if (known == nullptr) known = each;
    if (each->choice.kind == known->choice.kind) continue;
    return base::error(base::ErrorKind::kUnsupported,
                       "replicas must be of one kind: " + net::url_text(known->choice.url) +
                           " is " + known->choice.kind + ", " + net::url_text(each->choice.url) +
                           " is " + each->choice.kind);
  }
  return {};
}

}  // namespace verbatim::cli
