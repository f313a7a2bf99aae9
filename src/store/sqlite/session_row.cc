#include "store/sqlite/session_row.h"

#include <algorithm>

namespace verbatim::store::sqlite {

SessionRow session_of(const Statement& statement, int first) {
  SessionRow row;
  row.info.number = unstored(statement.integer(first));
  row.info.implicit = statement.integer(first + 1) != 0;
  row.info.version = unstored(statement.integer(first + 2));
  row.info.turns = unstored(statement.integer(first + 3));
  row.info.tokens = unstored(statement.integer(first + 4));
  row.info.bytes = unstored(statement.integer(first + 5));
  row.info.last_used_ms = statement.integer(first + 6);
  row.disk = unstored(statement.integer(first + 7));
  return row;
}

std::shared_ptr<const SessionSpec> spec_of(const Statement& statement, int first) {
  auto spec = std::make_shared<SessionSpec>(std::string(statement.bytes(first)),
                                            statement.integer(first + 5));
  spec->owner = statement.bytes(first + 1);
  spec->options = statement.bytes(first + 2);
  spec->metadata = statement.bytes(first + 3);
  spec->secret_hash = statement.bytes(first + 4);
  return spec;
}

trajectory::Digest digest_of(std::string_view stored) {
  trajectory::Digest digest;
  std::copy_n(stored.begin(), std::min(stored.size(), digest.bytes.size()), digest.bytes.begin());
  return digest;
}

}  // namespace verbatim::store::sqlite
