#include "simulate/checks.h"

namespace verbatim::simulate {

using json::Value;
using trajectory::TokenIds;

namespace {

Value member(const Value& object, std::string_view name, Findings& findings) {
  const auto found = object.is_object() ? object.get(name) : std::nullopt;
  findings.check(found.has_value(), "session view", "member " + std::string(name), "none");
  return *found;
}

TokenIds ids_of(const Value& list) {
  TokenIds ids;
  for (const auto& item : list) ids.push_back(static_cast<base::TokenId>(*item.value.integer()));
  return ids;
}

}  // namespace

// The body of GET /sessions/{id} tells what is recorded, where nothing changed meanwhile.
void Checks::seen_session(const std::string& session, const Reply& reply, const Look& before) {
  if (reply.status != 200 || !still(before)) return;
  auto& findings = setup_.findings;
  ++setup_.ledger.counts["check: session views"];
  const auto& turns = setup_.ledger.sessions[session].turns;
  const auto doc = json::Document::parse(reply.body);
  check(doc.ok(), "session view", "JSON", reply.body);
  const Value metadata = member(doc->root(), "metadata", findings);
  const Value nodes = member(member(metadata, "tree", findings), "nodes", findings);
  check(nodes.size() == turns.size(), "session view", std::to_string(turns.size()) + " nodes",
        std::to_string(nodes.size()));
  TokenIds row;
  std::vector<const store::Turn*> path;
  if (!turns.empty()) {
    row = prompt_ids(*turns.back());
    row.insert(row.end(), turns.back()->completion.begin(), turns.back()->completion.end());
    for (const store::Turn* turn = turns.back().get(); turn != nullptr; turn = turn->parent.get())
      path.insert(path.begin(), turn);
  }
  check(ids_of(member(metadata, "accumulated_token_ids", findings)) == row, "session view",
        "accumulated_token_ids as the last row", "others");
  const Value records = member(doc->root(), "records", findings);
  check(records.size() == path.size(), "session view", std::to_string(path.size()) + " records",
        std::to_string(records.size()));
  std::size_t at = 0;
  for (const auto& record : records) {
    const Value request = member(record.value, "request", findings);
    check(ids_of(member(request, "input_ids", findings)) == prompt_ids(*path[at]), "session view",
          "input_ids of record " + std::to_string(at) + " as recorded", "others");
    ++at;
  }
}

}  // namespace verbatim::simulate
