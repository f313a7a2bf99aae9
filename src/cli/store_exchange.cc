#include "cli/store_exchange.h"

#include <cstdio>
#include <iostream>

#include "cli/store_options.h"
#include "store/sqlite/exchange.h"
#include "store/sqlite/exchange_lines.h"

namespace verbatim::cli {

using base::ErrorKind;
using base::Result;
using base::Status;
using store::sqlite::Exchanged;
using store::sqlite::LineSource;
using store::sqlite::ToolTarget;

namespace {

constexpr const char* kStandard = "-";
constexpr std::size_t kPiece = std::size_t{1} << 20;

void tell_progress(std::uint64_t sessions) {
  say(std::to_string(sessions) + " sessions");
}

std::string counts(const Exchanged& done) {
  return std::to_string(done.sessions) + " sessions, " + std::to_string(done.turns) + " turns";
}

// A file that is made, or standard output.
class Output {
 public:
  Status open(base::Files& files, const std::string& path) {
    if (path == kStandard) return {};
    if (files.exists(path))
      return base::error(ErrorKind::kConflict, path + " is there already; name another file");
    auto file = files.open_append(path);
    if (!file) return std::move(file).error();
    file_ = std::move(*file);
    return {};
  }
  Status write(std::string_view line) {
    piece_ += line;
    return piece_.size() < kPiece ? Status() : flush();
  }
  Status end() {
    if (auto status = flush(); !status.ok()) return status;
    return file_ ? file_->sync() : Status();
  }

 private:
  Status flush() {
    const std::string piece = std::exchange(piece_, {});
    if (file_) return file_->append(piece);
    if (print_data(piece)) return {};
    return base::error(ErrorKind::kUnavailable, "standard output takes no more");
  }

  std::unique_ptr<base::AppendFile> file_;
  std::string piece_;
};

// Lines of text that lies in memory.
LineSource lines_of(std::string_view text) {
  return [text, at = std::size_t{0}]() mutable -> Result<std::optional<std::string_view>> {
    if (at >= text.size()) return std::optional<std::string_view>();
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    at = end + 1;
    return std::optional(line);
  };
}

// Lines of standard input, one in memory at a time.
class Input {
 public:
  Result<std::optional<std::string_view>> next() {
    line_.clear();
    for (;;) {
      const auto end = piece_.find('\n', at_);
      line_.append(piece_, at_, end == std::string::npos ? end : end - at_);
      if (line_.size() > store::sqlite::kMaxExchangeLine)
        return base::error(ErrorKind::kTooLarge,
                           "a line of standard input is longer than " +
                               std::to_string(store::sqlite::kMaxExchangeLine) + " bytes");
      if (end != std::string::npos) {
        at_ = end + 1;
        return std::optional<std::string_view>(line_);
      }
      if (!read()) break;
    }
    if (line_.empty()) return std::optional<std::string_view>();
    return std::optional<std::string_view>(line_);
  }

 private:
  bool read() {
    piece_.resize(kPiece);
    std::cin.read(piece_.data(), static_cast<std::streamsize>(piece_.size()));
    piece_.resize(static_cast<std::size_t>(std::cin.gcount()));
    at_ = 0;
    return !piece_.empty();
  }

  std::string line_, piece_;
  std::size_t at_ = 0;
};

Result<Exchanged> import_from(const ToolTarget& target, const std::string& file) {
  const auto random = base::system_random();
  if (file == kStandard) {
    Input input;
    return import_file(target, *random, [&input] { return input.next(); }, tell_progress);
  }
  const auto mapped = target.files.map(file);
  if (!mapped) return mapped.error();
  const auto bytes = (*mapped)->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return import_file(target, *random, lines_of(text), tell_progress);
}

}  // namespace

Exit export_store(const ToolTarget& target, const std::string& file) {
  Output output;
  if (auto status = output.open(target.files, file); !status.ok()) return fail(status.error());
  auto done = store::sqlite::export_file(
      target, [&output](std::string_view line) { return output.write(line); }, tell_progress);
  if (done) {
    if (auto status = output.end(); !status.ok()) done = status.error();
  }
  if (!done) {
    // Half an export is none.
    if (file != kStandard) (void)target.files.remove(file);
    return fail(done.error());
  }
  say(target.path + ": " + counts(*done) + " exported to " +
      (file == kStandard ? "standard output" : file) +
      "; the store's key is among them, so keep it as you keep the store");
  return Exit::kOk;
}

Exit import_store(const ToolTarget& target, const std::string& file) {
  if (auto status = target.files.make_private_directories(directory_of(target.path)); !status.ok())
    return fail(status.error());
  const auto done = import_from(target, file);
  if (!done) {
    base::Error error = done.error();
    const std::string name = file == kStandard ? "standard input" : file;
    return fail(std::move(error).within(name + " was not imported, and the store is as it was"));
  }
  const std::string equal =
      done->equal == 0 ? "" : "; " + std::to_string(done->equal) + " were there already, the same";
  print_line(target.path + ": " + counts(*done) + " imported" + equal);
  return Exit::kOk;
}

}  // namespace verbatim::cli
