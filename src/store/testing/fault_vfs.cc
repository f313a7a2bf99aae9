#include "store/testing/fault_vfs.h"

#include <algorithm>
#include <cerrno>

#include <sqlite3.h>

namespace verbatim::store::testing {

namespace {
constexpr std::size_t kSector = 512;
}

void FaultVfs::set_fault(std::uint64_t point, At what) {
  fault_at_[point] = what;
}

int FaultVfs::pass_point(bool sync, std::size_t size, std::size_t& prefix) {
  prefix = 0;
  if (off_) return SQLITE_IOERR;
  ++points_;
  std::optional<At> fault;
  if (const auto it = fault_at_.find(points_); it != fault_at_.end()) {
    fault = it->second;
    fault_at_.erase(it);
  } else if (sync && random_.chance(options_.fail_sync)) {
    fault = At::kEio;
  } else if (!sync && random_.chance(options_.fail_write)) {
    fault = random_.chance(500) ? At::kFull : At::kEio;
  }
  if (!fault) {
    prefix = size;
    return SQLITE_OK;
  }
  prefix = static_cast<std::size_t>(random_.below(size + 1));
  if (*fault == At::kCrash) {
    off_ = true;
    return SQLITE_IOERR;
  }
  if (sync) {
    ++faults_.sync;
    return SQLITE_IOERR_FSYNC;
  }
  ++(*fault == At::kFull ? faults_.write_full : faults_.write_eio);
  if (*fault == At::kFull) return no_room();
  last_error_ = EIO;
  return SQLITE_IOERR_WRITE;
}

// os_unix.c, unixWrite().
int FaultVfs::no_room() {
  last_error_ = no_room_ == NoRoom::kDisk ? ENOSPC : EDQUOT;
  return no_room_ == NoRoom::kDisk ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

void FaultVfs::write(File& file, std::uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  Change change;
  change.offset = offset;
  change.size_before = file.bytes.size();
  change.after = std::string(bytes);
  if (offset < file.bytes.size()) change.before = file.bytes.substr(offset, bytes.size());
  redo(file, change);
  file.unsynced.push_back(std::move(change));
}

void FaultVfs::truncate(File& file, std::uint64_t size) {
  Change change;
  change.truncates = true;
  change.offset = size;
  change.size_before = file.bytes.size();
  if (size < file.bytes.size()) change.before = file.bytes.substr(size);
  redo(file, change);
  file.unsynced.push_back(std::move(change));
}

std::uint64_t FaultVfs::used() const {
  std::uint64_t bytes = 0;
  for (const auto& [path, file] : files_) bytes += file->bytes.size();
  return bytes;
}

std::size_t FaultVfs::fitting(const File& file, std::uint64_t offset, std::size_t size) const {
  if (room_ == UINT64_MAX || offset + size <= file.bytes.size()) return size;
  const std::uint64_t others = used() - file.bytes.size();
  const std::uint64_t end = room_ > others ? room_ - others : 0;
  return end <= offset ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(size, end - offset));
}

int FaultVfs::sync(File& file) {
  std::size_t none = 0;
  if (const int code = pass_point(true, 0, none); code != SQLITE_OK) return code;
  if (drops_syncs_) return SQLITE_OK;
  file.unsynced.clear();
  file.name_synced = true;
  return SQLITE_OK;
}

int FaultVfs::remove(const std::string& path, bool synced) {
  std::size_t none = 0;
  if (const int code = pass_point(false, 0, none); code != SQLITE_OK) return code;
  const auto it = files_.find(path);
  if (it == files_.end()) return SQLITE_IOERR_DELETE_NOENT;
  if (!synced) removed_[path] = it->second;
  files_.erase(it);
  return SQLITE_OK;
}

FaultVfs::FilePtr FaultVfs::open_file(const std::string& path, bool create) {
  const auto it = files_.find(path);
  if (it != files_.end()) return it->second;
  return create ? files_[path] = std::make_shared<File>() : nullptr;
}

FaultVfs::SharedPtr FaultVfs::shared(const std::string& path) {
  auto& kept = shared_[path];
  if (!kept) kept = std::make_shared<Shared>();
  return kept;
}

std::string& FaultVfs::bytes(const std::string& path) {
  return open_file(path, true)->bytes;
}

void FaultVfs::redo(File& file, const Change& change) {
  if (change.truncates) {
    file.bytes.resize(change.offset);
    return;
  }
  const std::size_t end = change.offset + change.after.size();
  if (file.bytes.size() < end) file.bytes.resize(end, '\0');
  std::copy(change.after.begin(), change.after.end(),
            file.bytes.begin() + static_cast<std::ptrdiff_t>(change.offset));
}

void FaultVfs::undo(File& file) {
  for (auto it = file.unsynced.rbegin(); it != file.unsynced.rend(); ++it) {
    file.bytes.resize(it->size_before);
    std::copy(it->before.begin(), it->before.end(),
              file.bytes.begin() + static_cast<std::ptrdiff_t>(it->offset));
  }
}

// Each unsynced change may have reached the disk or not, whatever came before or behind it; one
// crash in four loses all of them, another none.
void FaultVfs::crash_file(File& file) {
  undo(file);
  const auto all = random_.below(4);
  for (auto& change : file.unsynced) {
    const auto fate = all == 0 ? 0 : all == 1 ? 1 : random_.below(3);
    if (fate == 1 || (fate == 2 && change.truncates)) {
      redo(file, change);
    } else if (fate == 0) {
      ++faults_.lost_writes;
    } else {
      ++faults_.torn_writes;
      for (std::size_t at = 0; at < change.after.size(); at += kSector) {
        if (random_.chance(500)) continue;
        Change sector;
        sector.offset = change.offset + at;
        sector.after = change.after.substr(at, kSector);
        redo(file, sector);
      }
    }
  }
  file.unsynced.clear();
}

void FaultVfs::crash() {
  ++boot_;
  ++faults_.crashes;
  off_ = false;
  fault_at_.clear();
  for (auto& [path, file] : removed_) {
    if (!files_.contains(path) && random_.chance(500)) files_[path] = file;
  }
  removed_.clear();
  shared_.clear();
  for (auto it = files_.begin(); it != files_.end();) {
    // Connections of before keep their own.
    it->second = std::make_shared<File>(*it->second);
    crash_file(*it->second);
    const bool vanishes = !it->second->name_synced && random_.chance(500);
    it = vanishes ? files_.erase(it) : std::next(it);
  }
}

}  // namespace verbatim::store::testing
