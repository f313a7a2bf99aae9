#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace verbatim::store::sqlite {

// Did a call fail because there is no room: the disk is full, or its user's share of it? Said by
// the error itself, since whatever SQLite is asked next forgets it.
bool disk_full(const base::Error& error);

// A prepared statement, kept for the life of its connection and used again and again:
//
//   statement.bind(1, number);
//   auto row = statement.step();        // true: a row; read it before the next step
//
// Values are bound without a copy: they live until the statement is reset. One thread at a time.
class Statement {
 public:
  Statement() = default;
  void bind(int index, std::int64_t value);
  void bind_text(int index, std::string_view value);
  void bind_bytes(int index, std::string_view value);
  // kUnavailable when the disk or a lock is in the way, kInternal when the file is damaged.
  base::Result<bool> step();
  // To the end, without rows, and resets.
  base::Status run();
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string_view bytes(int column) const;  // of a text, too; until the next step
  [[nodiscard]] bool null(int column) const;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Resets a statement on the way out, so that no read transaction stays behind.
class Use {
 public:
  explicit Use(Statement& statement) : statement_(statement) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { statement_.reset(); }
  Statement* operator->() const { return &statement_; }
  Statement& operator*() const { return statement_; }

 private:
  Statement& statement_;
};

// One connection to a database file. Statements end before it. One thread at a time.
class Connection {
 public:
  enum class Mode { kRead, kWrite, kCreate };
  // `vfs`: SQLite's name of a file system; empty: the system's.
  static base::Result<Connection> to(const std::string& path, Mode mode, const std::string& vfs);

  // Statements without values and rows, one or several.
  base::Status run(const char* sql);
  base::Result<Statement> prepare(const char* sql);
  // Each of them; the first that fails is the error.
  using Prepared = std::pair<Statement*, const char*>;
  base::Status prepare(std::initializer_list<Prepared> all);
  base::Result<std::int64_t> integer(const char* sql);  // the first column of the first row

  // Is a transaction open? SQLite ends one by itself behind some errors.
  [[nodiscard]] bool in_transaction() const;
  [[nodiscard]] std::int64_t last_row() const;
  // That the last INSERT, UPDATE or DELETE changed.
  [[nodiscard]] std::int64_t changed_rows() const;
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  [[nodiscard]] base::Error error(const std::string& what) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace verbatim::store::sqlite
