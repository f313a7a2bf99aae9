#pragma once

#include "base/result.h"
#include "store/sqlite/exchange_lines.h"
#include "store/store.h"

namespace verbatim::store::sqlite {

// What is proved of a turn before the gateway commits it, as far as it shows in what is kept:
// asked of turns that come from a file. `turn` has its parent. kInvalidRequest.
base::Status check_imported(const trajectory::Turn& turn);

// Is the session in the store the one of the export, beside its turns?
bool same_session(const SessionInfo& there, const SessionLine& line);

}  // namespace verbatim::store::sqlite
