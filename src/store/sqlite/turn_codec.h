#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trajectory/turn.h"

namespace verbatim::store::sqlite {

// A turn as bytes: what it added, nothing of the turns above. The bytes do not hold what the table
// of turns has in columns (session, seq, parent, id, branch, root, digest) nor what join_path()
// makes.
//
// Format: one byte, the format (kTurnFormat), then the fields of `Turn` in the order in which
// turn.h declares them, in the units of fields.h. Of nested types the fields in their order, too.
// Ids are numbers (1 to 3 bytes each), logprobs 4 or 8 bytes each with no bit lost, texts as they
// are, a span 3 to 5 bytes: about 6 bytes for a prompt id with its text, 11 for a sampled one.
// A later format appends fields and is told by the byte; all before are read for ever.
// 2: what of `usage` is reasoning.
inline constexpr std::uint8_t kTurnFormat = 2;
inline constexpr std::uint8_t kRootFormat = 1;

std::string encode(const trajectory::Turn& turn);
// Any bytes: the turn, or an error (kInternal: a store's own bytes are good) that says what was
// expected at which byte.
base::Result<std::unique_ptr<trajectory::Turn>> decode_turn(std::string_view bytes);

// The same for what the turns of a root share.
std::string encode(const trajectory::RootInfo& root);
base::Result<std::shared_ptr<const trajectory::RootInfo>> decode_root(std::string_view bytes);

}  // namespace verbatim::store::sqlite
