#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace verbatim::store::sqlite {

// Does a file of so many bytes fit beside the store? It is made, and removed again.
[[nodiscard]] bool has_room(const std::string& path, const std::string& vfs, std::uint64_t bytes);

// Room on the disk that is kept for deletions. What frees room needs some first: a deletion goes to
// the log before the pages it frees can be used. It is a file beside the store, which is removed
// when a deletion finds the disk full, and made again in the next life of the store: to fill it
// while the disk is nearly full would take the room that turns are about to need.
//
// Thread-safe. Life: that of its Database.
class Reserve {
 public:
  // `vfs`: SQLite's name of a file system; empty: the system's. No bytes: there is none.
  Reserve(std::string path, std::string vfs, std::uint64_t bytes);

  // Fills the file, the first time it is asked to; where the disk has not so much, it is removed
  // again.
  void take();
  // False: there was none to give.
  [[nodiscard]] bool give();

 private:
  [[nodiscard]] bool fill() const;
  [[nodiscard]] bool remove() const;

  const std::string path_;
  const std::string vfs_;
  const std::uint64_t bytes_;
  std::mutex mutex_;
  bool tried_ = false;
  bool held_ = false;
};

}  // namespace verbatim::store::sqlite
