#include "protocol/responses_parts.h"

#include <utility>

#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using json::Writer;
using message::Message;

constexpr PartsTarget kTarget{"Responses", "responses"};

void write_part(Writer& w, const ContentPart& part) {
  w.begin_object();
  if (part.kind == PartKind::kText) {
    w.field("type", "input_text").field("text", part.text);
  } else if (part.kind == PartKind::kImage) {
    w.field("type", "input_image").field("image_url", part.url);
    // Demanded here; chat's default.
    w.field("detail", part.detail.empty() ? "auto" : part.detail);
  } else {
    w.field("type", "input_file");
    if (!part.file_data.empty()) w.field("file_data", part.file_data);
    if (!part.file_id.empty()) w.field("file_id", part.file_id);
    if (!part.filename.empty()) w.field("filename", part.filename);
  }
  for (const auto& [name, raw] : part.more) w.key(name).raw(raw);
  w.end_object();
}

}  // namespace

Status check_responses_content(const Message& message, const std::string& field) {
  const auto parts = message::parts_of(message);
  if (parts.empty()) return {};
  const std::string content = field + ".content";
  if (message.role == message::Role::kAssistant)
    return no_word_for(kTarget, first_beyond_text(parts, content),
                       "text alone in what an assistant said");
  const auto read = read_parts(parts, content, kTarget);
  return read ? Status() : Status(read.error());
}

void write_responses_content(Writer& w, const Message& message) {
  write_content(w, message, kTarget, write_part);
}

Result<ContentPart> read_responses_part(const Value& value, const std::string& field) {
  if (!value.is_object()) return mismatch(field, "an object", value);
  const std::string word = text_or_nothing(value, "type");
  ContentPart part;
  Status status;
  if (word == "input_image") {
    part.kind = PartKind::kImage;
    status = take_string(value, "image_url", field, part.url);
    if (status.ok()) status = take_string(value, "detail", field, part.detail);
    if (status.ok() && part.url.empty())
      status = base::invalid(field + ".image_url", "missing; expected a URL");
  } else if (word == "input_file") {
    part.kind = PartKind::kFile;
    status = take_string(value, "file_data", field, part.file_data);
    if (status.ok()) status = take_string(value, "file_id", field, part.file_id);
    if (status.ok()) status = take_string(value, "filename", field, part.filename);
  } else if (!value.get("text")) {
    return base::invalid(field + ".text", "missing; expected a string");
  } else {
    status = take_string(value, "text", field, part.text);
  }
  if (!status.ok()) return std::move(status).error();
  return part;
}

}  // namespace verbatim::protocol
