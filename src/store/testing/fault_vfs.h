#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

namespace verbatim::store::testing {

// How often an operation fails, in thousandths.
struct VfsFaultOptions {
  unsigned fail_write = 0;  // half of them EIO, half no room; a random prefix is written
  unsigned fail_sync = 0;   // EIO; nothing more survives than before
};

// How often each fault fired.
struct VfsFaults {
  std::uint64_t write_eio = 0, write_full = 0, sync = 0, crashes = 0;
  std::uint64_t lost_writes = 0, torn_writes = 0;  // of those a crash found unsynced
};

// A file system in memory that SQLite knows by name() while this lives. What was not synced may
// survive a crash, whole, torn at 512 bytes, or not at all, each write for itself.
//
// Each write, truncation, removal and sync is a point; a fault can be put on any of them, so a test
// can stop the machine at every one. Single-threaded. Connections may outlive a crash: whatever
// they ask for then fails.
class FaultVfs {
 public:
  explicit FaultVfs(std::uint64_t seed, VfsFaultOptions options = {});
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;
  ~FaultVfs();

  [[nodiscard]] const std::string& name() const { return name_; }
  VfsFaultOptions& options() { return options_; }
  [[nodiscard]] const VfsFaults& faults() const { return faults_; }

  enum class At {
    kEio,
    kFull,
    kCrash,  // the power goes: this and all that follows fails, until crash()
  };
  // Puts a fault on the point number `point`, counted from 1 over the life of this.
  void set_fault(std::uint64_t point, At what);
  void clear_faults() { fault_at_.clear(); }
  [[nodiscard]] std::uint64_t points() const { return points_; }
  [[nodiscard]] bool off() const { return off_; }
  // Files may grow to so many bytes, all together; for what is more there is no room.
  void set_room(std::uint64_t bytes) { room_ = bytes; }
  // What it is called when there is no room: the disk is full, or a user's share of it.
  enum class NoRoom { kDisk, kQuota };
  void set_no_room(NoRoom what) { no_room_ = what; }
  [[nodiscard]] std::uint64_t used() const;
  // From here on all fails: the machine stands still.
  void power_off() { off_ = true; }
  // The machine has started again: files are what survived, connections of before are dead.
  void crash();
  // A deliberate bug: syncs are told to have worked and did nothing.
  void set_drops_syncs(bool drops) { drops_syncs_ = drops; }

  // For tests that damage files.
  [[nodiscard]] std::string& bytes(const std::string& path);
  [[nodiscard]] bool exists(const std::string& path) const { return files_.contains(path); }

  // For fault_vfs_io.cc: what SQLite's calls come to.
  struct Change {
    std::uint64_t offset = 0;
    std::string before, after;  // bytes at the offset; `before` may be shorter: the file grew
    std::uint64_t size_before = 0;
    bool truncates = false;  // to `offset`
  };
  struct File {
    std::string bytes;
    std::vector<Change> unsynced;  // oldest first
    bool name_synced = false;
  };
  using FilePtr = std::shared_ptr<File>;
  struct Shared {  // the memory that connections to one file share
    std::vector<std::unique_ptr<char[]>> regions;
    unsigned readers[8] = {};
    bool writer[8] = {};
    std::map<const void*, int> levels;  // locks on the file itself, by handle
  };
  using SharedPtr = std::shared_ptr<Shared>;

  // SQLITE_OK, or the fault of this point; `prefix`: how much of a write is done first.
  int pass_point(bool sync, std::size_t size, std::size_t& prefix);
  // Of `size` bytes at `offset`, how many there is room for.
  // A call failed for want of room: what SQLite is told.
  [[nodiscard]] int no_room();
  // Of the last call that failed.
  [[nodiscard]] int last_error() const { return last_error_; }
  [[nodiscard]] std::size_t fitting(const File& file, std::uint64_t offset, std::size_t size) const;
  void write(File& file, std::uint64_t offset, std::string_view bytes);
  void truncate(File& file, std::uint64_t size);
  int sync(File& file);
  int remove(const std::string& path, bool synced);
  FilePtr open_file(const std::string& path, bool create);
  SharedPtr shared(const std::string& path);
  [[nodiscard]] std::uint64_t boot() const { return boot_; }
  base::Random& random() { return random_; }

 private:
  static void undo(File& file);
  void crash_file(File& file);
  void redo(File& file, const Change& change);

  base::SeededRandom random_;
  VfsFaultOptions options_;
  VfsFaults faults_;
  std::string name_;
  std::uint64_t points_ = 0;
  std::map<std::uint64_t, At> fault_at_;
  std::uint64_t room_ = UINT64_MAX;
  NoRoom no_room_ = NoRoom::kDisk;
  int last_error_ = 0;
  bool off_ = false;
  bool drops_syncs_ = false;
  std::uint64_t boot_ = 0;
  std::map<std::string, FilePtr> files_;
  std::map<std::string, FilePtr> removed_;  // names whose removal was not synced
  std::map<std::string, SharedPtr> shared_;
  struct Registration;
  std::unique_ptr<Registration> registration_;
};

}  // namespace verbatim::store::testing
