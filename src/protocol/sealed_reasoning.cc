#include "protocol/sealed_reasoning.h"

#include "base/base64.h"
#include "base/utf8.h"

namespace verbatim::protocol {
namespace {

// Names this form and its version.
constexpr std::string_view kPrefix = "vbr1.";

}  // namespace

std::string seal_reasoning(std::string_view text) {
  return std::string(kPrefix) + base::to_base64(text);
}

bool is_sealed(std::string_view content) {
  return content.starts_with(kPrefix);
}

std::optional<std::string> unseal_reasoning(std::string_view content) {
  if (!is_sealed(content)) return std::nullopt;
  auto text = base::from_base64(content.substr(kPrefix.size()));
  if (!text || !base::valid_utf8(*text)) return std::nullopt;
  return text;
}

}  // namespace verbatim::protocol
