#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/answer_reader.h"
#include "protocol/responses_items.h"

namespace verbatim::protocol {

// Answers to POST /v1/responses: a response object, or events that end with response.completed,
// response.incomplete or response.failed. What was streamed of an item must be how the finished
// item begins; what is missing is given out then, so that servers may leave deltas out. The items
// of the last event, where it names any, must be those of the stream.
class ResponsesReader final : public AnswerReader {
 public:
  base::Status feed(const json::Value& object, message::Events& out) override;
  [[nodiscard]] bool finished() const override { return ended_; }
  [[nodiscard]] bool ended() const override { return ended_; }
  base::Result<AnswerEnd> finish() override;

 private:
  // An item of the stream, by its output_index.
  struct Streamed {
    ItemKind kind = ItemKind::kOther;
    std::uint32_t call = 0;  // its number among the calls
    std::string id;          // the server's; empty: it has none
    std::string text;        // given out so far
    std::string raw;         // as it was when it was done; empty: it is not yet
  };
  using Items = std::map<std::uint64_t, Streamed>;

  base::Status read_event(const json::Value& event, std::string_view type, message::Events& out);
  base::Status add_item(const json::Value& event, message::Events& out);
  base::Status add_delta(const json::Value& event, ItemKind kind, message::Events& out);
  base::Status end_item(std::uint64_t index, const json::Value& item, const std::string& field,
                        message::Events& out);
  Streamed& begin(std::uint64_t index, const Item& item, message::Events& out);
  static void give(Streamed& item, std::string_view text, message::Events& out);
  base::Status read_response(const json::Value& response, message::Events& out);
  base::Status read_output(const json::Value& response, message::Events& out);
  base::Status read_usage(const json::Value& response);

  Items items_;
  std::uint32_t calls_ = 0;
  bool ended_ = false;
  std::string word_;
  std::optional<message::Usage> usage_;
};

}  // namespace verbatim::protocol
