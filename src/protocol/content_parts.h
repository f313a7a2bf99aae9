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

// Parts that another protocol's content is read into, and the content of chat that they are.
class PartsGatherer {
 public:
  void add(ContentPart part);
  // The texts, one behind the other.
  [[nodiscard]] const std::string& text() const { return text_; }
  // A raw array of chat's parts; empty where there was nothing but text.
  [[nodiscard]] std::string parts() const;

 private:
  std::string text_;
  json::Writer chat_;
  bool begun_ = false;
  bool beyond_text_ = false;
};

// "data:image/png;base64,AAAA"; nullopt: no data URL, or not in base64.
struct DataUrl {
  std::string media_type;
  std::string data;  // base64
};
std::optional<DataUrl> read_data_url(std::string_view url);

}  // namespace verbatim::protocol
