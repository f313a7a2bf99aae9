#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/writer.h"
#include "protocol/conversation.h"

namespace verbatim::protocol {

// Content of a chat message that is more than text (message::parts_of), on its way to a protocol
// that is not chat's, and back. Format: OpenAI API reference, "Create chat completion", content
// parts. Pure.

enum class PartKind { kText, kImage, kFile };
struct ContentPart {
  PartKind kind = PartKind::kText;
  std::string text;       // of a text
  std::string url;        // of an image: a web address or a data URL
  std::string detail;     // of an image; empty: none was asked for
  std::string file_data;  // of a file: base64, or a data URL
  std::string file_id;    // of a file that the server has
  std::string filename;
  std::vector<RawMember> more;  // members of the part that no protocol names; they go along
};

// A protocol as errors name it.
struct PartsTarget {
  std::string_view protocol;  // "Responses"
  std::string_view mode;      // "responses"
};
// "the `protocol` protocol has `no_word` (engine mode `mode`); leave it out, or ..."
base::Error no_word_for(const PartsTarget& target, std::string field, std::string_view no_word);

// Reads the parts of a content, a raw JSON array. kInvalidRequest: not what chat has; kUnsupported:
// of a kind that is neither text nor image nor file. Errors name the part: `field`[1].
base::Result<std::vector<ContentPart>> read_parts(std::string_view raw, const std::string& field,
                                                  const PartsTarget& target);
// The first part that is not text, for errors: `field`[1].
std::string first_beyond_text(std::string_view raw, const std::string& field);

// The content of a message that passed the protocol's check: a string, or a list of parts.
using PartWriter = void (*)(json::Writer& w, const ContentPart& part);
void write_content(json::Writer& w, const message::Message& message, const PartsTarget& target,
                   PartWriter write_part);

// Parts that another protocol's content is read into.
class PartsGatherer {
 public:
  void add(ContentPart part) { parts_.push_back(std::move(part)); }
  // What was gathered, as the content of a message: texts one behind the other, and chat's parts
  // where there is more than text.
  void settle(message::Message& into) const;

 private:
  std::vector<ContentPart> parts_;
};

// "data:image/png;base64,AAAA", as views of it; nullopt: no data URL, or not in base64.
struct DataUrl {
  std::string_view media_type;
  std::string_view data;  // base64
};
std::optional<DataUrl> read_data_url(std::string_view url);

}  // namespace verbatim::protocol
