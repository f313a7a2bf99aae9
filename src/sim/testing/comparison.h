#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "sim/testing/captures.h"

namespace verbatim::sim::testing {

// Compares values, member by member. Refers to what it is made of.
class Comparison {
 public:
  explicit Comparison(const std::vector<Volatile>& volatiles) : volatiles_(volatiles) {}
  // The order of names aside; places that were needed are noted in `needed`.
  Comparison(const Tolerance& tolerance, Needed& needed)
      : volatiles_(tolerance.volatiles), tolerance_(&tolerance), needed_(&needed) {}

  // Where `found`, at `place`, is not what `expected` is; empty: nowhere.
  std::string compare(const json::Value& expected, const json::Value& found,
                      const std::string& place);

 private:
  std::string compare_values(const json::Value& expected, const json::Value& found,
                             const std::string& place);
  std::string compare_objects(const json::Value& expected, const json::Value& found,
                              const std::string& place, const Volatile* rule);
  std::string compare_by_name(const json::Value& expected, const json::Value& found,
                              const std::string& place);
  std::string compare_arrays(const json::Value& expected, const json::Value& found,
                             const std::string& place);
  [[nodiscard]] const Volatile* rule_for(const std::string& place) const;
  // A place that is listed was needed.
  bool listed(const std::vector<std::string>& places, const std::string& place);

  const std::vector<Volatile>& volatiles_;
  const Tolerance* tolerance_ = nullptr;
  Needed* needed_ = nullptr;
};

}  // namespace verbatim::sim::testing
