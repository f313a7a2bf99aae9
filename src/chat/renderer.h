#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "chat/context.h"
#include "chat/family.h"
#include "chat/jinja/template.h"
#include "message/message.h"
#include "message/span.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::chat {

using base::TokenId;
using base::TokenIds;

// Prompt ids and where they come from.
struct Rendered {
  TokenIds ids;
  std::vector<message::TokenSpan> spans;  // tile ids
  std::string
      opener;  // text from the generation prompt's opener on: what the model's answer follows
};

// Where new messages are to be joined.
struct TurnEnd {
  std::optional<TokenId> last_id;            // of the completion; nullopt: nothing was sampled
  bool reasoning_open = false;               // the completion ends inside reasoning
  std::span<const message::ToolCall> calls;  // of the answer
  bool history_has_query = true;             // a user query stands somewhere above
};

// The ids behind a turn's row.
struct Delta {
  unsigned trim = 0;  // ids of the completion to drop first
  Rendered rendered;  // synthetic close, boundary, new messages, generation prompt
};

// Turns messages into prompt ids for one model: its template, its tokenizer, its family. Immutable,
// thread-safe.
class Renderer {
 public:
  struct Options {
    tokenizer::EncodingPolicy policy = tokenizer::EncodingPolicy::kInjectionSafe;
    std::vector<std::pair<std::string, std::string>>
        special_tokens;  // for the template: ("bos_token", "<s>")
    // Of tokenizer_config.json: the added tokens beside the special ones that callers must not
    // write. Absent: those that the template spells out.
    std::optional<std::vector<std::string>> control_tokens;
  };

  // Parses the template and proves the family on probe histories (docs/design.md 5, "Delta
  // tokens"). Errors: a template that doesn't parse, a token the family names that the tokenizer
  // lacks. Suffix classes that can't be proved are not appendable.
  static base::Result<std::shared_ptr<const Renderer>> create(
      std::shared_ptr<const tokenizer::Tokenizer> tokenizer, std::string chat_template,
      Family family, Options options);

  // A whole conversation, its generation prompt included where `inputs` asks for it. `messages` are
  // normalised. Errors name message and field: what the template refuses, and what it would let
  // vanish.
  [[nodiscard]] base::Result<Rendered> full(std::span<const message::Message> messages,
                                            const TemplateInputs& inputs) const;

  // New messages behind a recorded turn; `first` is the place of suffix[0] in the conversation.
  // Errors as full(); kConflict when the family can't close a cut turn; kUnsupported when suffixes
  // of this class can't be appended (a new root can).
  [[nodiscard]] base::Result<Delta> delta(const TurnEnd& end,
                                          std::span<const message::Message> suffix,
                                          std::size_t first, const TemplateInputs& inputs) const;

  // Text of a whole conversation without encoding it: for audits, tests and `verbatim render`.
  [[nodiscard]] base::Result<jinja::Text> text(std::span<const message::Message> messages,
                                               const TemplateInputs& inputs) const;
  // Encodes a rendered text under the policy.
  [[nodiscard]] Rendered encode(const jinja::Text& text, std::size_t first_message) const;

  [[nodiscard]] bool is_query(const message::Message& message) const;
  // The family's stop tokens as ids.
  [[nodiscard]] const TokenIds& stop_ids() const { return stop_ids_; }
  [[nodiscard]] bool is_stop(TokenId id) const;
  // A turn that ends with this id needs no synthetic close.
  [[nodiscard]] bool closes(TokenId id) const;
  [[nodiscard]] const Family& family() const { return family_; }
  [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }
  [[nodiscard]] tokenizer::EncodingPolicy policy() const { return options_.policy; }
  [[nodiscard]] const std::string& template_fingerprint() const {
    return fingerprint_;
  }  // SHA-256 hex of the template

  // Which suffix classes were proved, as text: for `doctor` and start-up logs.
  [[nodiscard]] std::string describe_classes() const;

 private:
  // A suffix by what decides how a template renders it.
  struct SuffixClass {
    bool query = false;
    bool assistant = false;
    bool system = false;
    [[nodiscard]] unsigned index() const {
      return (query ? 1U : 0U) | (assistant ? 2U : 0U) | (system ? 4U : 0U);
    }
  };
  static constexpr unsigned kClasses = 8;
  struct Proved {
    const Family::Base* base = nullptr;  // null: not appendable
    bool with_tools = false;
  };
  struct Cut {
    jinja::Text text;    // all of the render
    std::size_t at = 0;  // the new part begins here
    std::size_t base_messages = 0;
  };

  Renderer() = default;
  [[nodiscard]] SuffixClass classify(std::span<const message::Message> suffix) const;
  [[nodiscard]] base::Result<Cut> render_on_base(const Family::Base& base,
                                                 std::span<const message::ToolCall> calls,
                                                 std::span<const message::Message> suffix,
                                                 std::size_t first,
                                                 const TemplateInputs& inputs) const;
  // The byte behind message `message` of a render: behind its close token, or (kNextOpener) where
  // the template goes on.
  [[nodiscard]] std::optional<std::size_t> end_of_message(const jinja::Text& text,
                                                          std::size_t message) const;
  [[nodiscard]] base::Status check_coverage(const jinja::Text& text,
                                            std::span<const message::Message> messages,
                                            std::size_t skip, std::size_t first) const;
  base::Status resolve_tokens();
  base::Status resolve_control_tokens(const std::string& chat_template);
  void prove_classes();
  [[nodiscard]] bool proves(const Family::Base& base, bool with_tools, unsigned suffix_class) const;
  [[nodiscard]] bool proves_on(const Family::Base& base, bool with_tools,
                               std::span<const message::Message> history,
                               std::span<const message::Message> suffix,
                               const std::string& arguments) const;
  [[nodiscard]] base::Result<TokenIds> close_ids(const TurnEnd& end) const;

  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::shared_ptr<const jinja::Template> template_;
  std::string fingerprint_;
  Family family_;
  Options options_;
  std::shared_ptr<const tokenizer::ControlTokens>
      control_;  // what callers must not be able to write
  TokenIds stop_ids_;
  TokenIds message_opener_ids_;
  std::optional<TokenId> close_id_;
  Proved proved_[kClasses];
};

}  // namespace verbatim::chat
