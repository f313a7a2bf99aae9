#include "base/sim/sim_files.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace verbatim::base::sim {
namespace {

Error failed(const std::string& what, const std::string& path, const char* reason) {
  return error(ErrorKind::kUnavailable, what + " " + path + ": " + reason);
}
Error missing(const std::string& what, const std::string& path) {
  return error(ErrorKind::kNotFound, what + " " + path + ": No such file or directory");
}

class SimMappedFile final : public MappedFile {
 public:
  explicit SimMappedFile(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::span<const std::byte> bytes() const override {
    return std::as_bytes(std::span(bytes_));
  }

 private:
  std::string bytes_;
};

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

class SimAppendFile final : public AppendFile {
 public:
  SimAppendFile(SimFiles& files, SimFiles::NodeRef node, std::string path)
      : files_(files), node_(std::move(node)), path_(std::move(path)), boot_(files.boot_) {}

  Status append(std::string_view bytes) override {
    if (boot_ != files_.boot_) return failed("can't write", path_, "the machine was restarted");
    if (files_.random_.chance(files_.options_.fail_append)) {
      ++files_.faults_.append;
      node_->bytes += bytes.substr(0, files_.random_.below(bytes.size() + 1));
      return failed("can't write", path_, "No space left on device");
    }
    node_->bytes += bytes;
    size_ += bytes.size();
    return {};
  }

  Status sync() override {
    if (boot_ != files_.boot_) return failed("can't sync", path_, "the machine was restarted");
    ++files_.waits_;
    if (files_.random_.chance(files_.options_.fail_sync)) {
      ++files_.faults_.sync;
      return failed("can't sync", path_, "Input/output error");
    }
    node_->named = true;
    node_->synced = node_->bytes.size();
    node_->survivor.reset();
    return {};
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  Status truncate(std::uint64_t size) override {
    if (boot_ != files_.boot_) return failed("can't truncate", path_, "the machine was restarted");
    if (size < node_->synced && !node_->survivor)
      node_->survivor = node_->bytes.substr(0, node_->synced);
    node_->bytes.resize(static_cast<std::size_t>(size));
    size_ = size;
    return {};
  }

  void set_size(std::uint64_t size) { size_ = size; }

 private:
  SimFiles& files_;
  SimFiles::NodeRef node_;
  std::string path_;
  std::uint64_t boot_;
  std::uint64_t size_ = 0;
};

// Of a process that ended with the machine: its lock is gone, and another may have it since.
class SimFileLock final : public FileLock {
 public:
  SimFileLock(SimFiles& files, std::string path)
      : files_(files), path_(std::move(path)), boot_(files.boot_) {}
  ~SimFileLock() override {
    if (boot_ == files_.boot_) files_.locked_.erase(path_);
  }

 private:
  SimFiles& files_;
  std::string path_;
  std::uint64_t boot_;
};

std::string SimFiles::parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::string> SimFiles::read(const std::string& path, std::uint64_t max_size) {
  const auto found = files_.find(path);
  if (found == files_.end()) return missing("can't open", path);
  if (random_.chance(options_.fail_read)) {
    ++faults_.read;
    return failed("can't read", path, "Input/output error");
  }
  const std::string& bytes = found->second->bytes;
  if (bytes.size() > max_size) {
    return error(ErrorKind::kTooLarge,
                 path + " is larger than " + std::to_string(max_size) + " bytes");
  }
  return bytes;
}

Result<std::unique_ptr<MappedFile>> SimFiles::map(const std::string& path) {
  auto bytes = read(path, UINT64_MAX);
  if (!bytes.ok()) return std::move(bytes).error();
  return std::unique_ptr<MappedFile>(new SimMappedFile(std::move(*bytes)));
}

Result<std::unique_ptr<AppendFile>> SimFiles::open_append(const std::string& path) {
  if (!directories_.contains(parent_of(path))) return missing("can't open", path);
  if (random_.chance(options_.fail_open)) {
    ++faults_.open;
    return failed("can't open", path, "Too many open files");
  }
  NodeRef& node = files_[path];
  if (node == nullptr) node = std::make_shared<Node>();
  auto file = std::make_unique<SimAppendFile>(*this, node, path);
  file->set_size(node->bytes.size());
  return std::unique_ptr<AppendFile>(std::move(file));
}

class SimFilePlace final : public FilePlace {
 public:
  SimFilePlace(SimFiles& files, std::string path, SimFiles::NodeRef node)
      : files_(files), path_(std::move(path)), node_(std::move(node)) {}
  [[nodiscard]] bool kept() const override {
    const auto now = files_.files_.find(path_);
    return now != files_.files_.end() && now->second == node_;
  }

 private:
  SimFiles& files_;
  const std::string path_;
  const SimFiles::NodeRef node_;
};

Result<std::unique_ptr<FilePlace>> SimFiles::place(const std::string& path) {
  const auto file = files_.find(path);
  if (file == files_.end()) return missing("can't find", path);
  return std::unique_ptr<FilePlace>(new SimFilePlace(*this, path, file->second));
}

Result<std::unique_ptr<FileLock>> SimFiles::lock(const std::string& path) {
  if (!directories_.contains(parent_of(path))) return missing("can't open", path);
  if (!locked_.insert(path).second)
    return error(ErrorKind::kConflict, path + " is locked by another process");
  return std::unique_ptr<FileLock>(new SimFileLock(*this, path));
}

Status SimFiles::replace(const std::string& path, std::string_view bytes) {
  if (!directories_.contains(parent_of(path))) return missing("can't create", path);
  const bool fails = random_.chance(options_.fail_replace);
  if (fails) ++faults_.replace;
  if (fails && random_.chance(500)) return failed("can't sync", path, "Input/output error");
  // A new node: whoever has the old file open or mapped keeps it.
  auto node = std::make_shared<Node>();
  ++waits_;
  node->named = true;
  node->bytes = std::string(bytes);
  node->synced = bytes.size();
  const auto old = files_.find(path);
  if (fails && old != files_.end() && random_.chance(500)) {
    // The rename may not have reached the disk.
    node->survivor = old->second->survivor ? *old->second->survivor
                                           : old->second->bytes.substr(0, old->second->synced);
  }
  files_[path] = std::move(node);
  if (fails) return failed("can't sync directory of", path, "Input/output error");
  return {};
}

Status SimFiles::make_directories(const std::string& path) {
  for (std::string at = without_slash(path); !directories_.contains(at); at = parent_of(at))
    directories_.insert(at);
  return {};
}

bool SimFiles::exists(const std::string& path) {
  return files_.contains(path) || directories_.contains(without_slash(path));
}

Status SimFiles::remove(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) {
    const auto names = list(path);
    if (!names.ok()) return missing("can't remove", path);
    if (!names->empty())
      return error(ErrorKind::kUnavailable, "can't remove " + path + ": it is not empty");
    directories_.erase(without_slash(path));
    return {};
  }
  removed_[path] = found->second;
  files_.erase(found);
  return {};
}

Status SimFiles::sync_all(const std::string& path) {
  if (!directories_.contains(without_slash(path))) return missing("can't sync", path);
  ++waits_;
  if (random_.chance(options_.fail_sync)) {
    ++faults_.sync;
    return failed("can't sync the file system of", path, "Input/output error");
  }
  for (auto& [name, node] : files_) {
    node->named = true;
    node->synced = node->bytes.size();
    node->survivor.reset();
  }
  removed_.clear();
  return {};
}

Result<std::vector<std::string>> SimFiles::list(const std::string& path) {
  const std::string directory = without_slash(path);
  if (!directories_.contains(directory)) return missing("can't list", path);
  std::vector<std::string> names;
  const auto add = [&](const std::string& entry) {
    if (entry != directory && parent_of(entry) == directory)
      names.push_back(entry.substr(entry.rfind('/') + 1));
  };
  for (const auto& [name, node] : files_) add(name);
  for (const std::string& name : directories_) {
    if (name != "" && name != "." && name != "/") add(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void SimFiles::crash_node(Node& node) {
  if (node.survivor) {
    node.bytes = std::move(*node.survivor);
    node.survivor.reset();
  } else if (node.bytes.size() > node.synced) {
    const std::size_t unsynced = node.bytes.size() - node.synced;
    const auto kept = static_cast<std::size_t>(random_.below(unsynced + 1));
    faults_.lost_bytes += unsynced - kept;
    node.bytes.resize(node.synced + kept);
  }
  node.synced = node.bytes.size();
}

void SimFiles::crash() {
  ++boot_;
  locked_.clear();
  ++faults_.crashes;
  for (auto& [path, node] : removed_) {
    if (!files_.contains(path) && random_.chance(500)) files_[path] = node;
  }
  removed_.clear();
  std::erase_if(files_,
                [this](const auto& entry) { return !entry.second->named && random_.chance(500); });
  for (auto& [path, node] : files_) {
    // Files that are still open elsewhere keep their old node.
    node = std::make_shared<Node>(*node);
    crash_node(*node);
  }
}

}  // namespace verbatim::base::sim
