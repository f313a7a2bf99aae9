#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/jinja/template.h"

// Shorthand of the tests.
namespace verbatim::chat::jinja::testing {

// A context out of JSON text; every string, number and container below it has `source`.
Value context(std::string_view json, SourceId source = 1);
base::Result<Text> render(std::string_view source, const Value& context,
                          const RenderOptions& options = {});
// The text, or "error: " and the message.
std::string text_of(std::string_view source, std::string_view json = "{}",
                    const RenderOptions& options = {});
// The text with its sources: "0:abc|3:def".
std::string runs_of(const Text& text);
std::string runs_of(std::string_view source, const Value& context);

}  // namespace verbatim::chat::jinja::testing
