#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/files.h"
#include "base/random.h"

namespace verbatim::base::sim {

// How often an operation fails, in thousandths.
struct SimFilesOptions {
  unsigned fail_open = 0;
  unsigned fail_append = 0;   // after a random prefix was appended
  unsigned fail_sync = 0;     // nothing more survives than before
  unsigned fail_replace = 0;  // half of them before the rename, half behind it (readers see the new
                              // file, a crash may lose it)
  unsigned fail_read = 0;
};

// How often each failure fired.
struct SimFilesFaults {
  std::uint64_t open = 0, append = 0, sync = 0, replace = 0, read = 0, crashes = 0, lost_bytes = 0;
};

// A file system in memory. Bytes survive crash() when they were synced; of what was appended since,
// a random prefix survives. A removal may be undone by a crash, as no directory is synced for it,
// and a file that was made since may be gone. Single-threaded.
class SimFiles final : public Files {
 public:
  explicit SimFiles(std::uint64_t seed, SimFilesOptions options = {})
      : random_(seed), options_(options) {}

  Result<std::string> read(const std::string& path, std::uint64_t max_size) override;
  Result<std::unique_ptr<MappedFile>> map(const std::string& path) override;
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;
  Status replace(const std::string& path, std::string_view bytes) override;
  Status make_directories(const std::string& path) override;
  Status make_private_directories(const std::string& path) override {
    return make_directories(path);
  }
  [[nodiscard]] bool exists(const std::string& path) override;
  Result<std::unique_ptr<FilePlace>> place(const std::string& path) override;
  Status remove(const std::string& path) override;
  Status sync_all(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;

  // The machine stops and starts again: files opened before fail from here on.
  void crash();
  SimFilesOptions& options() { return options_; }
  [[nodiscard]] const SimFilesFaults& faults() const { return faults_; }
  // How often somebody waited for the disk.
  [[nodiscard]] std::uint64_t waits() const { return waits_; }

 private:
  friend class SimAppendFile;
  friend class SimFileLock;
  friend class SimFilePlace;
  struct Node {
    std::string bytes;
    bool named = false;      // a crash leaves it there
    std::size_t synced = 0;  // this many of `bytes` survive a crash...
    std::optional<std::string>
        survivor;  // ...or this, when synced bytes were cut off or replaced since
  };
  using NodeRef = std::shared_ptr<Node>;

  void crash_node(Node& node);
  static std::string parent_of(const std::string& path);

  SeededRandom random_;
  SimFilesOptions options_;
  SimFilesFaults faults_;
  std::uint64_t waits_ = 0;
  std::map<std::string, NodeRef> files_;
  std::map<std::string, NodeRef> removed_;  // since the last crash
  std::set<std::string> locked_;
  std::set<std::string> directories_{"", ".", "/"};
  std::uint64_t boot_ = 0;
};

}  // namespace verbatim::base::sim
