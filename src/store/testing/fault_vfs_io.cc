// SQLite's interface of a file system (sqlite.org/c3ref/vfs.html, io_methods.html) over FaultVfs.
#include <algorithm>
#include <cstring>
#include <optional>

#include <sqlite3.h>

#include "store/testing/fault_vfs.h"

namespace verbatim::store::testing {
namespace {

// What stands behind an open file of SQLite's; SQLite gives the memory, so it is made in place.
struct Handle {
  FaultVfs* vfs = nullptr;
  FaultVfs::FilePtr file;
  FaultVfs::SharedPtr shared;
  std::string path;
  std::uint64_t boot = 0;
  bool removed_at_close = false;
  unsigned shared_locks = 0;  // slots, as bits
  unsigned exclusive_locks = 0;
};
struct FaultFile {
  sqlite3_file base;
  Handle* handle;
};

Handle& of(sqlite3_file* file) {
  return *reinterpret_cast<FaultFile*>(file)->handle;
}
FaultVfs& of(sqlite3_vfs* vfs) {
  return *static_cast<FaultVfs*>(vfs->pAppData);
}
bool dead(const Handle& handle) {
  return handle.boot != handle.vfs->boot() || handle.vfs->off();
}

void unlock_slot(Handle& handle, int slot) {
  const unsigned bit = 1U << slot;
  if ((handle.shared_locks & bit) != 0) --handle.shared->readers[slot];
  if ((handle.exclusive_locks & bit) != 0) handle.shared->writer[slot] = false;
  handle.shared_locks &= ~bit;
  handle.exclusive_locks &= ~bit;
}

int close(sqlite3_file* file) {
  Handle& handle = of(file);
  handle.shared->levels.erase(&handle);
  for (int slot = 0; slot < SQLITE_SHM_NLOCK; ++slot) unlock_slot(handle, slot);
  if (handle.removed_at_close && !dead(handle)) (void)handle.vfs->remove(handle.path, false);
  delete &handle;
  return SQLITE_OK;
}

int read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  const Handle& handle = of(file);
  if (dead(handle)) return SQLITE_IOERR_READ;
  const auto& bytes = handle.file->bytes;
  const auto from = std::min(static_cast<std::size_t>(offset), bytes.size());
  const auto count = std::min(static_cast<std::size_t>(size), bytes.size() - from);
  std::memcpy(into, bytes.data() + from, count);
  if (count == static_cast<std::size_t>(size)) return SQLITE_OK;
  std::memset(static_cast<char*>(into) + count, 0, static_cast<std::size_t>(size) - count);
  return SQLITE_IOERR_SHORT_READ;
}

int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  const Handle& handle = of(file);
  if (dead(handle)) return SQLITE_IOERR_WRITE;
  std::size_t prefix = 0;
  int code = handle.vfs->pass_point(false, static_cast<std::size_t>(size), prefix);
  const auto fits = handle.vfs->fitting(*handle.file, static_cast<std::uint64_t>(offset), prefix);
  if (fits < prefix) {
    prefix = fits;
    code = handle.vfs->no_room();
  }
  handle.vfs->write(*handle.file, static_cast<std::uint64_t>(offset),
                    {static_cast<const char*>(from), prefix});
  return code;
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  const Handle& handle = of(file);
  if (dead(handle)) return SQLITE_IOERR_TRUNCATE;
  std::size_t none = 0;
  if (const int code = handle.vfs->pass_point(false, 0, none); code != SQLITE_OK) return code;
  handle.vfs->truncate(*handle.file, static_cast<std::uint64_t>(size));
  return SQLITE_OK;
}

int sync(sqlite3_file* file, int /*flags*/) {
  const Handle& handle = of(file);
  return dead(handle) ? SQLITE_IOERR_FSYNC : handle.vfs->sync(*handle.file);
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  const Handle& handle = of(file);
  if (dead(handle)) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>(handle.file->bytes.size());
  return SQLITE_OK;
}

int lock(sqlite3_file* file, int level) {
  Handle& handle = of(file);
  if (dead(handle)) return SQLITE_IOERR_LOCK;
  int& own = handle.shared->levels[&handle];
  if (own >= level) return SQLITE_OK;
  for (const auto& [other, held] : handle.shared->levels) {
    if (other == &handle) continue;
    const bool clash = level == SQLITE_LOCK_SHARED     ? held >= SQLITE_LOCK_PENDING
                       : level == SQLITE_LOCK_RESERVED ? held >= SQLITE_LOCK_RESERVED
                                                       : held >= SQLITE_LOCK_SHARED;
    if (clash) return SQLITE_BUSY;
  }
  own = level;
  return SQLITE_OK;
}

int unlock(sqlite3_file* file, int level) {
  Handle& handle = of(file);
  int& own = handle.shared->levels[&handle];
  own = std::min(own, level);
  return SQLITE_OK;
}

int check_reserved_lock(sqlite3_file* file, int* result) {
  const Handle& handle = of(file);
  if (dead(handle)) return SQLITE_IOERR_CHECKRESERVEDLOCK;
  const auto& levels = handle.shared->levels;
  *result = std::any_of(levels.begin(), levels.end(),
                        [](const auto& held) { return held.second >= SQLITE_LOCK_RESERVED; })
                ? 1
                : 0;
  return SQLITE_OK;
}

int file_control(sqlite3_file* file, int operation, void* argument) {
  if (operation != SQLITE_FCNTL_LAST_ERRNO) return SQLITE_NOTFOUND;
  *static_cast<int*>(argument) = of(file).vfs->last_error();
  return SQLITE_OK;
}

int sector_size(sqlite3_file* /*file*/) {
  return 4096;
}

// As SQLite takes for granted of Linux.
int characteristics(sqlite3_file* /*file*/) {
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** mapped) {
  Handle& handle = of(file);
  if (dead(handle)) return SQLITE_IOERR_SHMMAP;
  auto& regions = handle.shared->regions;
  *mapped = nullptr;
  while (static_cast<int>(regions.size()) <= region) {
    if (extend == 0) return SQLITE_OK;
    regions.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
  }
  *mapped = regions[static_cast<std::size_t>(region)].get();
  return SQLITE_OK;
}

int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  Handle& handle = of(file);
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    for (int slot = offset; slot < offset + count; ++slot) unlock_slot(handle, slot);
    return SQLITE_OK;
  }
  if (dead(handle)) return SQLITE_IOERR_SHMLOCK;
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  auto& shared = *handle.shared;
  for (int slot = offset; slot < offset + count; ++slot) {
    const bool reads = (handle.shared_locks & (1U << slot)) != 0;
    const bool writes = (handle.exclusive_locks & (1U << slot)) != 0;
    if (shared.writer[slot] && !writes) return SQLITE_BUSY;
    if (exclusive && shared.readers[slot] > (reads ? 1U : 0U)) return SQLITE_BUSY;
  }
  for (int slot = offset; slot < offset + count; ++slot) {
    unlock_slot(handle, slot);
    if (exclusive) {
      shared.writer[slot] = true;
      handle.exclusive_locks |= 1U << slot;
    } else {
      ++shared.readers[slot];
      handle.shared_locks |= 1U << slot;
    }
  }
  return SQLITE_OK;
}

void shm_barrier(sqlite3_file* /*file*/) {}

int shm_unmap(sqlite3_file* file, int remove) {
  Handle& handle = of(file);
  if (remove != 0 && !dead(handle)) handle.shared->regions.clear();
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kMethods = {2,
                                         close,
                                         read,
                                         write,
                                         truncate,
                                         sync,
                                         file_size,
                                         lock,
                                         unlock,
                                         check_reserved_lock,
                                         file_control,
                                         sector_size,
                                         characteristics,
                                         shm_map,
                                         shm_lock,
                                         shm_barrier,
                                         shm_unmap,
                                         nullptr,
                                         nullptr};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto& fault = of(vfs);
  auto* opened = reinterpret_cast<FaultFile*>(file);
  opened->base.pMethods = nullptr;
  if (fault.off()) return SQLITE_CANTOPEN;
  const std::string path =
      name != nullptr ? name : "temporary-" + std::to_string(fault.random().next());
  auto node = fault.open_file(path, (flags & SQLITE_OPEN_CREATE) != 0);
  if (!node) return SQLITE_CANTOPEN;
  auto handle = std::make_unique<Handle>();
  handle->vfs = &fault;
  handle->file = std::move(node);
  handle->shared = fault.shared(path);
  handle->path = path;
  handle->boot = fault.boot();
  handle->removed_at_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  opened->handle = handle.release();
  opened->base.pMethods = &kMethods;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs* vfs, const char* name, int synced) {
  return of(vfs).remove(name, synced != 0);
}

int access_file(sqlite3_vfs* vfs, const char* name, int /*flags*/, int* result) {
  if (of(vfs).off()) return SQLITE_IOERR_ACCESS;
  *result = of(vfs).exists(name) ? 1 : 0;
  return SQLITE_OK;
}

int full_path(sqlite3_vfs* /*vfs*/, const char* name, int size, char* into) {
  sqlite3_snprintf(size, into, "%s", name);
  return SQLITE_OK;
}

int randomness(sqlite3_vfs* vfs, int size, char* into) {
  for (int i = 0; i < size; ++i) into[i] = static_cast<char>(of(vfs).random().next());
  return size;
}

int sleep_us(sqlite3_vfs* /*vfs*/, int us) {
  return us;
}

int current_time_ms(sqlite3_vfs* /*vfs*/, sqlite3_int64* ms) {
  *ms = 212'000'000'000'000;
  return SQLITE_OK;
}

int current_time(sqlite3_vfs* /*vfs*/, double* days) {
  *days = 2'453'703.7;
  return SQLITE_OK;
}

int last_error(sqlite3_vfs* /*vfs*/, int /*size*/, char* /*into*/) {
  return 0;
}

}  // namespace

struct FaultVfs::Registration {
  sqlite3_vfs vfs{};
};

FaultVfs::FaultVfs(std::uint64_t seed, VfsFaultOptions options)
    : random_(seed), options_(options), registration_(std::make_unique<Registration>()) {
  name_ = "fault-" + std::to_string(reinterpret_cast<std::uintptr_t>(this));
  auto& vfs = registration_->vfs;
  vfs.iVersion = 2;
  vfs.szOsFile = sizeof(FaultFile);
  vfs.mxPathname = 512;
  vfs.zName = name_.c_str();
  vfs.pAppData = this;
  vfs.xOpen = testing::open_file;
  vfs.xDelete = remove_file;
  vfs.xAccess = access_file;
  vfs.xFullPathname = full_path;
  vfs.xRandomness = randomness;
  vfs.xSleep = sleep_us;
  vfs.xCurrentTime = current_time;
  vfs.xCurrentTimeInt64 = current_time_ms;
  vfs.xGetLastError = testing::last_error;
  sqlite3_vfs_register(&vfs, 0);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&registration_->vfs);
}

}  // namespace verbatim::store::testing
