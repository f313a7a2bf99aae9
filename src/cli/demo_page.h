#pragma once

#include <string>
#include <string_view>

namespace verbatim::cli {

// Who wrote a piece of text, or how loud it is; decides its colour.
enum class Ink {
  kPlain,
  kBold,
  kFaint,
  kTemplate,  // of the chat template
  kTools,     // tool declarations
  kSystem,
  kUser,
  kTool,     // tool results
  kSampled,  // sampled by the model
  kGood,
  kBad,
};

enum class Colour { kOff, kOn };

// Prints text of many colours on standard output, wrapped at kWidth columns. Without colours, the
// colours of a trajectory become marks such as [sampled]. Columns are counted in characters.
class Page {
 public:
  static constexpr std::size_t kWidth = 92;

  explicit Page(Colour colour) : colour_(colour) {}

  // "── 1  Title ─────"
  void heading(std::string_view number, std::string_view title);
  // Lines that follow begin in this column.
  void indent(std::size_t columns) { indent_ = columns; }
  // Text that is broken between words. A line end in it ends the line.
  void words(Ink ink, std::string_view text);
  // Text in which every byte counts: broken anywhere, line ends shown.
  void exact(Ink ink, std::string_view text);
  // A mark for a colour, where there are none.
  void mark(Ink ink);
  void end_line();
  [[nodiscard]] bool coloured() const { return colour_ == Colour::kOn; }

  // "\"a\\n\"": one token's text, safe to print on a line.
  static std::string quoted(std::string_view text);

 private:
  void begin_line();
  void put(Ink ink, std::string_view text);
  [[nodiscard]] std::size_t room() const { return kWidth - column_; }

  Colour colour_;
  std::size_t indent_ = 0;
  std::size_t column_ = 0;
};

// Characters of UTF-8 text.
std::size_t columns_of(std::string_view text);

}  // namespace verbatim::cli
