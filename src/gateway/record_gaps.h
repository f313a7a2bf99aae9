#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "store/commit_log.h"

namespace verbatim::gateway {

// What a record file lacks of a session.
struct RecordGaps {
  std::uint64_t keep = 0;              // bytes from the front that stay; what is behind goes
  std::vector<std::uint64_t> missing;  // seqs, rising
  std::optional<std::uint64_t> last;   // id of the turn of the last line that stays
  bool unordered = false;              // a line stands in front of its parent's, and can't be moved
};

// Compares the text of a file with the session. Reads lines from the end on, and no more of them
// than it takes to find all turns from `first_new` on; where one is missing, all. A line is taken
// for whole when it begins and ends as record_line() and session_end_line() write them.
RecordGaps find_gaps(std::string_view text, const store::CommitLog::Changed& session);

// Where the end line of a session that is gone has to stand: behind its lines, and in front of
// those of `again`, the turns of one that has its name since. None: it is there, or there are no
// lines that it could end.
std::optional<std::uint64_t> find_missing_end(std::string_view text,
                                              const std::unordered_set<std::uint64_t>& again);

}  // namespace verbatim::gateway
