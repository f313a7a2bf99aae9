#include "gateway/response_items.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/utf8.h"
#include "gateway/query.h"
#include "json/value.h"
#include "protocol/typed.h"

namespace verbatim::gateway {

namespace {

using json::Value;
using json::Writer;

constexpr unsigned kIdLetters = 24;

struct Prefix {
  std::string_view type;
  std::string_view prefix;
};
constexpr Prefix kPrefixes[] = {{"message", "msg_"},          {"reasoning", "rs_"},
                                {"function_call", "fc_"},     {"function_call_output", "fco_"},
                                {"custom_tool_call", "ctc_"}, {"custom_tool_call_output", "ctco_"},
                                {"local_shell_call", "lsh_"}, {"local_shell_call_output", "lsho_"},
                                {"tool_search_call", "tsc_"}, {"tool_search_output", "tso_"},
                                {"additional_tools", "at_"}};

std::string_view prefix_of(std::string_view type) {
  for (const auto& row : kPrefixes) {
    if (row.type == type) return row.prefix;
  }
  return "item_";
}

struct Demanded {
  std::string_view type;
  std::string_view name;
  std::string_view value;  // JSON
};
// Members that parts have where they come back, and may lack where they come in.
constexpr Demanded kOfParts[] = {{"output_text", "annotations", "[]"},
                                 {"input_image", "image_url", "null"},
                                 {"input_image", "detail", R"("auto")"}};
constexpr Demanded kOfItems[] = {{"message", "content", "[]"},
                                 {"message", "status", R"("completed")"},
                                 {"function_call", "status", R"("completed")"},
                                 {"function_call_output", "status", R"("completed")"},
                                 {"local_shell_call", "status", R"("completed")"},
                                 {"reasoning", "summary", "[]"}};

void complete(Writer& w, const Value& value, std::string_view type,
              std::span<const Demanded> demanded) {
  for (const auto& row : demanded) {
    if (row.type == type && !value.get(row.name)) w.key(row.name).raw(row.value);
  }
}

// Null stands for what is completed.
bool is_left_out(const json::Value::Member& member, std::string_view type,
                 std::span<const Demanded> demanded) {
  if (!member.value.is_null()) return false;
  return std::any_of(demanded.begin(), demanded.end(), [&](const auto& row) {
    return row.type == type && row.name == member.name();
  });
}

// As it came, and completed; without a type it is text.
void write_part(Writer& w, const Value& part, std::string_view text) {
  if (!part.is_object()) {
    w.raw(part.raw());
    return;
  }
  const auto said = part.get("type");
  const std::string type = said && said->is_string() ? said->string() : std::string(text);
  w.begin_object();
  if (!said) w.field("type", type);
  for (const auto& member : part) {
    if (is_left_out(member, type, kOfParts)) continue;
    if (said || member.name() != "type") w.key(member.name()).raw(member.value.raw());
  }
  complete(w, part, type, kOfParts);
  w.end_object();
}

// A text alone is one part.
void write_content(Writer& w, const Value& content, bool assistant) {
  const std::string_view text = assistant ? "output_text" : "input_text";
  w.begin_array();
  if (content.is_string()) {
    w.begin_object().field("type", text);
    w.key("text").raw(content.raw());
    if (assistant) w.key("annotations").begin_array().end_array();
    w.end_object();
  } else if (content.is_array()) {
    for (const auto& part : content) write_part(w, part.value, text);
  }
  w.end_array();
}

base::Error no_output(const std::string& id) {
  return base::invalid("input", "the call " + shown_id(id) +
                                    " has no output: send a function_call_output of this call_id "
                                    "in front of what comes next");
}

base::Error no_call(const std::string& id) {
  return base::invalid("input", "an output names the call " + shown_id(id) +
                                    ", and no call of this id waits for one");
}

}  // namespace

std::string shown_id(std::string_view id) {
  if (id.size() <= kMaxShown && base::valid_utf8(id)) return "\"" + std::string(id) + "\"";
  return "of " + std::to_string(id.size()) + " bytes";
}

bool is_shown(const store::StoredResponse* response, std::string_view owner,
              std::string_view session_id) {
  return response != nullptr && response->owner == owner &&
         (session_id.empty() || response->session_id == session_id);
}

store::ConversationChange::NewItem stored_item(const std::string& item, base::Random& random) {
  const auto parsed = json::Document::parse(item);
  if (!parsed || !parsed->root().is_object()) return {};
  const Value root = parsed->root();
  const auto said = root.get("type");
  const std::string type = said && said->is_string() ? said->string() : "message";
  const bool message = type == "message";
  const bool assistant = protocol::text_or_nothing(root, "role") == "assistant";
  const auto id = root.get("id");
  store::ConversationChange::NewItem stored{protocol::text_or_nothing(root, "id"), {}};
  Writer w;
  w.begin_object();
  if (!id) {
    stored.id = std::string(prefix_of(type)) + base::new_base62_id(random, kIdLetters);
    w.field("id", stored.id);
  }
  if (!said) w.field("type", type);
  for (const auto& member : root) {
    const std::string name = member.name();
    if (member.value.is_null() && (name == "id" || name == "type" || name == "status")) continue;
    if (is_left_out(member, type, kOfItems)) continue;
    w.key(name);
    if (message && name == "content") {
      write_content(w, member.value, assistant);
    } else {
      w.raw(member.value.raw());
    }
  }
  complete(w, root, type, kOfItems);
  w.end_object();
  stored.body = w.take();
  return stored;
}

base::Status check_calls(const trajectory::TurnPtr& previous,
                         std::span<const message::Message> added) {
  std::vector<std::string> waiting;
  const auto wait_for = [&waiting](const message::Message& message) {
    for (const auto& call : message.tool_calls) waiting.push_back(call.id);
  };
  if (previous) wait_for(previous->answer);
  for (const auto& message : added) {
    if (message.role == message::Role::kTool) {
      const auto it = std::find(waiting.begin(), waiting.end(), message.tool_call_id);
      if (it == waiting.end()) return no_call(message.tool_call_id);
      waiting.erase(it);
      continue;
    }
    if (!waiting.empty()) return no_output(waiting.front());
    wait_for(message);
  }
  if (!waiting.empty()) return no_output(waiting.front());
  return {};
}

}  // namespace verbatim::gateway
