#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"

namespace verbatim::exporting {

using base::TokenId;
using base::TokenIds;

// What a sample needs of one recorded turn. Source: lines of tito.record.v1 as
// gateway/record_line.h writes them.
struct RecordedTurn {
  std::string session_id;
  std::string turn;    // id
  std::string parent;  // id; empty: a root
  TokenIds prompt;     // the whole prompt
  TokenIds completion;
  std::vector<double> logprobs;  // natural logs, one per completion id
  std::string finish_reason;
  bool token_exact = true;  // false: by messages, without ids; no sample, and nothing to prove
};

// Reads one line; nullopt for lines that are no turns (a session's end). Errors name the member.
base::Result<std::optional<RecordedTurn>> read_record(std::string line);

// Takes out the turns that are not token-exact; how many there were.
std::size_t drop_inexact(std::vector<RecordedTurn>& turns);

// Reads the lines of a file. A last line without its end (a crash while it was written) is left
// out. Errors name the line.
base::Result<std::vector<RecordedTurn>> read_records(std::string_view text);

}  // namespace verbatim::exporting
