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

bool plain_from_kind(const Inspected& inspected) {
  const auto& kinds = inspected.identity.kinds;
  const auto* kind = engine::find_kind(inspected.choice.kind);
  const auto* mode = kind == nullptr ? nullptr : engine::find_mode(*kind, inspected.choice.mode);
  return mode != nullptr && mode->ids_are_plain &&
         std::find(kinds.begin(), kinds.end(), kind->name) != kinds.end();
}

Task<Status> ask_for_ids(base::Runtime& runtime, const engine::Choice& choice) {
  auto engine = engine::make_engine(runtime, choice);
  if (!engine.ok()) co_return std::move(engine).error();
  auto status = co_await engine::honours_ids(**engine, runtime, runtime.clock().now() + kAskTime);
  co_await (*engine)->stop();
  co_return std::move(status);
}

Task<Result<Inspected>> inspect(base::Runtime& runtime, const engine::Choice& choice) {
  Inspected inspected;
  inspected.choice = choice;
  auto identity = co_await engine::identify(runtime, choice, runtime.clock().now() + kAskTime);
  if (!identity.ok()) co_return inspected;
  inspected.reached = true;
  inspected.identity = std::move(*identity);
  auto settled = engine::settle(choice, inspected.identity);
  if (!settled.ok()) co_return std::move(settled).error();
  inspected.choice = std::move(*settled);
  if (plain_from_kind(inspected)) co_return inspected;
  inspected.ids = co_await ask_for_ids(runtime, inspected.choice);
  co_return inspected;
}

}  // namespace

std::string environment(std::string_view variable) {
  const char* value = std::getenv(std::string(variable).c_str());
  return value == nullptr ? "" : value;
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
      .add_option("--engine-mode", mode,
                  "how it is driven; auto: the first that its kind has (generate)")
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
    std::string words;
    for (const auto& each : known->modes) words.append(words.empty() ? "" : ", ").append(each.name);
    return refused("--engine-mode",
                   choice.mode + " is no mode of " + choice.kind + "; expected one of " + words);
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

Result<Inspected> inspect_engine(const engine::Choice& choice) {
  net::AsioLoop loop;
  const auto network = net::asio_network(loop);
  const auto random = base::system_random();
  const auto files = base::system_files();
  const auto worker = base::thread_worker("inspect");
  base::Runtime runtime{loop, *network, *random, *files, *worker};
  std::optional<Result<Inspected>> result;
  loop.post([&] {
    base::spawn([](base::Runtime& on, const engine::Choice& what, net::AsioLoop& running,
                   auto& into) -> Task<void> {
      into.emplace(co_await inspect(on, what));
      running.stop();
    }(runtime, choice, loop, result));
  });
  loop.run();
  return std::move(*result);
}

}  // namespace verbatim::cli
