#include "store/sqlite/reserve.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <sqlite3.h>

namespace verbatim::store::sqlite {

namespace {

constexpr std::uint64_t kPiece = 65536;

sqlite3_vfs* file_system(const std::string& name) {
  return sqlite3_vfs_find(name.empty() ? nullptr : name.c_str());
}

// Bytes that a file system which packs what it is given can't make smaller.
std::string piece() {
  std::string bytes(kPiece, '\0');
  std::uint64_t word = 0x9e3779b97f4a7c15;
  for (auto& byte : bytes) {
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    byte = static_cast<char>(word >> 56);
  }
  return bytes;
}

// A file of SQLite's, closed on the way out.
class OpenFile {
 public:
  // As a journal it gets the permissions of the store.
  OpenFile(sqlite3_vfs* vfs, const std::string& path)
      : memory_((static_cast<std::size_t>(vfs->szOsFile) + sizeof(std::max_align_t) - 1) /
                sizeof(std::max_align_t)) {
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_JOURNAL;
    opened_ = vfs->xOpen(vfs, path.c_str(), file(), kFlags, nullptr) == SQLITE_OK;
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (file()->pMethods != nullptr) file()->pMethods->xClose(file());
  }
  [[nodiscard]] bool opened() const { return opened_; }
  sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }

 private:
  std::vector<std::max_align_t> memory_;
  bool opened_ = false;
};

}  // namespace

Reserve::Reserve(std::string path, std::string vfs, std::uint64_t bytes)
    : path_(std::move(path)), vfs_(std::move(vfs)), bytes_(bytes) {}

bool has_room(const std::string& path, const std::string& vfs, std::uint64_t bytes) {
  Reserve tried(path, vfs, bytes);
  tried.take();
  return tried.give();
}

void Reserve::take() {
  std::lock_guard lock(mutex_);
  if (bytes_ == 0 || std::exchange(tried_, true)) return;
  held_ = fill();
  if (!held_) (void)remove();
}

bool Reserve::give() {
  std::lock_guard lock(mutex_);
  if (!held_) return false;
  held_ = false;
  return remove();
}

bool Reserve::fill() const {
  OpenFile open(file_system(vfs_), path_);
  if (!open.opened()) return false;
  auto* file = open.file();
  sqlite3_int64 size = 0;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) return false;
  const std::string bytes = piece();
  for (auto at = static_cast<std::uint64_t>(size); at < bytes_;) {
    const auto count = std::min(kPiece, bytes_ - at);
    const int code = file->pMethods->xWrite(file, bytes.data(), static_cast<int>(count),
                                            static_cast<sqlite3_int64>(at));
    if (code != SQLITE_OK) return false;
    at += count;
  }
  return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK;
}

bool Reserve::remove() const {
  auto* vfs = file_system(vfs_);
  return vfs->xDelete(vfs, path_.c_str(), 0) == SQLITE_OK;
}

}  // namespace verbatim::store::sqlite
