#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::chat {

// What has to be known of a model family beyond its tokenizer and template: data, read from
// families/<name>.json. Nothing here is trusted that can be probed: Renderer::create tries bases
// and boundaries on real histories before a family is served.
struct Family {
  // How calls reach the template: as the JSON text, or as the value it stands for.
  enum class Arguments { kString, kObject };
  enum class Developer { kSystem, kRefuse };  // what becomes of developer messages
  // Where a turn ends: behind a close token that the template writes too, or with the token that
  // opens the next message.
  enum class Boundary { kAfterClose, kNextOpener };

  // A short synthetic history on which new messages are rendered.
  struct BaseMessage {
    std::string role;        // system, user, assistant
    bool reasoning = false;  // an assistant that has some
  };
  using Base = std::vector<BaseMessage>;

  std::string name;
  std::string about;
  std::vector<std::string> template_contains;  // recognition: all of them
  std::vector<std::string> added_tokens;       // recognition: the tokenizer has all of them
  std::string grammar;                         // of calls and reasoning: a name of chat/parsers
  Arguments arguments = Arguments::kObject;
  Developer developer = Developer::kRefuse;
  Boundary boundary = Boundary::kAfterClose;
  std::string close;              // kAfterClose: the token behind which turns are joined
  std::vector<std::string> stop;  // tokens that end a turn when sampled
  // kNextOpener: those of them that the template writes in front of the next message.
  std::vector<std::string> message_openers;
  std::string opener;          // added token that starts the generation prompt
  std::string reasoning_open;  // empty: the family has no reasoning
  std::string reasoning_close;
  std::optional<std::string>
      synthetic_close;  // for a turn that was cut; absent: it can't be continued
  std::optional<std::string> synthetic_close_in_reasoning;  // the same inside reasoning
  // A user message of this form is a tool result in disguise to the template, no query.
  std::string not_a_query_start;
  std::string not_a_query_end;
  std::vector<Base> query_bases;     // tried in order, for suffixes with a user query
  std::vector<Base> no_query_bases;  // and without
  // The form of the ids of calls that the template prints: "{name}" of the call, "{count}" of calls
  // before it, "{count:9}" with nine digits. Empty: the template prints none.
  std::string native_id;
  std::vector<std::string> cut;  // fields the template may leave out: reasoning, call_id, name
  std::vector<std::string>
      opener_arguments;  // template arguments that change the generation prompt only

  [[nodiscard]] bool cuts(std::string_view field) const;
  [[nodiscard]] bool opener_only(std::string_view argument) const;
  // At most so many ids of a turn may be dropped when it is continued.
  [[nodiscard]] unsigned max_trim() const { return boundary == Boundary::kNextOpener ? 1 : 0; }
};

// Reads one family file. Errors name the key.
base::Result<Family> parse_family(std::string_view json);

// The families this build knows.
const std::vector<Family>& families();

// The family whose recognition fits. kUnsupported with the list of families when none or several
// do.
base::Result<Family> recognise_family(const tokenizer::Tokenizer& tokenizer,
                                      std::string_view chat_template);

}  // namespace verbatim::chat
