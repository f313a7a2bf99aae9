#include "store/sqlite/import_check.h"

#include <cmath>

namespace verbatim::store::sqlite {

using base::Status;
using trajectory::Turn;

namespace {

Status wrong(const std::string& what) {
  return base::error(base::ErrorKind::kInvalidRequest, what);
}

bool finite(const std::vector<double>& values) {
  for (const double value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace

Status check_imported(const Turn& turn) {
  if (turn.logprobs.size() != turn.completion.size() ||
      turn.discarded_logprobs.size() != turn.discarded.size())
    return wrong(std::to_string(turn.completion.size()) + " completion ids and " +
                 std::to_string(turn.logprobs.size()) + " logprobs, " +
                 std::to_string(turn.discarded.size()) + " discarded ids and " +
                 std::to_string(turn.discarded_logprobs.size()) + " logprobs");
  if (!finite(turn.logprobs) || !finite(turn.discarded_logprobs))
    return wrong("a logprob that is not finite");
  std::uint64_t tiled = 0;
  for (const auto& span : turn.spans) tiled += span.count;
  if (tiled != turn.prompt.size())
    return wrong("spans of " + std::to_string(tiled) + " ids for a prompt of " +
                 std::to_string(turn.prompt.size()));
  const Turn* parent = turn.parent.get();
  if (turn.parent_trim > (parent != nullptr ? parent->completion.size() : 0))
    return wrong("cuts more than its parent's completion");
  if (!turn.token_exact) return {};
  const std::uint64_t before = parent != nullptr ? parent->row_size - turn.parent_trim : 0;
  if (turn.row_size != before + turn.prompt.size() + turn.completion.size())
    return wrong("a row of " + std::to_string(turn.row_size) + " ids, expected " +
                 std::to_string(before + turn.prompt.size() + turn.completion.size()));
  return {};
}

bool same_session(const SessionInfo& there, const SessionLine& line) {
  const SessionSpec& a = *there.spec;
  const SessionSpec& b = *line.spec;
  return there.implicit == line.implicit && there.version == line.version &&
         there.turns == line.turns && a.owner == b.owner && a.options == b.options &&
         a.metadata == b.metadata && a.secret_hash == b.secret_hash && a.created_ms == b.created_ms;
}

}  // namespace verbatim::store::sqlite
