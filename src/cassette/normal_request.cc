#include "cassette/normal_request.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cassette/secrets.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::cassette {
namespace {

using base::Result;
using json::Value;

using Members = std::vector<std::pair<std::string, std::string>>;  // name, normal JSON

std::string quoted(std::string_view text) {
  std::string out;
  json::append_string(out, text);
  return out;
}

// Numbers that are equal print alike: 1, 1.0 and 1e0.
std::string normal_number(const Value& value) {
  if (const auto integer = value.integer()) return std::to_string(*integer);
  const auto number = value.number();
  if (!number || value.written_as_integer()) return std::string(value.raw());
  std::string out;
  json::append_double(out, *number);
  return out;
}

std::string normal(const Value& value);

std::string object_of(Members members) {
  std::sort(members.begin(), members.end());
  std::string out = "{";
  for (const auto& [name, text] : members) {
    if (out.size() > 1) out += ',';
    out += quoted(name) + ":" + text;
  }
  return out + "}";
}

template <class Each>
std::string array_of(const Value& array, Each each) {
  std::string out = "[";
  for (const auto item : array) {
    if (out.size() > 1) out += ',';
    out += each(item.value);
  }
  return out + "]";
}

Members members_of(const Value& object) {
  Members members;
  for (const auto member : object) {
    if (!member.value.is_null()) members.emplace_back(member.name(), normal(member.value));
  }
  return members;
}

std::string normal(const Value& value) {
  if (value.is_object()) return object_of(members_of(value));
  if (value.is_array()) return array_of(value, normal);
  if (value.is_number()) return normal_number(value);
  if (value.is_string()) return quoted(value.string());
  return std::string(value.raw());
}

void set(Members& members, const std::string& name, std::string text) {
  const auto at = std::find_if(members.begin(), members.end(),
                               [&](const auto& member) { return member.first == name; });
  if (at == members.end()) {
    members.emplace_back(name, std::move(text));
  } else {
    at->second = std::move(text);
  }
}

void drop(Members& members, std::string_view name, std::string_view text) {
  std::erase_if(members, [&](const auto& m) { return m.first == name && m.second == text; });
}

std::string text_part(std::string_view role, std::string_view quoted_text) {
  const std::string type = role == "assistant" ? "output_text" : "input_text";
  return R"({"text":)" + std::string(quoted_text) + R"(,"type":")" + type + R"("})";
}

std::string normal_part(const Value& part) {
  if (!part.is_object()) return normal(part);
  auto members = members_of(part);
  drop(members, "annotations", "[]");
  drop(members, "logprobs", "[]");
  return object_of(std::move(members));
}

std::string normal_item(const Value& item) {
  if (!item.is_object()) return normal(item);
  auto members = members_of(item);
  const auto role = item.get("role");
  if (!role || !role->is_string()) return object_of(std::move(members));
  if (!item.get("type")) set(members, "type", R"("message")");
  if (const auto content = item.get("content")) {
    if (content->is_string())
      set(members, "content", "[" + text_part(role->string(), quoted(content->string())) + "]");
    if (content->is_array()) set(members, "content", array_of(*content, normal_part));
  }
  return object_of(std::move(members));
}

std::string normal_input(const Value& input) {
  if (input.is_array()) return array_of(input, normal_item);
  if (!input.is_string()) return normal(input);
  return R"([{"content":[)" + text_part("user", quoted(input.string())) +
         R"(],"role":"user","type":"message"}])";
}

// ---------------------------------------------------------------- differences

std::string shown(const std::optional<Value>& value) {
  constexpr std::size_t kMost = 200;
  if (!value) return "nothing";
  std::string text(value->raw());
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

std::string told(const std::string& where, const std::optional<Value>& found,
                 const std::optional<Value>& recorded) {
  return where + ": found " + shown(found) + ", recorded " + shown(recorded);
}

std::string differ(const std::string& where, const Value& found, const Value& recorded) {
  if (found.raw() == recorded.raw()) return "";
  if (found.is_object() && recorded.is_object()) {
    for (const auto member : recorded) {
      const auto other = found.find(member.name());
      const std::string at = where + "." + member.name();
      if (!other) return told(at, other, member.value);
      if (auto text = differ(at, *other, member.value); !text.empty()) return text;
    }
    for (const auto member : found) {
      if (!recorded.find(member.name())) return told(where + "." + member.name(), member.value, {});
    }
  }
  if (found.is_array() && recorded.is_array()) {
    auto a = found.begin();
    auto b = recorded.begin();
    for (std::size_t i = 0; a != found.end() || b != recorded.end(); ++i) {
      const std::string at = where + "[" + std::to_string(i) + "]";
      if (a == found.end()) return told(at, {}, (*b).value);
      if (b == recorded.end()) return told(at, (*a).value, {});
      if (auto text = differ(at, (*a).value, (*b).value); !text.empty()) return text;
      ++a;
      ++b;
    }
  }
  return told(where, found, recorded);
}

}  // namespace

Result<NormalRequest> normalise(std::string_view method, std::string_view path, Pairs query,
                                std::string_view body, const std::vector<std::string>& ignored) {
  NormalRequest out{std::string(method), std::string(path), std::move(query), {}};
  std::sort(out.query.begin(), out.query.end());
  const auto document = json::Document::parse(body.empty() ? "{}" : std::string(body));
  if (!document) return base::invalid("body", document.error().message);
  const Value root = document->root();
  if (!root.is_object())
    return base::invalid("body",
                         "expected an object, found " + std::string(json::describe(root.kind())));
  auto members = members_of(root);
  drop(members, "stream", "false");
  if (const auto input = root.get("input")) set(members, "input", normal_input(*input));
  std::erase_if(members, [&](const auto& member) {
    return std::find(ignored.begin(), ignored.end(), member.first) != ignored.end();
  });
  out.body = object_of(std::move(members));
  return out;
}

std::string first_difference(const NormalRequest& found, const NormalRequest& recorded) {
  if (found == recorded) return "";
  if (found.method != recorded.method || found.path != recorded.path)
    return "found " + found.method + " " + found.path + ", recorded " + recorded.method + " " +
           recorded.path;
  if (found.query != recorded.query) return "the query is another";
  const auto a = json::Document::parse(found.body);
  const auto b = json::Document::parse(recorded.body);
  if (!a || !b) return "the body is another";
  return differ("body", a->root(), b->root());
}

Pairs read_query(std::string_view query) {
  Pairs out;
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto part = query.substr(0, end);
    const auto equals = part.find('=');
    const auto name = part.substr(0, equals);
    const auto value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    if (!part.empty() && !is_secret(name)) out.emplace_back(name, value);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
  }
  return out;
}

}  // namespace verbatim::cassette
