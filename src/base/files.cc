#include "base/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace verbatim::base {
namespace {

// Permissions, before the umask takes some away.
constexpr ::mode_t kOwnFile = 0600;
constexpr ::mode_t kOwnDirectory = 0700;
constexpr ::mode_t kDirectory = 0777;

Error system_error(const std::string& what, const std::string& path, int code) {
  const auto kind = code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kUnavailable;
  return error(kind, what + " " + path + ": " + std::strerror(code));
}

// Closes a descriptor on the way out.
struct Fd {
  int fd = -1;
  explicit Fd(int value) : fd(value) {}
  Fd(Fd&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Fd& operator=(Fd&&) = delete;
  ~Fd() {
    if (fd >= 0) ::close(fd);
  }
};

Error held_elsewhere(const std::string& path) {
  return error(ErrorKind::kConflict, path + " is locked by another process");
}

Status write_fully(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return system_error("can't write", path, errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status sync_directory_of(const std::string& path) {
  auto parent = std::filesystem::path(path).parent_path();
  if (parent.empty()) parent = ".";
  Fd dir(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (dir.fd < 0 || ::fsync(dir.fd) != 0)
    return system_error("can't sync directory", parent.string(), errno);
  return {};
}

Status make_directories_as(const std::string& path, ::mode_t mode) {
  std::error_code code;
  std::vector<std::filesystem::path> missing;
  for (auto at = std::filesystem::path(path); !at.empty() && !std::filesystem::exists(at, code);
       at = at.parent_path()) {
    missing.push_back(at);
  }
  std::reverse(missing.begin(), missing.end());
  for (const auto& each : missing) {
    // Another process may make the same ones.
    if (::mkdir(each.c_str(), mode) != 0 && errno != EEXIST)
      return error(ErrorKind::kUnavailable,
                   "can't create directory " + path + ": " + std::strerror(errno));
  }
  if (!std::filesystem::is_directory(path, code))
    return error(ErrorKind::kUnavailable,
                 "can't create directory " + path + ": " + std::strerror(ENOTDIR));
  for (const auto& each : missing) {
    if (auto status = sync_directory_of(each.string()); !status.ok()) return status;
  }
  return {};
}

class SystemAppendFile final : public AppendFile {
 public:
  SystemAppendFile(Fd fd, std::string path, std::uint64_t size)
      : fd_(std::move(fd)), path_(std::move(path)), size_(size) {}
  Status append(std::string_view bytes) override {
    auto status = write_fully(fd_.fd, bytes, path_);
    if (status.ok()) size_ += bytes.size();
    return status;
  }
  Status sync() override {
    if (::fdatasync(fd_.fd) != 0) return system_error("can't sync", path_, errno);
    if (named_) return {};
    // The bytes of a new file may be on disk while its name is not; who made it is not known here.
    auto status = sync_directory_of(path_);
    named_ = status.ok();
    return status;
  }
  std::uint64_t size() const override { return size_; }
  Status truncate(std::uint64_t size) override {
    if (::ftruncate(fd_.fd, static_cast<off_t>(size)) != 0)
      return system_error("can't truncate", path_, errno);
    size_ = size;
    return {};
  }

 private:
  Fd fd_;
  std::string path_;
  std::uint64_t size_;
  bool named_ = false;  // its name is on disk, too
};

class SystemFileLock final : public FileLock {
 public:
  explicit SystemFileLock(Fd fd) : fd_(std::move(fd)) {}

 private:
  Fd fd_;
};

class SystemFilePlace final : public FilePlace {
 public:
  SystemFilePlace(std::string path, const struct stat& file)
      : path_(std::move(path)), device_(file.st_dev), number_(file.st_ino) {}
  bool kept() const override {
    struct stat now{};
    return ::stat(path_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == number_;
  }

 private:
  const std::string path_;
  const dev_t device_;
  const ino_t number_;
};

class SystemMappedFile final : public MappedFile {
 public:
  SystemMappedFile(const void* data, std::size_t size) : data_(data), size_(size) {}
  ~SystemMappedFile() override {
    if (size_ != 0) ::munmap(const_cast<void*>(data_), size_);
  }
  std::span<const std::byte> bytes() const override {
    return {static_cast<const std::byte*>(data_), size_};
  }

 private:
  const void* data_;
  std::size_t size_;
};

class SystemFiles final : public Files {
 public:
  Result<std::string> read(const std::string& path, std::uint64_t max_size) override {
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.fd < 0) return system_error("can't open", path, errno);
    std::string bytes;
    char buffer[65536];
    for (;;) {
      const ssize_t n = ::read(file.fd, buffer, sizeof buffer);
      if (n < 0) {
        if (errno == EINTR) continue;
        return system_error("can't read", path, errno);
      }
      if (n == 0) return bytes;
      if (bytes.size() + static_cast<std::size_t>(n) > max_size) {
        return error(ErrorKind::kTooLarge,
                     path + " is larger than " + std::to_string(max_size) + " bytes");
      }
      bytes.append(buffer, static_cast<std::size_t>(n));
    }
  }

  Result<std::unique_ptr<MappedFile>> map(const std::string& path) override {
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info{};
    if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return system_error("can't open", path, errno);
    const auto size = static_cast<std::size_t>(info.st_size);
    void* data = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (data == MAP_FAILED) return system_error("can't map", path, errno);
    return std::unique_ptr<MappedFile>(new SystemMappedFile(data, size));
  }

  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override {
    Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOwnFile));
    struct stat info{};
    if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return system_error("can't open", path, errno);
    return std::unique_ptr<AppendFile>(
        new SystemAppendFile(std::move(file), path, static_cast<std::uint64_t>(info.st_size)));
  }

  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override {
    Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnFile));
    if (file.fd < 0) return system_error("can't open", path, errno);
    if (::flock(file.fd, LOCK_EX | LOCK_NB) == 0)
      return std::unique_ptr<FileLock>(new SystemFileLock(std::move(file)));
    if (errno != EWOULDBLOCK) return system_error("can't lock", path, errno);
    return held_elsewhere(path);
  }

  Status replace(const std::string& path, std::string_view bytes) override {
    // A name of our own per writer: two writers never share a half-written file.
    std::string temporary = path + ".new-XXXXXX";
    Fd file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (file.fd < 0) return system_error("can't create", temporary, errno);
    auto status = write_fully(file.fd, bytes, temporary);
    if (status.ok() && ::fchmod(file.fd, 0644) != 0)
      status = system_error("can't chmod", temporary, errno);
    if (status.ok() && ::fsync(file.fd) != 0) status = system_error("can't sync", temporary, errno);
    if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
      status = system_error("can't rename", path, errno);
    if (!status.ok()) {
      ::unlink(temporary.c_str());
      return status;
    }
    return sync_directory_of(path);
  }

  Status make_directories(const std::string& path) override {
    return make_directories_as(path, kDirectory);
  }
  Status make_private_directories(const std::string& path) override {
    return make_directories_as(path, kOwnDirectory);
  }

  bool exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  Result<std::unique_ptr<FilePlace>> place(const std::string& path) override {
    struct stat file{};
    if (::stat(path.c_str(), &file) != 0) return system_error("can't find", path, errno);
    return std::unique_ptr<FilePlace>(new SystemFilePlace(path, file));
  }

  Status remove(const std::string& path) override {
    if (::unlink(path.c_str()) == 0) return {};
    const bool directory = errno == EISDIR || errno == EPERM;
    if (directory && ::rmdir(path.c_str()) == 0) return {};
    return system_error("can't remove", path, errno);
  }

  Status sync_all(const std::string& path) override {
    Fd dir(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (dir.fd < 0 || ::syncfs(dir.fd) != 0)
      return system_error("can't sync the file system of", path, errno);
    return {};
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    std::error_code code;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator it(path, code), end; !code && it != end;
         it.increment(code)) {
      names.push_back(it->path().filename().string());
    }
    if (code) {
      const auto kind = code == std::errc::no_such_file_or_directory ? ErrorKind::kNotFound
                                                                     : ErrorKind::kUnavailable;
      return error(kind, "can't list " + path + ": " + code.message());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

}  // namespace

std::unique_ptr<Files> system_files() {
  return std::make_unique<SystemFiles>();
}

}  // namespace verbatim::base
