#include "protocol/content_parts.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;

// What stands within a part has a word in each protocol, or none that could be passed on.
Status only_known(const Value& object, const std::string& field,
                  std::initializer_list<std::string_view> known, const PartsTarget& target) {
  for (const auto member : object) {
    const std::string name = member.name();
    const bool found = std::find(known.begin(), known.end(), name) != known.end();
    if (!found && !member.value.is_null())
      return no_word_for(target, std::string(field).append(".").append(name), "no such member");
  }
  return {};
}

Result<Value> inner(const Value& part, const char* name, const std::string& field) {
  const auto value = part.get(name);
  if (!value) return base::invalid(field + "." + name, "missing; expected an object");
  if (!value->is_object()) return mismatch(field + "." + name, "an object", *value);
  return *value;
}

Status read_image(const Value& part, const std::string& field, const PartsTarget& target,
                  ContentPart& into) {
  into.kind = PartKind::kImage;
  const auto image = inner(part, "image_url", field);
  if (!image) return image.error();
  const std::string path = field + ".image_url";
  if (auto s = only_known(*image, path, {"url", "detail"}, target); !s.ok()) return s;
  if (auto s = take_string(*image, "url", path, into.url); !s.ok()) return s;
  if (into.url.empty()) return base::invalid(path + ".url", "missing; expected a URL");
  return take_string(*image, "detail", path, into.detail);
}

Status read_file(const Value& part, const std::string& field, const PartsTarget& target,
                 ContentPart& into) {
  into.kind = PartKind::kFile;
  const auto file = inner(part, "file", field);
  if (!file) return file.error();
  const std::string path = field + ".file";
  if (auto s = only_known(*file, path, {"file_data", "file_id", "filename"}, target); !s.ok())
    return s;
  if (auto s = take_string(*file, "file_data", path, into.file_data); !s.ok()) return s;
  if (auto s = take_string(*file, "file_id", path, into.file_id); !s.ok()) return s;
  if (into.file_data.empty() && into.file_id.empty())
    return base::invalid(path + ".file_data", "missing; expected the file in base64");
  return take_string(*file, "filename", path, into.filename);
}

Result<ContentPart> read_part(const Value& value, const std::string& field,
                              const PartsTarget& target) {
  if (!value.is_object()) return mismatch(field, "an object with a type", value);
  const auto type = value.get("type");
  if (!type || !type->is_string()) return base::invalid(field + ".type", "expected a string");
  const std::string word = type->string();
  ContentPart part;
  Status status;
  std::string_view named;
  if (word == "text") {
    named = "text";
    status = take_string(value, "text", field, part.text);
  } else if (word == "image_url") {
    named = "image_url";
    status = read_image(value, field, target, part);
  } else if (word == "file") {
    named = "file";
    status = read_file(value, field, target, part);
  } else {
    return no_word_for(target, field, "no content part of type " + found(*type));
  }
  if (!status.ok()) return std::move(status).error();
  for (const auto member : value) {
    const std::string name = member.name();
    if (name != "type" && name != named && !member.value.is_null())
      part.more.emplace_back(name, member.value.raw());
  }
  return part;
}

void write_file(json::Writer& w, const ContentPart& part) {
  w.key("file").begin_object();
  if (!part.file_data.empty()) w.field("file_data", part.file_data);
  if (!part.file_id.empty()) w.field("file_id", part.file_id);
  if (!part.filename.empty()) w.field("filename", part.filename);
  w.end_object();
}

void write_chat_part(json::Writer& w, const ContentPart& part) {
  w.begin_object();
  if (part.kind == PartKind::kText) {
    w.field("type", "text").field("text", part.text);
  } else if (part.kind == PartKind::kFile) {
    w.field("type", "file");
    write_file(w, part);
  } else {
    w.field("type", "image_url").key("image_url").begin_object().field("url", part.url);
    if (!part.detail.empty()) w.field("detail", part.detail);
    w.end_object();
  }
  for (const auto& [name, raw] : part.more) w.key(name).raw(raw);
  w.end_object();
}

}  // namespace

base::Error no_word_for(const PartsTarget& target, std::string field, std::string_view no_word) {
  std::string why = "the ";
  why.append(target.protocol).append(" protocol has ").append(no_word);
  why.append(" (engine mode ").append(target.mode);
  why.append("); leave it out, or use an engine mode that sends chat");
  return unsupported(std::move(field), why);
}

Result<std::vector<ContentPart>> read_parts(std::string_view raw, const std::string& field,
                                            const PartsTarget& target) {
  const auto document = json::Document::parse(std::string(raw));
  if (!document) return document.error();
  std::vector<ContentPart> parts;
  for (const auto& each : document->root()) {
    auto part = read_part(each.value, at(field, parts.size()), target);
    if (!part) return std::move(part).error();
    parts.push_back(std::move(*part));
  }
  return parts;
}

std::string first_beyond_text(std::string_view raw, const std::string& field) {
  const auto document = json::Document::parse(std::string(raw));
  if (!document) return field;
  std::size_t number = 0;
  for (const auto& each : document->root()) {
    const auto type = each.value.is_object() ? each.value.get("type") : std::nullopt;
    if (!type || !type->is_string() || type->string() != "text") return at(field, number);
    ++number;
  }
  return field;
}

void write_content(json::Writer& w, const message::Message& message, const PartsTarget& target,
                   PartWriter write_part) {
  const auto raw = message::parts_of(message);
  const auto parts = raw.empty() ? Result<std::vector<ContentPart>>(std::vector<ContentPart>())
                                 : read_parts(raw, "", target);
  if (!parts || parts->empty()) {
    w.string(message.text);
    return;
  }
  w.begin_array();
  for (const auto& part : *parts) write_part(w, part);
  w.end_array();
}

void PartsGatherer::settle(message::Message& into) const {
  for (const auto& part : parts_) into.text += part.text;
  const bool text = std::all_of(parts_.begin(), parts_.end(),
                                [](const auto& part) { return part.kind == PartKind::kText; });
  if (text) return;
  json::Writer w;
  w.begin_array();
  for (const auto& part : parts_) write_chat_part(w, part);
  w.end_array();
  into.unknown.emplace_back(message::kParts, w.take());
}

std::optional<DataUrl> read_data_url(std::string_view url) {
  constexpr std::string_view kScheme = "data:";
  constexpr std::string_view kBase64 = ";base64";
  if (!url.starts_with(kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  const auto comma = url.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view head = url.substr(0, comma);
  if (!head.ends_with(kBase64)) return std::nullopt;
  // Parameters of the type ("text/plain;charset=utf-8") are no part of its name.
  const std::string_view type = head.substr(0, head.size() - kBase64.size());
  return DataUrl{type.substr(0, type.find(';')), url.substr(comma + 1)};
}

}  // namespace verbatim::protocol
