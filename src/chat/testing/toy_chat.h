#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "chat/renderer.h"
#include "message/message.h"

namespace verbatim::chat::testing {

// The toy vocabulary and templates of tests/cases/toy; tests run in the project's root.
std::shared_ptr<const tokenizer::Tokenizer> toy_tokenizer();
// `name`: "chatml" or "roletok".
std::string toy_template(std::string_view name);
// A family of this build; aborts where there is none of that name.
const Family& family_named(std::string_view name);

using Policy = tokenizer::EncodingPolicy;
std::shared_ptr<const Renderer> toy_renderer(std::string_view name,
                                             Policy policy = Policy::kInjectionSafe);
// A made-up template on the toy vocabulary.
base::Result<std::shared_ptr<const Renderer>> renderer_of(std::string chat_template, Family family,
                                                          Policy policy = Policy::kInjectionSafe);

// The id of an added token; aborts where there is none.
base::TokenId added(std::string_view content);
base::TokenIds encoded(std::string_view text);
std::string decoded(const base::TokenIds& ids);

message::Message system(std::string text);
message::Message user(std::string text);
message::Message assistant(std::string text);
message::Message thinking(std::string reasoning, std::string text);
message::Message calling(std::string text, std::string name, std::string arguments);
message::Message result(std::string text);
message::Tool tool(std::string name, std::string description = "looks");

}  // namespace verbatim::chat::testing
