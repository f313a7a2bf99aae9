#include "cassette/yaml_writer.h"

#include <utility>

#include <yaml.h>

#include "cassette/yaml_node.h"

namespace verbatim::cassette {
namespace {

int append(void* to, unsigned char* bytes, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the library's bytes
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
  return 1;
}

bool is_printable(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
}

// Line ends of Unicode (NEL, LS, PS) and byte order marks: readers of literal blocks change them.
bool has_odd_lines(std::string_view text) {
  for (const std::string_view odd : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xEF\xBB\xBF"}) {
    if (text.find(odd) != std::string_view::npos) return true;
  }
  return false;
}

// Whether a literal block brings this text back: whole lines that neither begin nor end blank.
bool fits_literal(std::string_view text) {
  if (text.size() < 2 || !text.ends_with('\n') || text[text.size() - 2] == '\n') return false;
  if (text.front() == ' ' || text.front() == '\n') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' ? i > 0 && text[i - 1] == ' ' : !is_printable(c)) return false;
  }
  return !has_odd_lines(text);
}

// Whether it may stand without quotes: a word of letters and what is harmless between them.
bool fits_plain(std::string_view text) {
  if (needs_quotes(text) || text.size() > 80) return false;
  constexpr std::string_view kHarmless =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./";
  return text.find_first_not_of(kHarmless) == std::string_view::npos;
}

yaml_scalar_style_t style_of(std::string_view text) {
  if (fits_plain(text)) return YAML_PLAIN_SCALAR_STYLE;
  return fits_literal(text) ? YAML_LITERAL_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
}

}  // namespace

struct YamlWriter::Impl {
  yaml_emitter_t emitter{};
  std::string out;
  bool made = false;
  bool good = false;

  // `event` was made by the library, `ready` says whether that worked; the emitter takes it over.
  void emit(int ready, yaml_event_t& event) {
    good = good && ready != 0 && yaml_emitter_emit(&emitter, &event) != 0;
  }
  void scalar(std::string_view text, yaml_scalar_style_t style) {
    yaml_event_t event;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the library's bytes
    const auto* bytes = reinterpret_cast<const yaml_char_t*>(text.data());
    static constexpr yaml_char_t kNothing = 0;
    emit(
        yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes == nullptr ? &kNothing : bytes,
                                     static_cast<int>(text.size()), 1, 1, style),
        event);
  }
};

YamlWriter::YamlWriter() : impl_(std::make_unique<Impl>()) {
  impl_->made = impl_->good = yaml_emitter_initialize(&impl_->emitter) != 0;
  if (!impl_->made) return;
  yaml_emitter_set_output(&impl_->emitter, append, &impl_->out);
  yaml_emitter_set_unicode(&impl_->emitter, 1);
  yaml_emitter_set_width(&impl_->emitter, -1);
  yaml_event_t event;
  impl_->emit(yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), event);
  impl_->emit(yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1), event);
}

YamlWriter::~YamlWriter() {
  if (impl_->made) yaml_emitter_delete(&impl_->emitter);
}

void YamlWriter::begin_mapping() {
  yaml_event_t event;
  impl_->emit(
      yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE),
      event);
}

void YamlWriter::end_mapping() {
  yaml_event_t event;
  impl_->emit(yaml_mapping_end_event_initialize(&event), event);
}

void YamlWriter::begin_sequence() {
  yaml_event_t event;
  impl_->emit(
      yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_SEQUENCE_STYLE),
      event);
}

void YamlWriter::end_sequence() {
  yaml_event_t event;
  impl_->emit(yaml_sequence_end_event_initialize(&event), event);
}

void YamlWriter::string(std::string_view text) {
  impl_->scalar(text, style_of(text));
}

void YamlWriter::literal(std::string_view text) {
  impl_->scalar(text, YAML_PLAIN_SCALAR_STYLE);
}

void YamlWriter::value(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kObject:
      begin_mapping();
      for (const auto member : value) {
        string(member.name());
        this->value(member.value);
      }
      return end_mapping();
    case json::Kind::kArray:
      begin_sequence();
      for (const auto item : value) this->value(item.value);
      return end_sequence();
    case json::Kind::kString:
      return string(value.string());
    default:
      return literal(value.raw());
  }
}

base::Result<std::string> YamlWriter::take() {
  yaml_event_t event;
  impl_->emit(yaml_document_end_event_initialize(&event, 1), event);
  impl_->emit(yaml_stream_end_event_initialize(&event), event);
  if (!impl_->good) return base::error(base::ErrorKind::kInternal, "this can't be written as YAML");
  return std::move(impl_->out);
}

}  // namespace verbatim::cassette
