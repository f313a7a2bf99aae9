#include "chat/renderer.h"

#include <algorithm>

#include "base/sha256.h"
#include "chat/jinja/lexer.h"
#include "chat/span_builder.h"

namespace verbatim::chat {

using base::error;
using base::ErrorKind;
using base::invalid;
using base::Result;
using base::Status;
using jinja::Text;
using message::Field;
using message::Message;
using message::SpanSource;

namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Arguments that a template may print as it likes.
bool is_no_arguments(std::string_view arguments) {
  std::string text(arguments);
  std::erase_if(text, [](char c) { return is_blank({&c, 1}); });
  return text.empty() || text == "{}" || text == "null";
}

// The part of a text from byte `at` on.
Text tail_of(const Text& text, std::size_t at) {
  Text tail;
  tail.bytes = text.bytes.substr(at);
  std::size_t position = 0;
  for (const auto& run : text.runs) {
    const std::size_t end = position + run.size;
    if (end > at)
      tail.runs.push_back({static_cast<std::uint32_t>(end - std::max(position, at)), run.source});
    position = end;
  }
  return tail;
}

std::vector<tokenizer::ByteRange> caller_ranges(const Text& text) {
  std::vector<tokenizer::ByteRange> ranges;
  std::size_t position = 0;
  for (const auto& run : text.runs) {
    if (run.source != jinja::kTemplate) {
      if (!ranges.empty() && ranges.back().end == position) {
        ranges.back().end += run.size;
      } else {
        ranges.push_back({position, position + run.size});
      }
    }
    position += run.size;
  }
  return ranges;
}

// What a render shows of one message.
struct Shown {
  unsigned fields = 0;  // bit per Field
  std::size_t call_name_bytes = 0;
};

Message base_message(const Family::BaseMessage& form, std::span<const message::ToolCall> calls) {
  Message message;
  message.role = message::role_named(form.role).value();
  message.text = "x";
  if (form.reasoning) message.reasoning = "x";
  if (message.role == message::Role::kAssistant) {
    for (const auto& call : calls) message.tool_calls.push_back({call.id, call.name, "{}"});
  }
  return message;
}

}  // namespace

Result<std::shared_ptr<const Renderer>> Renderer::create(
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer, std::string chat_template, Family family,
    Options options) {
  auto renderer = std::shared_ptr<Renderer>(new Renderer());
  renderer->tokenizer_ = std::move(tokenizer);
  renderer->family_ = std::move(family);
  renderer->options_ = std::move(options);
  renderer->fingerprint_ = base::sha256_hex(chat_template);
  if (auto status = renderer->resolve_control_tokens(chat_template); !status.ok())
    return std::move(status).error();
  auto parsed = jinja::Template::parse(std::move(chat_template));
  if (!parsed) return std::move(parsed).error();
  renderer->template_ = std::move(*parsed);
  if (auto status = renderer->resolve_tokens(); !status.ok()) return std::move(status).error();
  renderer->prove_classes();
  return std::shared_ptr<const Renderer>(std::move(renderer));
}

// As transformers 5.23 decides it.
Status Renderer::resolve_control_tokens(const std::string& chat_template) {
  TokenIds ids;
  if (options_.control_tokens) {
    ids = tokenizer_->listed_control_tokens(*options_.control_tokens);
  } else {
    auto tokens = jinja::tokenize(chat_template);
    if (!tokens) return std::move(tokens).error();
    std::string literals;
    for (const auto& token : *tokens) {
      if (token.kind == jinja::TokenKind::kData || token.kind == jinja::TokenKind::kString)
        literals += token.text + '\0';
    }
    ids = tokenizer_->default_control_tokens(literals);
  }
  auto control = tokenizer_->control_tokens(ids);
  if (!control) return std::move(control).error();
  control_ = std::move(*control);
  return {};
}

Status Renderer::resolve_tokens() {
  const auto add = [&](const std::string& content, TokenIds& ids) -> Status {
    const auto* token = tokenizer_->added(content);
    if (token == nullptr)
      return error(ErrorKind::kUnsupported, "family " + family_.name + " needs the added token " +
                                                content + ", which the tokenizer lacks");
    ids.push_back(token->id);
    return {};
  };
  for (const auto& content : family_.stop) {
    if (auto status = add(content, stop_ids_); !status.ok()) return status;
  }
  for (const auto& content : family_.message_openers) {
    if (auto status = add(content, message_opener_ids_); !status.ok()) return status;
  }
  if (family_.boundary == Family::Boundary::kAfterClose) {
    TokenIds close;
    if (auto status = add(family_.close, close); !status.ok()) return status;
    close_id_ = close.front();
  }
  return {};
}

bool Renderer::is_stop(TokenId id) const {
  return std::find(stop_ids_.begin(), stop_ids_.end(), id) != stop_ids_.end();
}

bool Renderer::closes(TokenId id) const {
  if (close_id_) return id == *close_id_;
  return std::find(message_opener_ids_.begin(), message_opener_ids_.end(), id) !=
         message_opener_ids_.end();
}

bool Renderer::is_query(const Message& message) const {
  if (message.role != message::Role::kUser) return false;
  if (family_.not_a_query_start.empty() && family_.not_a_query_end.empty()) return true;
  return !(message.text.starts_with(family_.not_a_query_start) &&
           message.text.ends_with(family_.not_a_query_end));
}

Result<Text> Renderer::text(std::span<const Message> messages, const TemplateInputs& inputs) const {
  auto list = message_list(messages, family_, 0);
  if (!list) return std::move(list).error();
  auto context = template_context(std::move(*list), inputs, options_.special_tokens);
  if (!context) return std::move(context).error();
  return template_->render(*context, {});
}

Result<Rendered> Renderer::full(std::span<const Message> messages,
                                const TemplateInputs& inputs) const {
  auto rendered = text(messages, inputs);
  if (!rendered) return std::move(rendered).error();
  if (auto status = check_coverage(*rendered, messages, 0, 0); !status.ok())
    return std::move(status).error();
  return encode(*rendered, 0);
}

Rendered Renderer::encode(const Text& text, std::size_t first_message) const {
  Rendered rendered;
  std::vector<std::uint32_t> begins;
  const bool safe = options_.policy == tokenizer::EncodingPolicy::kInjectionSafe;
  const auto ranges = safe ? caller_ranges(text) : std::vector<tokenizer::ByteRange>{};
  tokenizer_->encode(text.bytes, {ranges, control_.get()}, rendered.ids, &begins);
  const std::size_t opener = find_opener(text, family_.opener);
  const SpanRules rules{close_id_, message_opener_ids_, static_cast<std::uint32_t>(first_message),
                        opener};
  rendered.spans = build_spans(text, rendered.ids, begins, rules);
  rendered.opener = text.bytes.substr(std::min(opener, text.bytes.size()));
  return rendered;
}

Status Renderer::check_coverage(const Text& text, std::span<const Message> messages,
                                std::size_t skip, std::size_t first) const {
  std::vector<Shown> shown(messages.size());
  for (const auto& run : text.runs) {
    const Source source = source_of(run.source);
    if (source.kind != SpanSource::kMessage || source.message < skip ||
        source.message - skip >= shown.size())
      continue;
    Shown& message = shown[source.message - skip];
    message.fields |= 1U << static_cast<unsigned>(source.field);
    if (source.field == Field::kCallName) message.call_name_bytes += run.size;
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    const auto missing = [&](Field field, std::string_view name, std::string_view value) {
      return !is_blank(value) && (shown[i].fields & (1U << static_cast<unsigned>(field))) == 0 &&
             !family_.cuts(name);
    };
    const auto vanished = [&](const std::string& field) {
      return invalid("messages[" + std::to_string(first + i) + "]." + field,
                     "the chat template of family " + family_.name +
                         " leaves this field of a message with role \"" +
                         std::string(message::name(message.role)) +
                         "\" out of the prompt; drop it or put its text elsewhere");
    };
    if (missing(Field::kText, "text", message.text)) return vanished("content");
    if (message.reasoning && missing(Field::kReasoning, "reasoning", *message.reasoning))
      return vanished("reasoning_content");
    if (missing(Field::kCallId, "call_id", message.tool_call_id)) return vanished("tool_call_id");
    if (missing(Field::kName, "name", message.name)) return vanished("name");
    std::size_t name_bytes = 0;
    for (const auto& call : message.tool_calls) name_bytes += call.name.size();
    if (shown[i].call_name_bytes < name_bytes) return vanished("tool_calls");
    const bool says_something =
        std::any_of(message.tool_calls.begin(), message.tool_calls.end(),
                    [](const auto& call) { return !is_no_arguments(call.arguments); });
    if (says_something && missing(Field::kCallArguments, "arguments", "x"))
      return vanished("tool_calls");
  }
  return {};
}

std::optional<std::size_t> Renderer::end_of_message(const Text& text, std::size_t message) const {
  std::size_t position = 0;
  std::optional<std::size_t> last;
  for (const auto& run : text.runs) {
    position += run.size;
    const Source source = source_of(run.source);
    if (source.kind == SpanSource::kMessage && source.message == message) last = position;
  }
  if (!last) return std::nullopt;
  if (close_id_) {
    const auto close = text.bytes.find(family_.close, *last);
    if (close == std::string::npos) return std::nullopt;
    return close + family_.close.size();
  }
  std::size_t end = std::min(text.bytes.size(), text.bytes.find(family_.opener, *last));
  for (const auto& opener : family_.message_openers)
    end = std::min(end, text.bytes.find(opener, *last));
  return end;
}

Renderer::SuffixClass Renderer::classify(std::span<const Message> suffix) const {
  SuffixClass c;
  for (const auto& message : suffix) {
    if (is_query(message)) c.query = true;
    if (message.role == message::Role::kAssistant) c.assistant = true;
    if (message.role == message::Role::kSystem) c.system = true;
  }
  return c;
}

Result<Renderer::Cut> Renderer::render_on_base(const Family::Base& base,
                                               std::span<const message::ToolCall> calls,
                                               std::span<const Message> suffix, std::size_t first,
                                               const TemplateInputs& inputs) const {
  std::vector<Message> messages;
  messages.reserve(base.size() + suffix.size());
  for (const auto& form : base) {
    const bool last = &form == &base.back();
    messages.push_back(base_message(form, last ? calls : std::span<const message::ToolCall>()));
  }
  TemplateInputs without_prompt = inputs;
  without_prompt.generation_prompt = false;
  auto before = text(messages, without_prompt);
  if (!before) return std::move(before).error();
  messages.insert(messages.end(), suffix.begin(), suffix.end());
  // Places in error texts are those of the conversation: the unsigned difference wraps back in
  // message_list's addition.
  auto list = message_list(messages, family_, first - base.size());
  if (!list) return std::move(list).error();
  auto context = template_context(std::move(*list), inputs, options_.special_tokens);
  if (!context) return std::move(context).error();
  auto after = template_->render(*context, {});
  if (!after) return std::move(after).error();
  const auto end_before = end_of_message(*before, base.size() - 1);
  const auto end_after = end_of_message(*after, base.size() - 1);
  const bool prefix = end_before && end_after && *end_before == *end_after &&
                      std::string_view(before->bytes).substr(0, *end_before) ==
                          std::string_view(after->bytes).substr(0, *end_after);
  if (!prefix)
    return error(ErrorKind::kUnsupported,
                 "the chat template renders earlier messages anew when these are appended");
  return Cut{std::move(*after), *end_after, base.size()};
}

Result<TokenIds> Renderer::close_ids(const TurnEnd& end) const {
  TokenIds ids;
  if (end.last_id && closes(*end.last_id)) return ids;
  const auto& close =
      end.reasoning_open ? family_.synthetic_close_in_reasoning : family_.synthetic_close;
  if (!close) {
    if (!close_id_ && !end.reasoning_open) return ids;  // the next message's opener ends the turn
    return error(ErrorKind::kConflict, "the turn before was cut and the family " + family_.name +
                                           " can't close it: it can't be continued");
  }
  tokenizer_->encode(*close, ids);
  return ids;
}

Result<Delta> Renderer::delta(const TurnEnd& end, std::span<const Message> suffix,
                              std::size_t first, const TemplateInputs& inputs) const {
  const SuffixClass suffix_class = classify(suffix);
  const Proved& proved = proved_[suffix_class.index()];
  // Without a query anywhere, templates that ask for the last query render inserted assistants in
  // yet another way.
  const bool odd = suffix_class.assistant && !suffix_class.query && !end.history_has_query;
  if (proved.base == nullptr || odd) {
    return error(ErrorKind::kUnsupported,
                 "the chat template of family " + family_.name +
                     " can't append messages of these roles to a recorded turn");
  }
  auto closing = close_ids(end);
  if (!closing) return std::move(closing).error();
  TemplateInputs base_inputs = inputs;
  if (!proved.with_tools) base_inputs.tools = {};
  auto cut = render_on_base(*proved.base, end.calls, suffix, first, base_inputs);
  if (!cut) return std::move(cut).error();
  if (auto status = check_coverage(cut->text, suffix, cut->base_messages, first); !status.ok())
    return std::move(status).error();

  Delta delta;
  delta.rendered = encode(tail_of(cut->text, cut->at), first - cut->base_messages);
  mark_boundary(delta.rendered.ids, delta.rendered.spans, *tokenizer_);
  if (!closing->empty()) {
    delta.rendered.ids.insert(delta.rendered.ids.begin(), closing->begin(), closing->end());
    delta.rendered.spans.insert(delta.rendered.spans.begin(),
                                {static_cast<std::uint32_t>(closing->size()), SpanSource::kClose});
  } else if (!close_id_ && end.last_id && closes(*end.last_id)) {
    // The sampled stop token is a message opener: it stands once, as the opener that the next
    // message needs.
    if (delta.rendered.ids.front() == *end.last_id) {
      drop_first_id(delta.rendered.ids, delta.rendered.spans);
    } else {
      delta.trim = 1;
    }
  }
  return delta;
}

}  // namespace verbatim::chat
