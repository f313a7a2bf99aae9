#include "store/testing/store_model.h"

#include <algorithm>

#include "store/testing/full_turn.h"

namespace verbatim::store::testing {

StoreModel::Outcome StoreModel::create(const SessionSpec& spec) {
  for (const auto& [id, session] : sessions_) {
    const bool same_secret =
        !spec.secret_hash.empty() && session.spec.secret_hash == spec.secret_hash;
    if (id == spec.id || same_secret) return Outcome::kConflict;
  }
  sessions_[spec.id].spec = spec;
  return Outcome::kDone;
}

StoreModel::Outcome StoreModel::erase(const std::string& id) {
  return sessions_.erase(id) == 1 ? Outcome::kDone : Outcome::kNotFound;
}

const StoreModel::Kept* StoreModel::find(std::uint64_t id) const {
  for (const auto& [name, session] : sessions_) {
    for (const auto& kept : session.turns) {
      if (kept.turn->id == id) return &kept;
    }
  }
  return nullptr;
}

StoreModel::Outcome StoreModel::outcome(const std::string& session,
                                        const std::vector<std::uint64_t>& ids, std::uint64_t parent,
                                        SessionUse use) const {
  for (const auto id : ids) {
    if (find(id) != nullptr) return Outcome::kConflict;
  }
  if (parent != 0 && find(parent) == nullptr) return Outcome::kNotFound;
  if (!sessions_.contains(session) && (use == SessionUse::kExisting || parent != 0))
    return Outcome::kNotFound;
  return Outcome::kDone;
}

void StoreModel::commit(const std::string& session, const std::vector<TurnPtr>& turns,
                        const std::vector<Kept>& kept, bool implicit) {
  const bool makes = !sessions_.contains(session);
  Session& into = sessions_[session];
  if (makes) {
    into.spec.id = session;
    into.implicit = implicit;
    into.spec.created_ms = turns.front()->times.received_ms;
  }
  for (std::size_t i = 0; i < turns.size(); ++i) {
    into.turns.push_back(kept[i]);
    into.turns.back().turn = turns[i];
    ++into.version;
  }
}

std::string StoreModel::compare_branches(const Session& session) const {
  for (std::size_t i = 0; i < session.turns.size(); ++i) {
    const auto& kept = session.turns[i];
    const auto first = std::find_if(
        session.turns.begin(), session.turns.end(),
        [&](const auto& other) { return kept.parent != 0 && other.parent == kept.parent; });
    const bool goes_on = kept.parent != 0 && first->turn->id == kept.turn->id;
    const auto branch = goes_on ? find(kept.parent)->turn->branch : kept.turn->id;
    if (kept.turn->branch != branch) return "branch of turn " + std::to_string(i + 1);
    if (kept.turn->seq != i + 1) return "seq of turn " + std::to_string(i + 1);
  }
  return "";
}

std::string StoreModel::compare_session(StoreStage& stage, const Session& session) const {
  const auto& id = session.spec.id;
  const auto info = stage.run(stage.store().session(id)).value();
  if (!info) return "it is not there";
  std::uint64_t tokens = 0, bytes = 0;
  for (const auto& kept : session.turns) {
    tokens += trajectory::added_tokens(*kept.turn);
    bytes += footprint(*kept.turn);
  }
  const auto used = session.turns.empty() ? session.spec.created_ms
                                          : session.turns.back().turn->times.committed_ms;
  const SessionSpec& spec = *info->spec;
  if (spec.id != id || spec.owner != session.spec.owner || spec.options != session.spec.options ||
      spec.metadata != session.spec.metadata || spec.secret_hash != session.spec.secret_hash ||
      spec.created_ms != session.spec.created_ms)
    return "what it was made with";
  if (info->version != session.version) return "version";
  if (info->turns != session.turns.size()) return "number of turns";
  if (info->tokens != tokens || info->bytes != bytes) return "tokens, or bytes";
  if (info->implicit != session.implicit) return "implicit";
  if (info->last_used_ms != used) return "time of use";
  const auto turns = stage.run(stage.store().turns(id)).value();
  if (turns.size() != session.turns.size()) return "turns";
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto differs = difference(*turns[i], *session.turns[i].turn);
    if (!differs.empty()) return "turn " + std::to_string(i + 1) + ", " + differs;
  }
  const auto last = stage.run(stage.store().last_turn(id)).value();
  const auto last_id = last ? last->id : 0;
  if (last_id != (turns.empty() ? 0 : turns.back()->id)) return "the last turn";
  return compare_branches(session);
}

std::string StoreModel::compare_lists(StoreStage& stage) const {
  for (const bool implicit : {false, true}) {
    std::map<std::string, std::size_t> owners;
    for (const auto& [id, session] : sessions_)
      owners[session.spec.owner] += implicit || !session.implicit ? 1 : 0;
    for (const auto& [owner, count] : owners) {
      std::size_t seen = 0;
      std::uint64_t last = 0;
      for (;;) {
        SessionQuery query{owner, last, 3, implicit};
        const auto page = stage.run(stage.store().sessions(std::move(query))).value();
        for (const auto& info : page) {
          if (info.number <= last) return "order of a list";
          last = info.number;
          if (!sessions_.contains(info.spec->id)) return "a list has a session that is gone";
        }
        seen += page.size();
        if (page.size() < 3) break;
      }
      if (seen != count) return "length of a list";
    }
  }
  return "";
}

std::string StoreModel::compare_look_ups(StoreStage& stage, base::Random& random) const {
  std::vector<const Kept*> all;
  for (const auto& [id, session] : sessions_) {
    for (const auto& kept : session.turns) all.push_back(&kept);
  }
  for (auto left = std::min<std::size_t>(4, all.size()); left > 0; --left) {
    const auto& kept = *all[random.below(all.size())];
    std::vector<std::uint64_t> expected;
    for (const auto* other : all) {
      if (other->digest == kept.digest) expected.push_back(other->turn->id);
    }
    const std::vector<trajectory::Digest> digests{kept.digest};
    std::vector<std::uint64_t> found;
    const auto by_digest = stage.run(stage.store().find(digests)).value();
    for (const auto& turn : by_digest) {
      found.push_back(turn->id);
      const auto* known = find(turn->id);
      if (known == nullptr || !difference(*turn, *known->turn).empty())
        return "a turn by its digest";
    }
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    if (found != expected) return "turns by a digest";
    const std::vector<std::uint64_t> ids{random.next(), kept.turn->id};
    const auto by_id = stage.run(stage.store().by_ids(ids)).value();
    if (by_id.size() != 1 || !difference(*by_id[0], *kept.turn).empty()) return "a turn by its id";
    const auto newest = stage.run(stage.store().newest(kept.turn->root_digest)).value();
    for (const auto& turn : newest) {
      const auto* known = find(turn->id);
      if (known == nullptr || turn->digest != newest.front()->digest ||
          turn->root_digest != kept.turn->root_digest)
        return "the newest turn below a root";
    }
    const auto ties = std::count_if(all.begin(), all.end(), [&](const auto* other) {
      return !newest.empty() && other->digest == newest.front()->digest;
    });
    if (newest.size() != std::min<std::size_t>(static_cast<std::size_t>(ties), 2))
      return "ties of the newest turn";
  }
  return "";
}

std::string StoreModel::compare(StoreStage& stage, base::Random& random) const {
  for (const auto& [id, session] : sessions_) {
    if (const auto differs = compare_session(stage, session); !differs.empty())
      return "session " + id + ": " + std::string(differs);
    if (session.spec.secret_hash.empty()) continue;
    const auto found = stage.run(stage.store().session_of_secret(session.spec.secret_hash)).value();
    if (!found || found->spec->id != id) return "session " + id + ": by its secret";
  }
  if (auto differs = compare_lists(stage); !differs.empty()) return differs;
  return compare_look_ups(stage, random);
}

}  // namespace verbatim::store::testing
