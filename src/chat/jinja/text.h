#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim::chat::jinja {

// Where a byte of a rendered prompt came from: the template, or one of the inputs the host numbered
// when it built the context (a message's content, a tool, ...). The engine gives numbers no
// meaning; it only carries them along.
using SourceId = std::uint32_t;
inline constexpr SourceId kTemplate = 0;

// `size` bytes in a row from the same source.
struct Run {
  std::uint32_t size = 0;
  SourceId source = kTemplate;
  bool operator==(const Run&) const = default;
};

// A text and where each of its bytes came from. Invariant: the sizes of the runs add up to the size
// of the bytes, no run is empty, neighbours have different sources.
struct Text {
  std::string bytes;
  std::vector<Run> runs;
  bool operator==(const Text&) const = default;
};

// Builds a Text piece by piece and keeps its invariant.
class TextBuilder {
 public:
  void append(std::string_view bytes, SourceId source) {
    if (bytes.empty()) return;
    bytes_.append(bytes);
    extend(bytes.size(), source);
  }
  void append(std::string_view bytes, const Run* runs, std::size_t count);
  void append(std::size_t count, char c, SourceId source) {
    if (count == 0) return;
    bytes_.append(count, c);
    extend(count, source);
  }
  // For writers that append to the bytes themselves: what was added since then belongs to `source`.
  std::string& raw() { return bytes_; }
  void claim(SourceId source) {
    if (bytes_.size() > covered_) extend(bytes_.size() - covered_, source);
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  // Takes everything behind `size` off and returns it.
  Text cut(std::size_t size);
  Text take();

 private:
  void extend(std::size_t size, SourceId source) {
    covered_ += size;
    if (!runs_.empty() && runs_.back().source == source) {
      runs_.back().size += static_cast<std::uint32_t>(size);
    } else {
      runs_.push_back({static_cast<std::uint32_t>(size), source});
    }
  }

  std::string bytes_;
  std::vector<Run> runs_;
  std::size_t covered_ = 0;  // bytes the runs account for
};

}  // namespace verbatim::chat::jinja
