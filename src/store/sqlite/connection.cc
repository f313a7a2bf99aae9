#include "store/sqlite/connection.h"

#include <cerrno>

#include <sqlite3.h>

namespace verbatim::store::sqlite {

using base::ErrorKind;
using base::Result;
using base::Status;

namespace {

constexpr std::string_view kDiskFull = "disk_full";

// What the system said last of this file; 0: nothing, or nobody knows.
int last_errno(sqlite3_file* file) {
  int code = 0;
  if (file == nullptr || file->pMethods == nullptr) return 0;
  if (file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &code) != SQLITE_OK) return 0;
  return code;
}

// SQLite calls ENOSPC alone a full disk. sqlite3_system_errno() knows nothing of a failed COMMIT.
bool over_quota(sqlite3* handle) {
  for (const int which : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER}) {
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(handle, "main", which, static_cast<void*>(&file)) != SQLITE_OK)
      continue;
    if (last_errno(file) == EDQUOT) return true;
  }
  return false;
}

base::Error error_of(sqlite3* handle, const std::string& what) {
  const int code = handle == nullptr ? SQLITE_NOMEM : sqlite3_errcode(handle) & 0xff;
  const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT;
  std::string message = what + ": ";
  message += handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle);
  if (damaged) return base::error(ErrorKind::kInternal, message + "; the file is damaged");
  auto failure = base::error(ErrorKind::kUnavailable, std::move(message));
  if (code == SQLITE_FULL || (code == SQLITE_IOERR && over_quota(handle))) failure.code = kDiskFull;
  return failure;
}

}  // namespace

bool disk_full(const base::Error& error) {
  return error.code == kDiskFull;
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
}

void Statement::bind_text(int index, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), index, value.empty() ? "" : value.data(), value.size(),
                      nullptr, SQLITE_UTF8);
}

void Statement::bind_bytes(int index, std::string_view value) {
  // A null pointer would be bound as NULL.
  sqlite3_bind_blob64(statement_.get(), index, value.empty() ? "" : value.data(), value.size(),
                      nullptr);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error_of(sqlite3_db_handle(statement_.get()), "the store's disk");
}

Status Statement::run() {
  const auto row = step();
  reset();
  return row ? Status() : Status(row.error());
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), size);
}

bool Statement::null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Connection::Close::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

Result<Connection> Connection::to(const std::string& path, Mode mode, const std::string& vfs) {
  // Each connection stays with one thread at a time, so SQLite needs no mutex of its own.
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= mode == Mode::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (mode == Mode::kCreate) flags |= SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  Connection connection;
  connection.handle_.reset(handle);
  if (code != SQLITE_OK) return connection.error("can't open " + path);
  return connection;
}

Status Connection::run(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return error("the store's disk");
}

Result<Statement> Connection::prepare(const char* sql) {
  sqlite3_stmt* prepared = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  Statement statement;
  statement.statement_.reset(prepared);
  if (code != SQLITE_OK) return error("the store's tables");
  return statement;
}

Status Connection::prepare(std::initializer_list<Prepared> all) {
  for (const auto& [statement, sql] : all) {
    auto prepared = prepare(sql);
    if (!prepared) return std::move(prepared).error();
    *statement = std::move(*prepared);
  }
  return {};
}

Result<std::int64_t> Connection::integer(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return std::move(statement).error();
  const auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

std::int64_t Connection::last_row() const {
  return sqlite3_last_insert_rowid(handle_.get());
}

std::int64_t Connection::changed_rows() const {
  return sqlite3_changes64(handle_.get());
}

base::Error Connection::error(const std::string& what) const {
  return error_of(handle_.get(), what);
}

}  // namespace verbatim::store::sqlite
