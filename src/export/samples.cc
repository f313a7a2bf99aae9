#include "export/samples.h"

#include <algorithm>
#include <map>
#include <set>

#include "json/writer.h"

namespace verbatim::exporting {

using base::invalid;
using base::Result;
using base::Status;

namespace {

// Adds a turn to a sample that ends with its parent.
Status append(Sample& sample, const RecordedTurn& turn, const std::string& parent) {
  std::size_t shared = sample.ids.size();
  const auto begins_with = [&](std::size_t n) {
    return turn.prompt.size() >= n &&
           std::equal(sample.ids.begin(), sample.ids.begin() + static_cast<std::ptrdiff_t>(n),
                      turn.prompt.begin());
  };
  // A family may trim the last id of a turn where the next prompt begins (docs/design.md 1): one,
  // no more.
  if (!begins_with(shared)) {
    if (shared == 0 || !begins_with(shared - 1))
      return invalid("prompt_token_ids", "the prompt of turn " + turn.turn +
                                             " does not extend the row of its parent " + parent);
    --shared;
    sample.trimmed.push_back(parent);
    for (auto* column : {&sample.mask, &sample.loss_mask}) column->pop_back();
    sample.logprobs.pop_back();
  }
  sample.ids = turn.prompt;
  sample.mask.resize(turn.prompt.size(), 0);
  sample.loss_mask.resize(turn.prompt.size(), 0);
  sample.logprobs.resize(turn.prompt.size(), 0);
  sample.ids.insert(sample.ids.end(), turn.completion.begin(), turn.completion.end());
  sample.mask.resize(sample.ids.size(), 1);
  sample.logprobs.insert(sample.logprobs.end(), turn.logprobs.begin(), turn.logprobs.end());
  sample.turns.push_back(turn.turn);
  return {};
}

}  // namespace

Result<std::vector<Sample>> leaf_samples(std::span<const RecordedTurn> turns) {
  std::map<std::string, const RecordedTurn*> by_id;
  std::set<std::string> parents;
  for (const auto& turn : turns) {
    by_id.emplace(turn.turn, &turn);
    if (!turn.parent.empty()) parents.insert(turn.parent);
  }
  std::vector<Sample> samples;
  std::set<std::string> trained;  // turns in the loss mask of an earlier sample
  for (const auto& leaf : turns) {
    if (parents.contains(leaf.turn)) continue;
    std::vector<const RecordedTurn*> path;
    for (const RecordedTurn* turn = &leaf; turn != nullptr;) {
      path.push_back(turn);
      const auto above = by_id.find(turn->parent);
      if (!turn->parent.empty() && above == by_id.end())
        return invalid("parent_turn", "turn " + turn->turn + " names parent " + turn->parent +
                                          ", which is not recorded");
      // Record files may have been put together by hand.
      if (path.size() > turns.size())
        return invalid("parent_turn", "the turns above " + leaf.turn + " form a circle");
      turn = turn->parent.empty() ? nullptr : above->second;
    }
    Sample sample;
    sample.session_id = leaf.session_id;
    sample.finish_reason = leaf.finish_reason;
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      const std::string parent = sample.turns.empty() ? "" : sample.turns.back();
      if (auto status = append(sample, **it, parent); !status.ok())
        return std::move(status).error();
      sample.loss_mask.resize(sample.ids.size(), trained.insert((*it)->turn).second ? 1 : 0);
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::string sample_line(const Sample& sample) {
  json::Writer w;
  w.begin_object().field("session_id", sample.session_id).key("turns").begin_array();
  for (const auto& turn : sample.turns) w.string(turn);
  w.end_array().key("ids").begin_array();
  for (const auto id : sample.ids) w.unsigned_integer(id);
  w.end_array();
  for (const auto& [name, column] :
       {std::pair{"mask", &sample.mask}, {"loss_mask", &sample.loss_mask}}) {
    w.key(name).begin_array();
    for (const auto bit : *column) w.unsigned_integer(bit);
    w.end_array();
  }
  w.key("logprobs").begin_array();
  for (const double value : sample.logprobs) w.number(value);
  w.end_array().key("trimmed").begin_array();
  for (const auto& turn : sample.trimmed) w.string(turn);
  w.end_array().field("finish_reason", sample.finish_reason).end_object();
  return w.take();
}

}  // namespace verbatim::exporting
