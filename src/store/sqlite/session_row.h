#pragma once

#include "store/sqlite/connection.h"
#include "store/store.h"

namespace verbatim::store::sqlite {

// What of a row of `session` changes with its commits, and what it was made with.
#define VERBATIM_SESSION_COLUMNS "number, implicit, version, turns, tokens, bytes, used_ms, disk"
#define VERBATIM_SPEC_COLUMNS "id, owner, options, metadata, secret_hash, created_ms"

// Bytes on disk of a turn beside its body, about: rows and index entries.
inline constexpr std::uint64_t kRowBytes = 150;

struct SessionRow {
  SessionInfo info;  // `spec` apart
  std::uint64_t disk = 0;
};

// Of a statement's columns from `first` on.
SessionRow session_of(const Statement& statement, int first);
std::shared_ptr<const SessionSpec> spec_of(const Statement& statement, int first);

// SQLite's integers are signed; ours come back as they were.
inline std::int64_t stored(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}
inline std::uint64_t unstored(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}
inline std::string_view stored(const trajectory::Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}
trajectory::Digest digest_of(std::string_view stored);

}  // namespace verbatim::store::sqlite
