#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace verbatim::base {

// A file opened for appending.
class AppendFile {
 public:
  virtual ~AppendFile() = default;  // closes
  // Appends all bytes, or fails (kUnavailable, with the system's reason) having appended a prefix
  // at most.
  virtual Status append(std::string_view bytes) = 0;
  // Waits until what was appended, and the file's name, survive a crash of the machine.
  virtual Status sync() = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // Cuts the file back, after a failed append.
  virtual Status truncate(std::uint64_t size) = 0;
};

// A file mapped read-only. Stays valid when the file is replaced or removed meanwhile.
class MappedFile {
 public:
  virtual ~MappedFile() = default;
  [[nodiscard]] virtual std::span<const std::byte> bytes() const = 0;
};

// A file of which one process at a time is the holder; free again when this is destroyed, or the
// process ends in whatever way.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// What a path meant when this was made.
class FilePlace {
 public:
  virtual ~FilePlace() = default;
  // Is that file still there, by this name? Thread-safe; costs a look at the directory.
  [[nodiscard]] virtual bool kept() const = 0;
};

// The file system. Blocking: call it at start-up or on a Worker, never on an executor's thread.
// Thread-safe. Real form: system_files(); simulated twin: base/sim/sim_files.h (keeps everything in
// memory, fails on request, forgets what was not synced).
class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::string> read(const std::string& path, std::uint64_t max_size) = 0;
  virtual Result<std::unique_ptr<MappedFile>> map(const std::string& path) = 0;
  // Made when missing, for its owner alone; until it, or all, is synced a crash may take it away.
  virtual Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) = 0;
  // Made when missing, for its owner alone, and never removed. kConflict when somebody holds it.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;
  // Writes a new file beside `path`, syncs it, renames it over `path`, syncs the directory: readers
  // see the old file or the new one.
  virtual Status replace(const std::string& path, std::string_view bytes) = 0;
  virtual Status make_directories(const std::string& path) = 0;
  // The same, where those that are made are for their owner alone.
  virtual Status make_private_directories(const std::string& path) = 0;
  [[nodiscard]] virtual bool exists(const std::string& path) = 0;
  // Of a file that somebody holds open for as long: else another one may come to look the same.
  virtual Result<std::unique_ptr<FilePlace>> place(const std::string& path) = 0;
  // A file, or an empty directory.
  virtual Status remove(const std::string& path) = 0;
  // Waits until all that was written to the file system of `path` (a directory) survives a crash of
  // the machine: for many files at once, where sync() of each would cost as many waits.
  virtual Status sync_all(const std::string& path) = 0;
  // Names (not paths) of the entries of a directory, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
};

std::unique_ptr<Files> system_files();

}  // namespace verbatim::base
