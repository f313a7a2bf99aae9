#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/family.h"
#include "chat/jinja/value.h"
#include "json/value.h"
#include "message/message.h"
#include "message/span.h"

namespace verbatim::chat {

// The numbers under which the template engine carries the inputs of a render.
struct Source {
  message::SpanSource kind = message::SpanSource::kTemplate;
  std::uint32_t message = message::TokenSpan::kNoMessage;  // place within the rendered messages
  message::Field field = message::Field::kNone;
};
jinja::SourceId source_id(const Source& source);
Source source_of(jinja::SourceId id);

// What a render is made of, apart from the messages.
struct TemplateInputs {
  std::span<const message::Tool> tools;
  std::optional<json::Value> arguments;  // chat_template_kwargs of the request: an object
  bool generation_prompt = true;
};

// Messages as the family's template wants them (docs/design.md 5, "Nothing vanishes"): developer
// messages mapped or refused. Error: kInvalidRequest naming the message.
base::Status normalise(std::vector<message::Message>& messages, const Family& family);

// The value of `messages` for the template: what transformers 5 hands over (null fields left out,
// reasoning under all three names). `first` is the number of messages[0] in error texts. Error:
// kInvalidRequest naming arguments that are not JSON where the template needs their value.
base::Result<jinja::Value> message_list(std::span<const message::Message> messages,
                                        const Family& family, std::size_t first);

// The whole context. `special_tokens` are (name, text) such as ("bos_token", "<s>"). Error:
// kInvalidRequest naming an argument that is not the caller's to set.
base::Result<jinja::Value> template_context(
    jinja::Value messages, const TemplateInputs& inputs,
    std::span<const std::pair<std::string, std::string>> special_tokens);

}  // namespace verbatim::chat
