#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/files.h"
#include "gateway/record_mark.h"
#include "store/commit_log.h"

namespace verbatim::gateway {

struct RecordRepair {
  std::uint64_t compared = 0;  // sessions with turns behind the mark
  std::uint64_t lines = 0;     // written
  std::uint64_t files = 0;     // made, where there was none
  std::uint64_t ends = 0;      // lines that end the file of a session that is gone
  std::uint64_t cut = 0;       // files from which half lines, or what stood behind a gap, were cut
  std::uint64_t unordered =
      0;                      // files with foreign lines behind a gap: what was missing stands last
  std::uint64_t damaged = 0;  // sessions that can't be read from the store
  std::uint64_t foreign = 0;  // files of sessions that the store has not, where all were looked at
};

struct RecordFolder {
  base::Files& files;
  std::string dir;
  std::string checkpoint;  // as of Recorder
};
using RepairProgress = std::function<void(const RecordRepair& so_far)>;

// Brings record files to what the store holds, for all sessions with turns behind the mark, and
// moves the mark to the store's last commit: at start, before anything is committed. Lines that are
// missing are written as they would have been, those that end a file too, a last line that was not
// finished is cut off, and where a line is missing in front of its children the file is written
// anew from there on. Lines and files of which the store knows nothing stay as they are. Memory:
// one session, and its longest line. `progress` is called each thousand sessions.
//
// Where it is broken off, the next start goes on. Blocking. Errors: kUnavailable.
base::Result<RecordRepair> repair_records(const RecordFolder& folder, store::CommitLog& log,
                                          RecordMark& mark, const RepairProgress& progress);

}  // namespace verbatim::gateway
