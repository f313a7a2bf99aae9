#include "cli/model_options.h"

#include <CLI/CLI.hpp>

#include "json/value.h"

namespace verbatim::cli {
namespace {

using base::error;
using base::ErrorKind;
using base::Result;

constexpr std::uint64_t kMaxTemplate = 1U << 20;
constexpr std::uint64_t kMaxConfig = 16U << 20;

// A file of the tokenizer's folder as JSON; nullopt when it isn't there.
Result<std::optional<json::Document>> read_json(base::Files& files, const std::string& path) {
  if (!files.exists(path)) return std::optional<json::Document>();
  auto text = files.read(path, kMaxConfig);
  if (!text) return std::move(text).error();
  auto doc = json::Document::parse(std::move(*text));
  if (!doc) return std::move(doc).error().within(path);
  return std::optional(std::move(*doc));
}

// The template: the file that is named, else chat_template.jinja or tokenizer_config.json of the
// folder.
Result<std::string> read_template(base::Files& files, const ModelOptions& options,
                                  const std::optional<json::Document>& config) {
  if (!options.chat_template.empty()) {
    auto text = files.read(options.chat_template, kMaxTemplate);
    if (!text) return std::move(text).error().within("--chat-template");
    return text;
  }
  const std::string beside = options.tokenizer_dir + "/chat_template.jinja";
  if (files.exists(beside)) return files.read(beside, kMaxTemplate);
  const auto inside = config ? config->root().get("chat_template") : std::nullopt;
  if (inside && inside->is_string()) return inside->string();
  return error(ErrorKind::kNotFound,
               "no chat template in " + options.tokenizer_dir +
                   " (chat_template.jinja, or chat_template in tokenizer_config.json): name one "
                   "with --chat-template FILE");
}

// ("bos_token", "<s>") and so on: what templates may print.
std::vector<std::pair<std::string, std::string>> special_tokens(
    const std::optional<json::Document>& config) {
  std::vector<std::pair<std::string, std::string>> tokens;
  if (!config || !config->root().is_object()) return tokens;
  for (const char* name : {"bos_token", "eos_token", "unk_token", "pad_token", "sep_token",
                           "cls_token", "mask_token"}) {
    auto value = config->root().get(name);
    if (value && value->is_object()) value = value->get("content");
    if (value && value->is_string()) tokens.emplace_back(name, value->string());
  }
  return tokens;
}

std::optional<std::vector<std::string>> control_tokens(
    const std::optional<json::Document>& config) {
  const auto listed = config && config->root().is_object()
                          ? config->root().get("chat_control_tokens")
                          : std::nullopt;
  if (!listed || !listed->is_array()) return std::nullopt;
  std::vector<std::string> tokens;
  for (const auto member : *listed) {
    if (member.value.is_string()) tokens.push_back(member.value.string());
  }
  return tokens;
}

std::uint64_t model_vocab_size(const std::optional<json::Document>& config,
                               const ModelOptions& options, std::uint64_t tokenizer_size) {
  if (options.vocab_size != 0) return options.vocab_size;
  const auto size =
      config && config->root().is_object() ? config->root().get("vocab_size") : std::nullopt;
  const auto number = size && size->is_number() ? size->integer() : std::nullopt;
  if (number && *number > 0 && *number <= INT32_MAX) return static_cast<std::uint64_t>(*number);
  return tokenizer_size;
}

std::string folder_name(std::string dir) {
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  const auto slash = dir.rfind('/');
  return slash == std::string::npos ? dir : dir.substr(slash + 1);
}

}  // namespace

void ModelOptions::add_tokenizer(CLI::App& command) {
  command.add_option("--tokenizer", tokenizer_dir, "folder with tokenizer.json")
      ->required()
      ->envname("VERBATIM_TOKENIZER");
  command
      .add_option("--cache-dir", cache_dir, "folder for binary tokenizer caches (default: none)")
      ->envname("VERBATIM_CACHE_DIR");
}

void ModelOptions::add_template(CLI::App& command) {
  command
      .add_option("--chat-template", chat_template,
                  "chat template file (default: the one in the tokenizer's folder)")
      ->envname("VERBATIM_CHAT_TEMPLATE");
  command
      .add_option("--encoding-policy", policy,
                  "injection_safe: text of callers never becomes a control token; hf_exact: as "
                  "Hugging Face encodes it")
      ->check(CLI::IsMember({"injection_safe", "hf_exact"}))
      ->capture_default_str()
      ->envname("VERBATIM_ENCODING_POLICY");
}

Result<std::shared_ptr<const tokenizer::Tokenizer>> load_tokenizer(base::Files& files,
                                                                   const ModelOptions& options) {
  auto loaded = tokenizer::Tokenizer::load(files, options.tokenizer_dir, {options.cache_dir});
  if (!loaded && !files.exists(options.tokenizer_dir + "/tokenizer.json"))
    return error(ErrorKind::kNotFound, "--tokenizer: there is no " + options.tokenizer_dir +
                                           "/tokenizer.json; name a folder that holds one");
  return loaded;
}

Result<std::shared_ptr<gateway::Model>> load_model(base::Files& files,
                                                   const ModelOptions& options) {
  auto tokenizer = load_tokenizer(files, options);
  if (!tokenizer) return std::move(tokenizer).error();
  auto config = read_json(files, options.tokenizer_dir + "/tokenizer_config.json");
  if (!config) return std::move(config).error();
  auto model_config = read_json(files, options.tokenizer_dir + "/config.json");
  if (!model_config) return std::move(model_config).error();
  auto chat_template = read_template(files, options, *config);
  if (!chat_template) return std::move(chat_template).error();
  auto family = chat::recognise_family(**tokenizer, *chat_template);
  if (!family) return std::move(family).error();
  const auto* grammar = chat::parsers::grammar_named(family->grammar);
  if (grammar == nullptr)
    return error(ErrorKind::kUnsupported, "family " + family->name + " needs the parser " +
                                              family->grammar + ", which this build lacks");

  chat::Renderer::Options render;
  render.policy = options.policy == "hf_exact" ? tokenizer::EncodingPolicy::kHfExact
                                               : tokenizer::EncodingPolicy::kInjectionSafe;
  render.special_tokens = special_tokens(*config);
  render.control_tokens = control_tokens(*config);
  auto renderer = chat::Renderer::create(*tokenizer, std::move(*chat_template), std::move(*family),
                                         std::move(render));
  if (!renderer) return std::move(renderer).error();

  auto model = std::make_shared<gateway::Model>();
  model->name = options.name.empty() ? folder_name(options.tokenizer_dir) : options.name;
  model->checkpoint = options.tokenizer_dir;
  model->renderer = std::move(*renderer);
  model->markers = std::make_shared<chat::parsers::TokenMarkers>(**tokenizer, *grammar,
                                                                 model->renderer->stop_ids());
  model->vocab_size = model_vocab_size(*model_config, options, (*tokenizer)->vocab_size());
  return model;
}

}  // namespace verbatim::cli
