// encode, decode, render, parse: one text in, one text out.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>

#include <CLI/CLI.hpp>

#include "base/utf8.h"
#include "chat/parsers/parse_command.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "gateway/segments.h"
#include "json/writer.h"
#include "protocol/chat_request.h"

namespace verbatim::cli {
namespace {

using base::Result;

constexpr std::uint64_t kMaxInput = std::uint64_t{256} << 20;

// The content of a file, or of standard input for "-".
Result<std::string> read_input(base::Files& files, const std::string& path) {
  if (path != "-") return files.read(path, kMaxInput);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

void print_ids(const base::TokenIds& ids) {
  json::Writer w;
  w.begin_array();
  for (const auto id : ids) w.unsigned_integer(id);
  w.end_array();
  print_data(w.text() + "\n");
}

// Token ids out of "[1, 2]", "1,2" or "1 2".
Result<base::TokenIds> read_ids(std::string_view text) {
  const auto ends_word = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  base::TokenIds ids;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    if (std::string_view("[], \t\r\n").find(*at) != std::string_view::npos) {
      ++at;
      continue;
    }
    base::TokenId id = 0;
    const auto [next, code] = std::from_chars(at, end, id);
    if (code != std::errc())
      return base::invalid(
          "", "expected token ids such as [1, 2, 3], found \"" +
                  std::string(at, std::find_if(at, std::min(at + 20, end), ends_word)) + "\"");
    ids.push_back(id);
    at = next;
  }
  return ids;
}

struct TextOptions {
  ModelOptions model;
  std::string input = "-";
  std::string format = "text";
};

Exit encode(const TextOptions& options) {
  const auto files = base::system_files();
  const auto tokenizer = load_tokenizer(*files, options.model);
  if (!tokenizer) return fail(tokenizer.error());
  const auto text = read_input(*files, options.input);
  if (!text) return fail(text.error());
  if (!base::valid_utf8(*text))
    return fail(base::invalid("input", "expected UTF-8 text, found bytes that are not UTF-8"));
  base::TokenIds ids;
  (*tokenizer)->encode(*text, ids);
  print_ids(ids);
  return Exit::kOk;
}

Exit decode(const TextOptions& options) {
  const auto files = base::system_files();
  const auto tokenizer = load_tokenizer(*files, options.model);
  if (!tokenizer) return fail(tokenizer.error());
  const auto text = read_input(*files, options.input);
  if (!text) return fail(text.error());
  const auto ids = read_ids(*text);
  if (!ids) return fail(ids.error());
  const auto unknown = std::count_if(
      ids->begin(), ids->end(), [&](base::TokenId id) { return id >= (*tokenizer)->vocab_size(); });
  if (unknown != 0) {
    say("ids that are not in the vocabulary of " + std::to_string((*tokenizer)->vocab_size()) +
        ", shown as U+FFFD: " + std::to_string(unknown));
  }
  const std::string decoded = (*tokenizer)->decode(*ids);
  print_data(decoded);
  return Exit::kOk;
}

// A chat request rendered as the gateway renders a conversation that it sees for the first time.
Exit render(const TextOptions& options) {
  const auto files = base::system_files();
  const auto model = load_model(*files, options.model);
  if (!model) return fail(model.error());
  auto body = read_input(*files, options.input);
  if (!body) return fail(body.error());
  auto request = protocol::read_chat_request(std::move(*body));
  if (!request) return fail(request.error());
  const auto& renderer = *(*model)->renderer;
  if (auto status = chat::normalise(request->messages, renderer.family()); !status.ok())
    return fail(status.error());
  chat::TemplateInputs inputs;
  inputs.tools = request->tools;
  auto arguments = json::Document::parse(
      request->chat_template_kwargs.empty() ? "{}" : request->chat_template_kwargs);
  if (!arguments) return fail(arguments.error());
  inputs.arguments = arguments->root();
  if (options.format == "text") {
    const auto text = renderer.text(request->messages, inputs);
    if (!text) return fail(text.error());
    print_data(text->bytes);
    return Exit::kOk;
  }
  const auto rendered = renderer.full(request->messages, inputs);
  if (!rendered) return fail(rendered.error());
  if (options.format == "ids") {
    print_ids(rendered->ids);
    return Exit::kOk;
  }
  json::Writer w;
  gateway::write_spans(w, rendered->spans);
  print_data(w.text() + "\n");
  return Exit::kOk;
}

struct ParseOptions {
  std::string grammar = "hermes";
  std::string tools;
  std::string output = "-";
  std::string segments;
  std::string prompt_tail;
  std::string finish = "stop";
  std::string chunks;
  bool tags_are_text = false;
};

Exit parse(const ParseOptions& options) {
  const auto files = base::system_files();
  chat::parsers::ParseRequest request;
  request.grammar = options.grammar;
  request.finish = options.finish;
  request.tags_are_text = options.tags_are_text;
  std::string segments;
  std::string chunks;
  const std::pair<const std::string*, std::string*> inputs[] = {
      {&options.tools, &request.tools},
      {&options.output, &request.output},
      {&options.segments, &segments},
      {&options.prompt_tail, &request.prompt_tail},
      {&options.chunks, &chunks}};
  for (const auto& [path, target] : inputs) {
    if (path->empty()) continue;
    auto content = read_input(*files, *path);
    if (!content) return fail(content.error());
    *target = std::move(*content);
  }
  if (!options.segments.empty()) request.segments = segments;
  if (!options.chunks.empty()) request.chunks = chunks;
  const auto answer = chat::parsers::parse_command(request);
  if (!answer) return fail(answer.error());
  print_data(*answer + "\n");
  return Exit::kOk;
}

}  // namespace

Run add_encode(CLI::App& program) {
  auto* command = program.add_subcommand("encode", "token ids of a text");
  auto options = std::make_shared<TextOptions>();
  options->model.add_tokenizer(*command);
  command->add_option("input", options->input, "UTF-8 text file, - for standard input")
      ->capture_default_str();
  command->footer("Example: echo -n 'Hello there' | verbatim encode --tokenizer models/qwen3");
  return [options] { return encode(*options); };
}

Run add_decode(CLI::App& program) {
  auto* command = program.add_subcommand("decode", "text of token ids");
  auto options = std::make_shared<TextOptions>();
  options->model.add_tokenizer(*command);
  command
      ->add_option("input", options->input,
                   "file with ids ([1, 2, 3] or 1 2 3), - for standard input")
      ->capture_default_str();
  command->footer("Example: echo '[9707, 1052]' | verbatim decode --tokenizer models/qwen3");
  return [options] { return decode(*options); };
}

Run add_render(CLI::App& program) {
  auto* command = program.add_subcommand(
      "render", "the prompt of a chat request: its text, its ids, or who wrote which of them");
  auto options = std::make_shared<TextOptions>();
  options->model.add_tokenizer(*command);
  options->model.add_template(*command);
  command->add_option("input", options->input, "chat request (JSON), - for standard input")
      ->capture_default_str();
  command->add_option("--format", options->format, "text, ids or spans")
      ->check(CLI::IsMember({"text", "ids", "spans"}))
      ->capture_default_str();
  command->footer(
      "Example: echo '{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}' | verbatim render "
      "--tokenizer models/qwen3");
  return [options] { return render(*options); };
}

Run add_parse(CLI::App& program) {
  auto* command =
      program.add_subcommand("parse", "reasoning, content and tool calls of a model's output");
  auto options = std::make_shared<ParseOptions>();
  command->add_option("--grammar", options->grammar, "how the model writes calls: hermes")
      ->capture_default_str();
  command->add_option(
      "--tools", options->tools,
      "JSON file: function tools that were offered, as in a chat request; without them calls "
      "are text");
  command
      ->add_option("--output", options->output,
                   "text file: the output, tags spelled out; - for standard input")
      ->capture_default_str();
  command->add_option(
      "--segments", options->segments,
      "JSON file: the output in pieces, [{\"special\": TAG} | {\"text\": TEXT}, ...], where not "
      "every tag is a special token");
  command->add_option("--prompt-tail", options->prompt_tail,
                      "text file: the last bytes of the prompt, which may have opened reasoning");
  command->add_option("--finish", options->finish, "what the engine said: stop or length")
      ->check(CLI::IsMember({"stop", "length"}))
      ->capture_default_str();
  command->add_option("--chunks", options->chunks,
                      "JSON file: [5, 3, ...], byte lengths of the pieces to feed");
  command->add_flag("--tags-are-text", options->tags_are_text,
                    "the vocabulary has no tokens for the tags");
  command->footer("Example: printf 'It is sunny.' | verbatim parse --grammar hermes");
  return [options] { return parse(*options); };
}

}  // namespace verbatim::cli
