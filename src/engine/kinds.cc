#include "engine/kinds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "engine/dynamo/engine.h"
#include "engine/messages/engine.h"
#include "engine/sglang/engine.h"
#include "engine/vllm/derender_engine.h"
#include "engine/vllm/engine.h"
#include "engine/vllm/modes.h"

namespace verbatim::engine {
namespace {

template <class EngineT, class Options>
std::unique_ptr<Engine> made_of(base::Runtime& runtime, const Choice& choice, Options options) {
  options.url = server_root(choice.url);
  options.api_key = choice.api_key;
  options.known = choice.known;
  options.idle_timeout = choice.idle_timeout.value_or(options.idle_timeout);
  return std::make_unique<EngineT>(runtime, options);
}

template <class EngineT, class Options>
std::unique_ptr<Engine> made(base::Runtime& runtime, const Choice& choice, Options options) {
  options.vocab_size = choice.vocab_size;
  return made_of<EngineT>(runtime, choice, std::move(options));
}

std::unique_ptr<Engine> make_sglang(base::Runtime& runtime, const Choice& choice,
                                    const Mode& mode) {
  sglang::Options options;
  if (mode.name == sglang::name(sglang::Route::kChat)) options.route = sglang::Route::kChat;
  return made<sglang::SglangEngine>(runtime, choice, options);
}

std::unique_ptr<Engine> make_vllm(base::Runtime& runtime, const Choice& choice, const Mode& mode) {
  vllm::Options options;
  if (mode.name == vllm::kDerenderMode) return made<vllm::DerenderEngine>(runtime, choice, options);
  if (mode.name == vllm::name(vllm::Route::kCompletions)) options.route = vllm::Route::kCompletions;
  return made<vllm::VllmEngine>(runtime, choice, options);
}

std::unique_ptr<Engine> make_dynamo(base::Runtime& runtime, const Choice& choice,
                                    const Mode& mode) {
  dynamo::Options options;
  if (mode.name == dynamo::name(dynamo::Route::kGenerate)) options.route = dynamo::Route::kGenerate;
  options.model = choice.model;
  return made<dynamo::DynamoEngine>(runtime, choice, std::move(options));
}

std::unique_ptr<Engine> make_by_messages(base::Runtime& runtime, const Choice& choice,
                                         const Kind& kind, const Mode& mode) {
  messages::Options options;
  options.kind = kind.name;
  options.mode = mode;
  options.context = kind.context;
  options.low_is_soon = kind.low_is_soon;
  // Those that are known are lenient.
  if (kind.recognise != nullptr) options.functions = protocol::Silent::kLenient;
  options.model = choice.model;
  options.may_cost = kind.recognise == nullptr;
  options.client.acks = kind.acks;
  return made_of<messages::MessageEngine>(runtime, choice, std::move(options));
}

constexpr std::array kSglangModes = {
    Mode{sglang::name(sglang::Route::kGenerate), "0.4", sglang::path(sglang::Route::kGenerate),
         true},
    Mode{sglang::name(sglang::Route::kChat), "0.5.13", sglang::path(sglang::Route::kChat)},
    chat_by_messages("chat-text")};
constexpr std::array kDynamoModes = {
    Mode{dynamo::name(dynamo::Route::kChat), "1.4", dynamo::path(dynamo::Route::kChat)},
    Mode{dynamo::name(dynamo::Route::kGenerate), "1.4", dynamo::path(dynamo::Route::kGenerate),
         true, true, true},
    chat_by_messages("chat-text"), kResponsesMode,
    switched_on_by("--enable-anthropic-api", kMessagesMode)};
// Whatever speaks the public protocol: no release to ask for.
constexpr std::array kOpenaiModes = {
    Mode{"relay", "", "/v1/chat/completions", false, false, false, Path::kRelay},
    chat_by_messages("chat"), kResponsesMode, kMessagesMode};
constexpr std::array<std::string_view, 1> kVllmRecorded = {"0.32"};
constexpr std::array<std::string_view, 2> kDynamoRecorded = {"1.6.1", "1.4.1"};
constexpr std::array kKinds = {
    Kind{"sglang",
         "SGLang",
         "sglang",
         "max_model_len",
         "SGLANG_BASE_URL",
         kSglangModes,
         {},
         sglang::recognise,
         make_sglang},
    Kind{"vllm", "vLLM", "vllm", "max_model_len", "VLLM_BASE_URL", vllm::kModes, kVllmRecorded,
         vllm::recognise, make_vllm, true},
    Kind{"dynamo", "NVIDIA Dynamo", "nvidia", "context_window", "DYNAMO_BASE_URL", kDynamoModes,
         kDynamoRecorded, dynamo::recognise, make_dynamo, false, base::Acks::kAtOnce},
    Kind{"openai",
         "OpenAI-compatible",
         "",
         "max_model_len",
         "",
         kOpenaiModes,
         {},
         nullptr,
         nullptr}};

// The next number of a release, and what is behind it and its dot.
bool next_number(std::string_view& release, unsigned& number) {
  const auto [end, error] =
      std::from_chars(release.data(), release.data() + release.size(), number);
  if (error != std::errc()) return false;
  release.remove_prefix(static_cast<std::size_t>(end - release.data()));
  if (release.starts_with('.')) release.remove_prefix(1);
  return true;
}

template <class List>
std::string words(const List& list) {
  std::string out;
  for (const auto& item : list) out.append(out.empty() ? "" : ", ").append(item.name);
  return out;
}

}  // namespace

std::span<const Kind> kinds() {
  return kKinds;
}

std::string kinds_by_ids() {
  std::vector<Kind> list(kKinds.begin(), kKinds.end());
  std::erase_if(list, [](const Kind& kind) { return first_mode(kind, Path::kTokens) == nullptr; });
  return words(list);
}

const Kind* find_kind(std::string_view name) {
  const auto at = std::find_if(kKinds.begin(), kKinds.end(),
                               [&](const Kind& kind) { return kind.name == name; });
  return at == kKinds.end() ? nullptr : &*at;
}

const Mode* find_mode(const Kind& kind, std::string_view name) {
  if (name.empty()) return kind.modes.data();
  const auto at = std::find_if(kind.modes.begin(), kind.modes.end(),
                               [&](const Mode& mode) { return mode.name == name; });
  return at == kind.modes.end() ? nullptr : &*at;
}

const Mode* first_mode(const Kind& kind, Path path) {
  const auto at = std::find_if(kind.modes.begin(), kind.modes.end(),
                               [&](const Mode& mode) { return mode.path == path; });
  return at == kind.modes.end() ? nullptr : &*at;
}

std::string mode_names(const Kind& kind) {
  return words(kind.modes);
}

std::string mode_names(const Kind& kind, Path path) {
  std::vector<Mode> list(kind.modes.begin(), kind.modes.end());
  std::erase_if(list, [&](const Mode& mode) { return mode.path != path; });
  return words(list);
}

Path path_of(const Choice& choice) {
  const Kind* kind = find_kind(choice.kind);
  const Mode* mode = kind == nullptr ? nullptr : find_mode(*kind, choice.mode);
  return mode == nullptr ? Path::kTokens : mode->path;
}

bool release_has(std::string_view release, std::string_view since) {
  unsigned have = 0;
  unsigned need = 0;
  if (!next_number(release, have)) return true;
  while (next_number(since, need)) {
    if (have != need) return have > need;
    if (!next_number(release, have)) have = 0;
  }
  return true;
}

bool is_recorded(const Kind& kind, std::string_view release) {
  return std::any_of(kind.recorded.begin(), kind.recorded.end(), [&](std::string_view known) {
    return release.starts_with(known) &&
           (release.size() == known.size() || release[known.size()] == '.');
  });
}

net::Url server_root(net::Url url) {
  constexpr std::string_view kVersion = "/v1";
  if (url.base_path.ends_with(kVersion))
    url.base_path.resize(url.base_path.size() - kVersion.size());
  return url;
}

PeerOptions peer_of(const Choice& choice) {
  PeerOptions options;
  options.url = server_root(choice.url);
  options.api_key = choice.api_key;
  options.known = choice.known;
  return options;
}

base::Result<std::unique_ptr<Engine>> make_engine(base::Runtime& runtime, const Choice& choice) {
  const Kind* kind = find_kind(choice.kind);
  if (kind == nullptr) {
    return base::invalid("kind", "found \"" + choice.kind + "\", expected one of " + words(kKinds));
  }
  const Mode* mode = find_mode(*kind, choice.mode);
  if (mode == nullptr) {
    return base::invalid("mode", "found \"" + choice.mode + "\", expected a mode of " +
                                     std::string(kind->name) + ": " + mode_names(*kind));
  }
  if (mode->path == Path::kRelay) {
    return base::error(base::ErrorKind::kUnsupported,
                       "an " + std::string(kind->product) +
                           " server is driven by messages, so tokens can't be exact: to relay to "
                           "it, leave out --tokenizer; for exact tokens name the kind behind it "
                           "with --engine-kind, of " +
                           kinds_by_ids());
  }
  if (mode->path == Path::kMessages) return make_by_messages(runtime, choice, *kind, *mode);
  return kind->make(runtime, choice, *mode);
}

}  // namespace verbatim::engine
