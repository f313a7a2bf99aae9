#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "store/store.h"

namespace verbatim::store::sqlite {

// The lines of an exported store: JSON objects, one a line, with `kind` first and `sum` last. In
// this order: `store`, then for each session, by number, `session`, its turns by seq, each `turn`
// behind the `root` it names where that is the first to name it, its responses by id, each
// `response`, its `conversation` with each `item` by seq, and `end`. Numbers that may pass 2^53 are
// texts. `bytes` is base64 of what turn_codec.h writes.
//
// `sum` is the first 32 hex digits of the SHA-256 of the sum of the line before (of the first:
// nothing) and of this line up to the sum: a line that was changed, left out, put in or moved is
// found at its place.
inline constexpr std::string_view kExchangeSchema = "verbatim.store.v3";
// The same without conversations, and without responses.
inline constexpr std::string_view kExchangeSchemasBefore[] = {"verbatim.store.v2",
                                                              "verbatim.store.v1"};
// Of one line.
inline constexpr std::size_t kMaxExchangeLine = std::size_t{1} << 30;

struct StoreLine {
  std::string key;             // the store's secret
  std::uint64_t sessions = 0;  // the highest number that a session ever had
  std::uint64_t commits = 0;   // and a commit
};
struct SessionLine {
  std::shared_ptr<const SessionSpec> spec;
  std::uint64_t number = 0;
  std::uint64_t version = 0;
  std::uint64_t turns = 0;
  bool implicit = false;
};
struct RootLine {
  std::uint64_t root = 0;  // by which turns name it, counted from 1
  std::string bytes;
};
struct TurnLine {
  std::uint64_t seq = 0;
  std::uint64_t parent = 0;  // seq; 0: none
  std::uint64_t id = 0;
  std::uint64_t branch = 0;
  std::uint64_t root = 0;
  std::uint64_t commit = 0;  // its number over all sessions
  trajectory::Digest digest;
  std::string bytes;
};
struct ResponseLine {
  StoredResponsePtr response;  // session and owner apart
};
struct ConversationLine {
  Conversation conversation;  // id, owner and time apart
};
struct ItemLine {
  ConversationItemPtr item;
};
struct EndLine {
  std::uint64_t sessions = 0;
  std::uint64_t turns = 0;
};
using ExchangeLine = std::variant<StoreLine, SessionLine, RootLine, TurnLine, ResponseLine,
                                  ConversationLine, ItemLine, EndLine>;

class ExchangeWriter {
 public:
  // The next line, with its end.
  std::string line(const ExchangeLine& line);

 private:
  std::string sum_;
};

// Reads lines in their order. Errors (kInvalidRequest) say what was found and expected; the caller
// knows which line it is.
class ExchangeReader {
 public:
  // Without its end.
  base::Result<ExchangeLine> read(std::string_view line);

 private:
  base::Status check_sum(std::string_view line);

  std::string sum_;
  bool begun_ = false;
};

}  // namespace verbatim::store::sqlite
