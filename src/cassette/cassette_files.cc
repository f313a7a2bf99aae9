#include "cassette/cassette_files.h"

#include <utility>

namespace verbatim::cassette {
namespace {

using base::Result;
using base::Status;

constexpr std::uint64_t kMaxFile = std::uint64_t{64} << 20;
constexpr unsigned kMaxLevels = 32;

bool is_yaml(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

Status collect(base::Files& files, const std::string& folder, unsigned level,
               std::vector<std::string>& out) {
  if (level > kMaxLevels)
    return base::error(base::ErrorKind::kTooLarge, folder + ": more than 32 levels of directories");
  const auto names = files.list(folder);
  if (!names) return names.error();
  for (const auto& name : *names) {
    std::string path = folder;
    path.append(folder.ends_with('/') ? "" : "/").append(name);
    if (!is_yaml(name)) {
      // A file has no entries, and is none of ours by its name.
      if (files.list(path).ok()) {
        if (auto status = collect(files, path, level + 1, out); !status.ok()) return status;
      }
      continue;
    }
    const auto text = files.read(path, kMaxFile);
    if (!text) return text.error();
    if (looks_like_cassette(*text)) out.push_back(path);
  }
  return {};
}

}  // namespace

std::string told(const std::string& path, const Problem& problem) {
  const std::string line = problem.line == 0 ? "" : std::to_string(problem.line) + ":";
  return path + ":" + line + " " + problem.message;
}

Result<std::vector<std::string>> find_cassettes(base::Files& files, const std::string& path) {
  std::vector<std::string> out;
  if (!files.list(path).ok()) {
    if (!files.exists(path))
      return base::error(base::ErrorKind::kNotFound, path + ": no such file or directory");
    out.push_back(path);
    return out;
  }
  if (auto status = collect(files, path, 0, out); !status.ok()) return std::move(status).error();
  if (out.empty()) {
    return base::error(base::ErrorKind::kNotFound,
                       path + ": no cassette below it; one ends in .yaml or .yml and has `turns`");
  }
  return out;
}

Result<Cassette> load_cassette(base::Files& files, const std::string& path) {
  const auto text = files.read(path, kMaxFile);
  if (!text) return text.error();
  auto reading = read_cassette(*text);
  if (reading.problems.empty()) return std::move(reading.cassette);
  std::string message = told(path, reading.problems.front());
  if (reading.problems.size() > 1)
    message += " (and " + std::to_string(reading.problems.size() - 1) + " more)";
  return base::error(base::ErrorKind::kInvalidRequest, std::move(message));
}

Result<Validation> validate(base::Files& files, const std::vector<std::string>& paths) {
  Validation out;
  for (const auto& path : paths) {
    const auto found = find_cassettes(files, path);
    if (!found) return found.error();
    for (const auto& each : *found) {
      const auto text = files.read(each, kMaxFile);
      if (!text) return text.error();
      const auto reading = read_cassette(*text);
      ++out.cassettes;
      out.turns += reading.cassette.turns.size();
      for (const auto& problem : reading.problems) out.problems.push_back(told(each, problem));
    }
  }
  return out;
}

}  // namespace verbatim::cassette
