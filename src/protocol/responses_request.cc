#include "protocol/responses_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/raw_parameters.h"
#include "protocol/responses_input.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using json::Writer;

constexpr std::size_t kMaxIdBytes = 512;

// Repeated in the response object.
constexpr std::array<std::string_view, 20> kEchoed{
    "instructions", "tools",          "tool_choice",         "truncation",
    "text",         "top_p",          "parallel_tool_calls", "presence_penalty",
    "temperature",  "top_logprobs",   "frequency_penalty",   "reasoning",
    "metadata",     "max_tool_calls", "max_output_tokens",   "service_tier",
    "user",         "store",          "safety_identifier",   "prompt_cache_key"};
// Change nothing of the answer; where it goes up by messages, they go with it.
constexpr std::array<std::string_view, 2> kBookkeeping{"client_metadata", "stream_options"};
// What `include` may ask for, and what it may not.
constexpr std::string_view kEncrypted = "reasoning.encrypted_content";
constexpr std::string_view kLogprobs = "message.output_text.logprobs";
constexpr std::string_view kNoLogprobs =
    "logprobs of the text; leave them out (records and /v1/chat/completions have them)";

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Fields that ask for what is not there yet, with the values that ask for nothing.
Status check_word(const Value& value, const std::string& field, std::string_view neutral,
                  std::string_view remedy) {
  if (value.is_string() && value.string() == neutral) return {};
  if (!value.is_string()) return mismatch(field, "a string", value);
  return unsupported(field, remedy);
}

class RequestReader {
 public:
  RequestReader(const Value& body, Unserved unserved) : body_(body), unserved_(unserved) {
    chat_.begin_object();
  }

  Result<ResponsesRequest> read() {
    if (!body_.is_object()) return mismatch("", "the body to be an object", body_);
    if (body_.size() > kMaxMembers) return too_many_members("", kMaxMembers);
    if (!body_.get("input")) return base::invalid("input", "missing; expected a string or items");
    for (const auto& member : body_) {
      const std::string name = member.name();
      if (member.value.is_null() || !is_last(body_, name, member.value)) continue;
      if (is_among(kEchoed, name)) request_.echo.emplace_back(name, member.value.raw());
      if (auto s = read(name, member.value); !s.ok()) return std::move(s).error();
    }
    if (auto s = read_item_tools(); !s.ok()) return std::move(s).error();
    if (auto s = check_history(); !s.ok()) return std::move(s).error();
    chat_.end_object();
    request_.chat = chat_.take();
    return std::move(request_);
  }

 private:
  using Read = Status (RequestReader::*)(const Value&, const std::string&);
  struct Row {
    std::string_view name;
    Read read;
  };

  Status read(const std::string& name, const Value& value) {
    static constexpr std::array<Row, 19> kRows{
        {{"input", &RequestReader::read_input},
         {"instructions", &RequestReader::read_instructions},
         {"previous_response_id", &RequestReader::read_previous},
         {"conversation", &RequestReader::read_conversation},
         {"store", &RequestReader::read_store},
         {"background", &RequestReader::read_background},
         {"tools", &RequestReader::read_tools},
         {"tool_choice", &RequestReader::read_choice},
         {"include", &RequestReader::read_include},
         {"max_output_tokens", &RequestReader::read_limit},
         {"max_tool_calls", &RequestReader::read_calls},
         {"text", &RequestReader::read_text},
         {"reasoning", &RequestReader::read_reasoning},
         {"top_logprobs", &RequestReader::read_top_logprobs},
         {"logprobs", &RequestReader::read_logprobs},
         {"n", &RequestReader::read_n},
         {"messages", &RequestReader::read_messages},
         {"truncation", &RequestReader::read_truncation},
         {"prompt", &RequestReader::read_prompt}}};
    for (const Row& row : kRows) {
      if (row.name == name) return (this->*row.read)(value, name);
    }
    if (unserved_ == Unserved::kRefuse && is_among(kBookkeeping, name)) return {};
    chat_.key(name).raw(value.raw());
    return {};
  }

  Status read_input(const Value& value, const std::string&) {
    auto read = protocol::read_input(value, input_rules(unserved_));
    if (!read) return std::move(read).error();
    request_.messages = std::move(*read);
    if (value.is_string()) {
      Writer item;
      item.begin_object().field("role", "user").key("content").raw(value.raw()).end_object();
      request_.items.push_back(item.take());
      return {};
    }
    for (const auto& item : value) request_.items.emplace_back(item.value.raw());
    return {};
  }

  Status read_instructions(const Value& value, const std::string& field) {
    auto text = read_string(value, field);
    if (!text) return std::move(text).error();
    if (!text->empty()) request_.instructions = std::move(*text);
    return {};
  }

  static Status read_id(const Value& value, const std::string& field, std::string& into) {
    auto text = read_string(value, field);
    if (!text) return std::move(text).error();
    if (text->empty() || text->size() > kMaxIdBytes)
      return base::invalid(field, "expected an id of 1 to 512 bytes, found " +
                                      std::to_string(text->size()) + " bytes");
    into = std::move(*text);
    return {};
  }

  Status read_previous(const Value& value, const std::string& field) {
    return read_id(value, field, request_.previous_response_id);
  }

  // An id, or an object that has it.
  Status read_conversation(const Value& value, const std::string& field) {
    if (value.is_string()) return read_id(value, field, request_.conversation);
    if (!value.is_object()) return mismatch(field, "an id or an object with an id", value);
    const auto id = value.get("id");
    if (!id) return base::invalid(field + ".id", "missing; expected a string");
    return read_id(*id, field + ".id", request_.conversation);
  }

  // Each says what goes before, and they need not say the same.
  [[nodiscard]] Status check_history() const {
    if (request_.conversation.empty() || request_.previous_response_id.empty()) return {};
    auto failure = base::invalid("previous_response_id",
                                 "a request with a conversation goes on from its items: leave one "
                                 "of the two out");
    failure.code = "mutually_exclusive_parameters";
    return failure;
  }

  Status read_store(const Value& value, const std::string& field) {
    auto store = read_bool(value, field);
    if (!store) return std::move(store).error();
    request_.store = *store;
    return {};
  }

  Status read_background(const Value& value, const std::string& field) {
    auto background = read_bool(value, field);
    if (!background) return std::move(background).error();
    if (*background) return unsupported(field, "responses in the background; leave it out");
    return {};
  }

  Status read_tools(const Value& value, const std::string&) {
    auto tools = ResponsesTools::read(value);
    if (!tools) return std::move(tools).error();
    request_.tools = std::move(*tools);
    return {};
  }

  // Behind `tools`, wherever that stands: a name is taken once.
  Status read_item_tools() {
    const Value input = *body_.get("input");
    const auto tools = body_.get("tools");
    auto all = with_item_tools(tools ? &*tools : nullptr, input);
    const bool inherits = !request_.previous_response_id.empty() || !request_.conversation.empty();
    if (all && !tools && inherits)
      return unsupported("input",
                         "items of type additional_tools where tools are inherited; name "
                         "all that are to hold in tools");
    if (auto s = request_.tools.add_from_items(input); !s.ok()) return s;
    if (!all) return {};
    // The object says which hold, and the next response inherits them from there.
    std::erase_if(request_.echo, [](const auto& member) { return member.first == "tools"; });
    request_.echo.emplace_back("tools", std::move(*all));
    return {};
  }

  Status read_choice(const Value& value, const std::string& field) {
    chat_.key(field);
    write_chat_choice(chat_, value);
    return {};
  }

  Status read_include(const Value& value, const std::string& field) {
    if (!value.is_array()) return mismatch(field, "an array of strings", value);
    std::size_t number = 0;
    for (const auto& entry : value) {
      const std::string path = at(field, number++);
      auto word = read_string(entry.value, path);
      if (!word) return std::move(word).error();
      if (*word == kLogprobs) return unsupported(path, kNoLogprobs);
      if (*word != kEncrypted)
        return unsupported(
            path, found(entry.value) + " asks for something of a tool that the server would run");
      request_.seal_reasoning = true;
    }
    return {};
  }

  Status read_limit(const Value& value, const std::string&) {
    chat_.key("max_completion_tokens").raw(value.raw());
    return {};
  }

  // Calls of tools that a server runs are counted; there are none.
  Status read_calls(const Value& value, const std::string& field) {
    auto count = read_integer(value, field, {.min = 1, .expected = "an integer >= 1"});
    return count ? Status() : Status(std::move(count).error());
  }

  Status read_top_logprobs(const Value& value, const std::string& field) {
    auto count = read_integer(value, field, {.min = 0, .expected = "an integer >= 0"});
    if (!count) return std::move(count).error();
    return *count == 0 ? Status() : unsupported(field, kNoLogprobs);
  }

  // Of Chat Completions; an answer has no place for what they ask for.
  Status read_logprobs(const Value& value, const std::string& field) {
    auto wanted = read_bool(value, field);
    if (!wanted) return std::move(wanted).error();
    return *wanted ? unsupported(field, kNoLogprobs) : Status();
  }

  Status read_n(const Value& value, const std::string& field) {
    if (value.raw() == "1") return {};
    return unsupported(field, "a response is one answer; ask several times");
  }

  Status read_messages(const Value&, const std::string& field) {
    return unsupported(field, "no field of the Responses API; send input");
  }

  Status read_truncation(const Value& value, const std::string& field) {
    return check_word(value, field, "disabled",
                      "\"auto\"; shorten the input, or leave it out to have an error where it is "
                      "too long");
  }

  Status read_prompt(const Value&, const std::string& field) {
    return unsupported(field, "stored prompts; send instructions and input");
  }

  // {"format":{"type":"json_schema",..}} -> {"type":"json_schema","json_schema":{..}}.
  Status read_text(const Value& value, const std::string& field) {
    if (!value.is_object()) return mismatch(field, "an object", value);
    for (const auto& member : value) {
      const std::string name = member.name();
      if (member.value.is_null() || !is_last(value, name, member.value)) continue;
      if (name == "verbosity") {
        chat_.key("verbosity").raw(member.value.raw());
      } else if (name == "format") {
        if (auto s = read_format(member.value, field + ".format"); !s.ok()) return s;
      } else {
        return unsupported(std::string(field).append(".").append(name), "unknown parameter");
      }
    }
    return {};
  }

  Status read_format(const Value& value, const std::string& field) {
    if (!value.is_object()) return mismatch(field, "an object", value);
    const auto type = value.get("type");
    if (!type) return base::invalid(field + ".type", "missing; expected a string");
    if (!type->is_string()) return mismatch(field + ".type", "a string", *type);
    chat_.key("response_format").begin_object().key("type").raw(type->raw());
    if (type->string() == "json_schema") {
      chat_.key("json_schema").begin_object();
      for (const auto& member : value) {
        const std::string name = member.name();
        if (name != "type" && is_last(value, name, member.value))
          chat_.key(name).raw(member.value.raw());
      }
      chat_.end_object();
    }
    chat_.end_object();
    return {};
  }

  // By ids a summary is nothing that can be asked for: the reasoning itself is shown.
  Status read_reasoning(const Value& value, const std::string& field) {
    if (!value.is_object()) return mismatch(field, "an object", value);
    const auto effort = value.get("effort");
    if (effort) chat_.key("reasoning_effort").raw(effort->raw());
    if (unserved_ == Unserved::kKeep && value.size() > (effort ? 1U : 0U))
      chat_.key(kAskedReasoning).raw(value.raw());
    return {};
  }

  const Value body_;
  const Unserved unserved_;
  ResponsesRequest request_;
  Writer chat_;
};

}  // namespace

Result<ResponsesRequest> read_responses_request(const Value& body, Unserved unserved) {
  return RequestReader(body, unserved).read();
}

// {"type":"function","name"} -> {"type":"function","function":{"name"}}; a custom tool is a
// function, too.
void write_chat_choice(Writer& w, const Value& value) {
  const auto type = value.is_object() ? value.get("type") : std::nullopt;
  const auto name = value.is_object() ? value.get("name") : std::nullopt;
  if (!type || !type->is_string() || !name || !name->is_string()) {
    w.raw(value.raw());
    return;
  }
  const auto space = value.get("namespace");
  w.begin_object().field("type", "function").key("function").begin_object();
  w.field("name",
          function_name(space && space->is_string() ? space->string() : "", name->string()));
  w.end_object().end_object();
}

// By ids a prompt is text; by messages what is not known here is the engine's to know.
InputRules input_rules(Unserved unserved) {
  const bool keep = unserved == Unserved::kKeep;
  return {.parts = keep, .tools = true, .items = keep};
}

base::Error in_responses_words(base::Error error) {
  struct Word {
    std::string_view chat;
    std::string_view responses;
  };
  // What stands at a place among the messages, the client need not have sent at that place; the
  // member itself it did, where that is refused.
  const bool refused = error.field == "messages" && error.kind == base::ErrorKind::kUnsupported;
  if (error.field.starts_with("messages") && !refused) error.field = "input";
  static constexpr std::array<Word, 5> kWords{{{"max_completion_tokens", "max_output_tokens"},
                                               {"max_tokens", "max_output_tokens"},
                                               {"response_format", "text.format"},
                                               {"verbosity", "text.verbosity"},
                                               {"reasoning_effort", "reasoning.effort"}}};
  for (const Word& word : kWords) {
    if (!error.field.starts_with(word.chat)) continue;
    error.field.replace(0, word.chat.size(), word.responses);
    break;
  }
  return error;
}

}  // namespace verbatim::protocol
