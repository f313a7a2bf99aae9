#include "protocol/messages_parts.h"

#include <algorithm>
#include <utility>

#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using json::Writer;
using message::Message;
using message::Role;

constexpr PartsTarget kTarget{"Messages", "messages"};
constexpr std::string_view kPdf = "application/pdf";

bool is_web_address(std::string_view url) {
  const std::string_view scheme = url.substr(0, url.find(':'));
  const auto same = [&](std::string_view word) {
    return std::equal(scheme.begin(), scheme.end(), word.begin(), word.end(),
                      [](char a, char b) { return (a | 0x20) == b; });
  };
  return scheme.size() < url.size() && (same("http") || same("https"));
}

Status check_image(const ContentPart& part, const std::string& field) {
  const std::string path = field + ".image_url";
  if (!part.detail.empty() && part.detail != "auto")
    return no_word_for(kTarget, path + ".detail", "no detail of images");
  if (is_web_address(part.url)) return {};
  const auto data = read_data_url(part.url);
  if (data && data->media_type.starts_with("image/") && !data->data.empty()) return {};
  return base::invalid(path + ".url",
                       "expected an address of http or https, or data:image/<type>;base64,<data>");
}

Status check_file(const ContentPart& part, const std::string& field) {
  const std::string path = field + ".file";
  if (!part.file_id.empty())
    return no_word_for(kTarget, path + ".file_id", "no files of another server");
  const auto data = read_data_url(part.file_data);
  if (data && data->media_type == kPdf && !data->data.empty()) return {};
  return no_word_for(kTarget, path + ".file_data",
                     "no files but data:application/pdf;base64,<data>");
}

void write_base64(Writer& w, const DataUrl& data) {
  w.begin_object().field("type", "base64").field("media_type", data.media_type);
  w.field("data", data.data).end_object();
}

void write_block(Writer& w, const ContentPart& part) {
  w.begin_object();
  if (part.kind == PartKind::kText) {
    w.field("type", "text").field("text", part.text);
  } else {
    const bool image = part.kind == PartKind::kImage;
    w.field("type", image ? "image" : "document").key("source");
    if (const auto data = read_data_url(image ? part.url : part.file_data)) {
      write_base64(w, *data);
    } else {
      w.begin_object().field("type", "url").field("url", part.url).end_object();
    }
    if (!part.filename.empty()) w.field("title", part.filename);
  }
  for (const auto& [name, raw] : part.more) w.key(name).raw(raw);
  w.end_object();
}

}  // namespace

Status check_messages_content(const Message& message, const std::string& field) {
  const auto raw = message::parts_of(message);
  if (raw.empty()) return {};
  const std::string content = field + ".content";
  if (message.role != Role::kUser && message.role != Role::kTool)
    return no_word_for(kTarget, first_beyond_text(raw, content),
                       message.role == Role::kAssistant ? "text alone in what an assistant said"
                                                        : "text alone in instructions");
  const auto parts = read_parts(raw, content, kTarget);
  if (!parts) return parts.error();
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const ContentPart& part = (*parts)[i];
    Status status;
    if (part.kind == PartKind::kImage) status = check_image(part, at(content, i));
    if (part.kind == PartKind::kFile) status = check_file(part, at(content, i));
    if (!status.ok()) return status;
  }
  return {};
}

void write_messages_content(Writer& w, const Message& message) {
  write_content(w, message, kTarget, write_block);
}

bool is_picture_block(const Value& block) {
  const std::string type = text_or_nothing(block, "type");
  return type == "image" || type == "document";
}

Result<ContentPart> read_picture_block(const Value& block, const std::string& field) {
  const auto source = block.get("source");
  if (!source || !source->is_object())
    return base::invalid(field + ".source", "missing; expected an object");
  const std::string type = text_or_nothing(*source, "type");
  std::string url = text_or_nothing(*source, "url");
  if (type == "base64")
    url = "data:" + text_or_nothing(*source, "media_type") + ";base64," +
          text_or_nothing(*source, "data");
  if (url.empty())
    return base::invalid(field + ".source", "expected one of type base64 or url, with its data");
  ContentPart part;
  const bool image = text_or_nothing(block, "type") == "image";
  part.kind = image ? PartKind::kImage : PartKind::kFile;
  (image ? part.url : part.file_data) = std::move(url);
  part.filename = text_or_nothing(block, "title");
  return part;
}

}  // namespace verbatim::protocol
