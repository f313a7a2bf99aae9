#pragma once

#include <map>
#include <optional>
#include <string>

namespace verbatim::engine {

// What a server answered to GETs within one inspection, so that several steps of it that read the
// same page ask once. Each page is taken once: an engine that lives on asks anew. On one executor.
class KnownPages {
 public:
  // The text of the page, or nullopt: the server does not have it.
  using Page = std::optional<std::string>;

  void put(const std::string& path, Page page) { pages_.insert_or_assign(path, std::move(page)); }
  // nullopt: not known.
  std::optional<Page> take(const std::string& path) {
    auto known = pages_.extract(path);
    return known.empty() ? std::nullopt : std::optional<Page>(std::move(known.mapped()));
  }

 private:
  std::map<std::string, Page> pages_;
};

}  // namespace verbatim::engine
